//! Random numbers that are the same for the same seed.

/// A linear congruential generator (Knuth's constants).
pub struct Numbers(pub u64);

impl Numbers {
    /// A number below `limit`, which counts as one where it is zero.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % limit.max(1)
    }

    /// One of `all`.
    pub fn choose<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// The number in the environment variable `name`.
pub fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name)
        .map_or(otherwise, |value| value.parse().unwrap_or_else(|_| panic!("{name}={value} is no number")))
}
