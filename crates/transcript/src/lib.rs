//! A transcript of a protocol's run: with what it began, what it was told, and what it said to that.
//!
//! Whoever carries out a protocol drives it through [`Transcribed`], which is the protocol and nothing else unless
//! the feature `kept` is on. Only package `acceptance` switches it on, and even then nothing is kept until the
//! process was told to by `keep_in`, which only the binaries of `acceptance` call. What was kept can be read by
//! another process, which tells the shipped protocols the same again and compares what they say.
#![warn(missing_docs)]

#[cfg(feature = "kept")]
mod kept;
#[cfg(not(feature = "kept"))]
mod plain;

#[cfg(feature = "kept")]
pub use kept::{ReplayError, Replayed, Transcribed, keep_in, replay};
#[cfg(not(feature = "kept"))]
pub use plain::Transcribed;
