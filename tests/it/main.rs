//! Behaviour, through the real binary.

#![expect(clippy::disallowed_methods, reason = "tests start processes and write files as the world does")]
#![expect(clippy::expect_used, reason = "a test that cannot go on fails with the reason")]
#![expect(unreachable_pub, reason = "a test program has no outside")]
#![expect(clippy::print_stderr, reason = "a skipped test says why")]

mod adversity;
mod docs;
mod facts;
mod house;
mod live;
mod scenarios;
mod stories;
mod support;
mod verbs;
