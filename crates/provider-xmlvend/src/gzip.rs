//! Replies that come compressed, opened within a bound.

use std::io::Read;

use flate2::read::MultiGzDecoder;

/// Every gzip stream begins with these; no XML document does. Some gateways compress without saying so.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// What a compressed reply opens to; nothing where it is not compressed, is broken, or opens to more than `limit`
/// bytes.
pub(crate) fn opened(reply: &[u8], limit: u64) -> Option<Vec<u8>> {
    if !reply.starts_with(&MAGIC) {
        return None;
    }
    let mut opened = Vec::new();
    let length = MultiGzDecoder::new(reply).take(limit.saturating_add(1)).read_to_end(&mut opened).ok()?;
    u64::try_from(length).is_ok_and(|length| length <= limit).then_some(opened)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn compressed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_reply_is_opened_up_to_the_limit_and_no_further() {
        assert_eq!(opened(b"<plain/>", 30), None);
        assert_eq!(opened(&compressed(b"<reply/>"), 8), Some(b"<reply/>".to_vec()));
        assert_eq!(opened(&compressed(b"<reply/>"), 7), None);
        assert_eq!(opened(&compressed(&vec![b'a'; 10_000_000]), 1_000), None);
    }

    #[test]
    fn a_broken_stream_does_not_open() {
        let mut cut = compressed(b"<reply/>");
        cut.truncate(cut.len() - 3);
        assert_eq!(opened(&cut, 100), None);
        assert_eq!(opened(&MAGIC, 100), None);
    }
}
