//! The server's side of a connection. A broken request head never reaches the server.
//!
//! The HTTP server has three weaknesses. It answers a head that it cannot parse with a bare status line, before any of
//! our code runs. It accepts a line feed alone as the end of a line, which allows request smuggling past proxies. It
//! limits the time of the first head of a connection only.
//!
//! So [`CheckedStream`] sits between the server and the socket. It runs the server's own decoder over the bytes as they
//! are read. It passes on only what the decoder accepts and what is strict enough. In place of a broken head it passes
//! on a *stand-in*: a well-formed request that says what was wrong. The stand-in is answered like any other request: in
//! its turn, with an envelope and a request id, counted and logged. Then the connection ends.

mod answers;
mod broken_head;
mod caller_socket;
mod checked_stream;
mod inspector;

pub(crate) use answers::Answered;
pub use answers::AnsweredRequests;
pub(crate) use broken_head::BrokenHead;
pub use caller_socket::{CallerSocket, CallerSockets};
pub use checked_stream::{CheckedStream, HeadChecks, HeadLimits};
