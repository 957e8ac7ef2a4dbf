//! Decompression of replies, with a size limit.

use std::io::Read;

use flate2::bufread::MultiGzDecoder;

/// The first bytes of every gzip stream. No XML document begins with them. Some gateways compress without a header that
/// says so.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// More than most replies have. A small compressed reply cannot ask for more memory than this before it is read.
const LIKELY_BYTES_MAX: usize = 16 * 1024;

/// The decompressed reply. `None` if the reply is not compressed, is damaged, or decompresses to more than `limit`
/// bytes.
pub(crate) fn opened(reply: &[u8], limit: u64) -> Option<Vec<u8>> {
    if !reply.starts_with(&MAGIC) {
        return None;
    }
    // The messages of the protocol repeat themselves, and become a quarter or less.
    let mut opened = Vec::with_capacity(reply.len().saturating_mul(4).min(LIKELY_BYTES_MAX));
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
    fn a_reply_is_decompressed_only_up_to_the_limit() {
        assert_eq!(opened(b"<plain/>", 30), None);
        assert_eq!(opened(&compressed(b"<reply/>"), 8), Some(b"<reply/>".to_vec()));
        assert_eq!(opened(&compressed(b"<reply/>"), 7), None);
        assert_eq!(opened(&compressed(&vec![b'a'; 10_000_000]), 1_000), None);
    }

    #[test]
    fn a_damaged_stream_is_not_decompressed() {
        let mut cut = compressed(b"<reply/>");
        cut.truncate(cut.len() - 3);
        assert_eq!(opened(&cut, 100), None);
        assert_eq!(opened(&MAGIC, 100), None);
    }
}
