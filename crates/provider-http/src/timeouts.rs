//! The timeouts of an adapter.

/// Whether each of these timeouts has a meaning: a connection is part of an exchange, and an enquiry is not waited for longer than an
/// order, that is 0 < connect <= enquiry <= vend.
pub const fn timeouts_are_in_order(connect_ms: u64, enquiry_ms: u64, vend_ms: u64) -> bool {
    0 < connect_ms && connect_ms <= enquiry_ms && enquiry_ms <= vend_ms
}
