//! The ids of traces and spans.

use sha2::{Digest, Sha256};

/// The id of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TraceId([u8; 16]);

/// The id of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpanId([u8; 8]);

/// The id of a purchase's trace, and that of its root span: the first 16 bytes of the SHA-256 of its public reference, and the next 8.
/// Every process computes the same, and so can a person with `sha256sum`.
pub(crate) fn of_purchase(reference: &str) -> (TraceId, SpanId) {
    let digest = Sha256::digest(reference.as_bytes());
    let (trace, rest) = digest.split_first_chunk::<16>().expect("a digest has 32 bytes");
    let (root, _rest) = rest.split_first_chunk::<8>().expect("16 of its bytes are left");
    (TraceId(*trace), SpanId(*root))
}

impl TraceId {
    pub(crate) fn in_hex(self) -> String {
        hex::encode(self.0)
    }

    /// Whether this trace is the one of so many that is kept. It follows from the id, so all processes keep the same traces.
    pub(crate) fn is_one_in(self, one_in: u64) -> bool {
        let (_first, last) = self.0.split_last_chunk::<8>().expect("an id has 16 bytes");
        u64::from_be_bytes(*last).is_multiple_of(one_in.max(1))
    }
}

impl SpanId {
    /// An id must not be zero.
    pub(crate) fn from_number(number: u64) -> Self {
        Self(number.max(1).to_be_bytes())
    }

    pub(crate) fn in_hex(self) -> String {
        hex::encode(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_trace_is_what_sha256sum_prints_for_the_reference() {
        // printf %s TOP/2026/03/0000004217 | sha256sum
        let (trace, root) = of_purchase("TOP/2026/03/0000004217");
        let digest = hex::encode(Sha256::digest("TOP/2026/03/0000004217"));
        assert!(digest.starts_with(&format!("{}{}", trace.in_hex(), root.in_hex())), "{digest}");
    }

    #[test]
    fn one_trace_of_ten_is_kept_and_every_one_of_one() {
        let traces = (0..2_000).map(|number| of_purchase(&format!("TOP/2026/03/{number:010}")).0);
        let kept = traces.clone().filter(|trace| trace.is_one_in(10)).count();
        assert!((150..250).contains(&kept), "{kept} of 2000");
        assert_eq!(traces.filter(|trace| trace.is_one_in(1)).count(), 2_000);
    }
}
