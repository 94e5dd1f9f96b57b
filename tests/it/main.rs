//! Behaviour, through the real binary.

#![expect(clippy::disallowed_methods, reason = "tests start processes and write files as the world does")]
#![expect(clippy::expect_used, reason = "a test that cannot go on fails with the reason")]
#![expect(unreachable_pub, reason = "a test program has no outside")]
#![expect(clippy::print_stderr, reason = "a skipped test says why")]

mod attack;
mod audit;
mod debian;
mod direct;
mod disk;
mod docs;
mod facts;
mod faults;
mod golden;
mod hostile;
mod house;
mod http;
mod index_server;
mod injected;
mod installers;
mod live;
mod live_python;
mod locking;
mod machine;
mod matrix;
mod network;
mod pip_index;
mod scenarios;
mod script;
mod signals;
mod stories;
mod test;
mod usage;
