//! What may be asked of the network, and what was.

use std::time::Duration;

/// What a client may ask of the network.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Requests under way at once.
    pub connections: u16,
    /// Nothing is asked after so long. A server that sends little, but never nothing, would hold us for ever.
    pub time: Duration,
}

impl Limits {
    /// Half a day is as long as a Colab machine lives.
    pub const DEFAULT: Self = Self { connections: 48, time: Duration::from_hours(12) };
}

/// What has gone over the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Traffic {
    pub requests: u64,
    /// Body bytes, after decompression.
    pub bytes: u64,
}

impl Traffic {
    /// This and `other`.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { requests: self.requests + other.requests, bytes: self.bytes + other.bytes }
    }

    /// What was added since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self { requests: self.requests - earlier.requests, bytes: self.bytes - earlier.bytes }
    }
}
