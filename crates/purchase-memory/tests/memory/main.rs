//! The store in memory meets its specification, the specification convicts flawed stores, and the reference driver brings
//! purchases to their end.
#![expect(clippy::unwrap_used, reason = "what a test prepares may fail loudly")]

mod bench;
mod driver;
mod flawed;
mod histories;
mod specification;
