//! Replies that come compressed, opened within a bound.

use std::io::Read;

use flate2::read::MultiGzDecoder;

use crate::tree::Malformed;

/// Every gzip stream begins with these; no XML document does. Some gateways compress without saying so.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The reply itself, whichever way it came; `TooLarge` when it opens to more than `limit` bytes.
pub(crate) fn opened(reply: Vec<u8>, limit: u64) -> Result<Vec<u8>, Malformed> {
    if !reply.starts_with(&MAGIC) {
        return Ok(reply);
    }
    let mut opened = Vec::new();
    let mut bounded = MultiGzDecoder::new(reply.as_slice()).take(limit.saturating_add(1));
    let length = bounded.read_to_end(&mut opened).map_err(|_broken_stream| Malformed::NotXml)?;
    let within = u64::try_from(length).is_ok_and(|length| length <= limit);
    if within { Ok(opened) } else { Err(Malformed::TooLarge) }
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
        assert_eq!(opened(b"<plain/>".to_vec(), 3), Ok(b"<plain/>".to_vec()));
        assert_eq!(opened(compressed(b"<reply/>"), 8), Ok(b"<reply/>".to_vec()));
        assert_eq!(opened(compressed(b"<reply/>"), 7), Err(Malformed::TooLarge));
        assert_eq!(opened(compressed(&vec![b'a'; 10_000_000]), 1_000), Err(Malformed::TooLarge));
    }

    #[test]
    fn a_broken_stream_is_no_reply() {
        let mut cut = compressed(b"<reply/>");
        cut.truncate(cut.len() - 3);
        assert_eq!(opened(cut, 100), Err(Malformed::NotXml));
        assert_eq!(opened(MAGIC.to_vec(), 100), Err(Malformed::NotXml));
    }
}
