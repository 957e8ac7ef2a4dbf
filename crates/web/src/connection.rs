//! A connection as the server reads it: no broken request head comes through.
//!
//! The HTTP server answers a head that it cannot parse itself, with a bare status line, before any code of ours runs; it
//! takes a line feed alone for the end of a line, which is how requests are smuggled past proxies; and it times the first
//! head of a connection only. So [`CheckedStream`] stands between the server and the socket. It runs the server's own
//! decoder over the bytes as they are read, and passes on what that accepts and what is strict enough. In place of a broken
//! head it passes on a *stand-in*: a well-formed request that says what was wrong. That one is answered like any other
//! request: in its turn, with an envelope and a request id, counted and logged; then the connection ends.

mod answers;
mod broken_head;
mod caller_socket;
mod checked_stream;
mod inspector;

pub(crate) use answers::Answered;
pub use answers::Answers;
pub(crate) use broken_head::BrokenHead;
pub use caller_socket::{CallerSocket, CallerSockets};
pub use checked_stream::{CheckedStream, HeadChecks, HeadLimits};
