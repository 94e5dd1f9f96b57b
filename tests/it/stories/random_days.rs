//! Random days: a user with six small packages and a kernel does anything, in any order, and no verdict says more than
//! is true. A model keeps the books, reads every file itself, asks a fresh Python and looks into the kernel's memory.
//!
//! The properties: what says `ready`, `applied`, `verified` or `restored` is; a kernel restarts only where it holds
//! something old, wherever that can be known; and no day is a dead end, for in the evening the cell leads to `ready`
//! with one restart at most, and then to `verified`.
//!
//! `DAYS=2000 cargo test --release --test it -- random_days --nocapture` plays so many; `SEED=17 DAYS=1` plays one
//! again. A day that fails is played with fewer and fewer steps, and what is left is printed.

mod acts;
mod packages;
mod player;
mod step;
mod truth;
mod world;

use crate::stories::notebook::Stack;
use crate::support::numbers::{Numbers, number};
use player::{Count, Player, Wrong};
use step::{Morning, Step};
use world::World;

/// As many as `cargo test` takes.
const DAYS: u64 = 10;

/// After so many days that went wrong, the rest is left.
const MOST: usize = 5;

fn play(world: &mut World, morning: &Morning, steps: &[Step]) -> Result<Count, Wrong> {
    Player::new(world, morning).play(steps)
}

/// The fewest of `steps` that still go wrong, by leaving out ever smaller runs of them.
fn shortest(world: &mut World, morning: &Morning, steps: Vec<Step>, wrong: Wrong) -> (Vec<Step>, Wrong) {
    let (mut steps, mut wrong) = (steps, wrong);
    let mut length = steps.len().div_ceil(2);
    while length > 0 {
        let mut at = 0;
        while at < steps.len() {
            let rest = [&steps[..at], &steps[(at + length).min(steps.len())..]].concat();
            match play(world, morning, &rest) {
                Err(now) => (steps, wrong) = (rest, now),
                Ok(_) => at += length,
            }
        }
        length = if length == 1 { 0 } else { length.div_ceil(2) };
    }
    (steps, wrong)
}

/// Those of the days that `stack` has: odd and even ones.
fn days(stack: Stack) {
    let (first, count) = (number("SEED", 1), number("DAYS", DAYS));
    let seeds: Vec<u64> = (first..first + count).filter(|seed| seed % 2 == stack as u64).collect();
    let mut world = None;
    let (mut all, mut failed) = (Count::default(), Vec::new());
    for seed in seeds {
        if failed.len() == MOST {
            break;
        }
        world = world.or_else(|| World::new(stack));
        let Some(world) = &mut world else { return };
        let mut numbers = Numbers(seed);
        // Neighbouring seeds begin alike.
        numbers.below(1);
        let (morning, steps) = (step::morning(&mut numbers), step::steps(&mut numbers));
        match play(world, &morning, &steps) {
            Ok(one) => all = all.with(one),
            Err(wrong) => {
                let (steps, wrong) = shortest(world, &morning, steps, wrong);
                let text = format!("SEED={seed}: {morning:?}\n{steps:?}\n{wrong}");
                eprintln!("{text}");
                failed.push(text);
            }
        }
    }
    eprintln!("{stack:?}: {all:?}");
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
fn no_verdict_says_more_than_is_true_in_a_kernel_of_colab() {
    days(Stack::Colab);
}

#[test]
fn no_verdict_says_more_than_is_true_in_a_current_kernel() {
    days(Stack::Current);
}
