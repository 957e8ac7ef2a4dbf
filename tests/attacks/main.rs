//! Real servers under attack, each attack in an environment of its own. They are one program, so that one attack runs while
//! another waits for leases. They begin in the order of their names, and the longest ones, the crashes, come first.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]
#![expect(clippy::print_stdout, reason = "the output of a sweep is for its reader")]

mod crashes;
mod env;
mod races;
mod replay;
