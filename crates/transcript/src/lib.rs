//! A transcript of a protocol's run: the inputs with which it began, its events and its commands.
//!
//! Code that runs a protocol drives it through [`Transcribed`]. This adds nothing to the protocol unless the
//! feature `kept` is on. Only package `acceptance` switches it on. Even then nothing is recorded until
//! `keep_in` is called, and only the binaries of `acceptance` call it. Another process can read a transcript,
//! give the same events to the shipped protocols and compare the commands.
#![warn(missing_docs)]

#[cfg(feature = "kept")]
mod kept;
#[cfg(not(feature = "kept"))]
mod plain;

#[cfg(feature = "kept")]
pub use kept::{ReplayError, Replayed, Transcribed, keep_in, replay};
#[cfg(not(feature = "kept"))]
pub use plain::Transcribed;
