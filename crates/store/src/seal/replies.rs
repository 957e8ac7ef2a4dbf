//! The replies of providers, sealed. A reply of a protocol is mostly the same words, so it is compressed with a dictionary
//! of such words first.
//!
//! What a value is sealed for tells how it was compressed, so it cannot be opened in the wrong way. A dictionary never
//! changes: a better one is another file with another place.

use std::sync::{LazyLock, Mutex, PoisonError};

use lz4_flex::block::decompress_size_prepended_with_dict;
use lzzzz::lz4_hc;
use zeroize::Zeroizing;

use super::{Aad, SealError, Sealed, SealingKeys};

/// The place of a reply that is not compressed: those of release 0.1, and what the compressor does not take.
const PLAIN: &str = "provider_replies.sealed_reply";
/// The place of a reply that is compressed with the first dictionary, in the block format of LZ4 behind its length.
const COMPRESSED: &str = "provider_replies.sealed_reply, LZ4, dictionary 1";
/// Replies of XMLVend in two styles, and one of Reloadly.
const DICTIONARY: &[u8] = include_bytes!("replies.1.dictionary");
/// How hard the compressor looks for repetitions. Higher levels find no more in a reply. The fast form of LZ4 leaves half as much again,
/// and a reply is kept for years.
const LEVEL: i32 = lz4_hc::CLEVEL_MIN;

/// What compresses all replies of a process, one at a time. Its tables take 0.6 MB, and filling them takes longer than a reply does.
static COMPRESSOR: LazyLock<Option<Mutex<Compressor>>> = LazyLock::new(|| Compressor::new().map(Mutex::new));

struct Compressor {
    /// The dictionary, with its table. Nothing is compressed with it.
    dictionary: lz4_hc::Compressor<'static>,
    reply: lz4_hc::Compressor<'static>,
}

impl SealingKeys {
    /// Seals a reply about this purchase. What the compressor does not take, such as an empty reply, is sealed as it is.
    ///
    /// # Errors
    /// [`SealError::NoRandomness`].
    pub fn seal_reply(&self, reply: &[u8], purchase_id: i64) -> Result<Sealed, SealError> {
        match compress(reply) {
            Some(compressed) => self.seal(&compressed, Aad { row_id: purchase_id, column: COMPRESSED }),
            None => self.seal(reply, Aad { row_id: purchase_id, column: PLAIN }),
        }
    }

    /// Opens a reply about this purchase.
    ///
    /// # Errors
    /// Like [`SealingKeys::open`].
    pub fn open_reply(&self, sealed: &Sealed, purchase_id: i64) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let compressed = match self.open(sealed, Aad { row_id: purchase_id, column: COMPRESSED }) {
            Err(SealError::Broken { .. }) => {
                return self.open(sealed, Aad { row_id: purchase_id, column: PLAIN });
            }
            opened => opened?,
        };
        decompress(&compressed).ok_or(SealError::Broken { row_id: purchase_id, column: COMPRESSED })
    }
}

impl Compressor {
    fn new() -> Option<Self> {
        let dictionary = lz4_hc::Compressor::with_dict(DICTIONARY, LEVEL).ok()?;
        Some(Self { dictionary, reply: lz4_hc::Compressor::new().ok()? })
    }

    /// Appends the block of a reply, independent of the replies before it.
    fn append(&mut self, reply: &[u8], compressed: &mut Vec<u8>) -> Option<()> {
        self.reply.attach_dict(None, LEVEL);
        self.reply.attach_dict(Some(&self.dictionary), LEVEL);
        self.reply.next_to_vec(reply, compressed).ok()?;
        Some(())
    }
}

/// The length of the reply, and its block. It is evidence, so it is opened once before it is trusted.
fn compress(reply: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let mut compressed = Zeroizing::new(u32::try_from(reply.len()).ok()?.to_le_bytes().to_vec());
    let mut compressor = COMPRESSOR.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
    compressor.append(reply, &mut compressed)?;
    drop(compressor);
    decompress(&compressed).is_some_and(|opened| opened.as_slice() == reply).then_some(compressed)
}

fn decompress(compressed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    decompress_size_prepended_with_dict(compressed, DICTIONARY).ok().map(Zeroizing::new)
}

#[cfg(test)]
mod tests {
    use lz4_flex::block::compress_prepend_size_with_dict;
    use sha2::{Digest, Sha256};

    use super::*;
    use crate::SealingKey;

    const REPLY: &[u8] = include_bytes!("../../../provider-xmlvend/tests/fixtures/vend_reply.xml");

    fn keys() -> SealingKeys {
        SealingKeys::try_new(SealingKey::new(1, &[1; 32]), Vec::new()).unwrap()
    }

    fn seal_plain(keys: &SealingKeys, reply: &[u8]) -> Sealed {
        keys.seal(reply, Aad { row_id: 7, column: PLAIN }).unwrap()
    }

    /// As programs did until November 2026.
    fn seal_quickly_compressed(keys: &SealingKeys, reply: &[u8]) -> Sealed {
        let compressed = compress_prepend_size_with_dict(reply, DICTIONARY);
        keys.seal(&compressed, Aad { row_id: 7, column: COMPRESSED }).unwrap()
    }

    #[test]
    fn a_reply_opens_for_its_own_purchase_however_it_is_compressed() {
        let keys = keys();
        for reply in [REPLY, b"", b"\0", "<<< not XML é".repeat(3_000).as_bytes()] {
            let today = keys.seal_reply(reply, 7).unwrap();
            for sealed in [today, seal_plain(&keys, reply), seal_quickly_compressed(&keys, reply)] {
                assert_eq!(keys.open_reply(&sealed, 7).unwrap().as_slice(), reply);
                assert!(matches!(keys.open_reply(&sealed, 8), Err(SealError::Broken { .. })));
            }
        }
    }

    #[test]
    fn a_reply_takes_less_than_a_sixth_of_its_length() {
        // Another vendor, and not in the dictionary.
        let other = String::from_utf8(REPLY.to_vec()).unwrap();
        let other =
            other.replace("K MOLEFE", "B SEBINA").replace("61722405118890034471", "09000004920123456789");
        let sealed = keys().seal_reply(other.as_bytes(), 7).unwrap();
        assert!(sealed.bytes.len() * 6 < other.len(), "{} of {} bytes", sealed.bytes.len(), other.len());
    }

    #[test]
    fn a_reply_is_compressed_alike_whatever_was_compressed_before() {
        let first = compress(REPLY).unwrap();
        for before in [b"<vendReq/>".to_vec(), vec![7; 100_000], Vec::new(), REPLY.to_vec()] {
            compress(&before);
            assert_eq!(compress(REPLY).unwrap(), first);
        }
    }

    #[test]
    fn the_first_dictionary_never_changes() {
        let hash = hex::encode(Sha256::digest(DICTIONARY));
        assert_eq!(hash, "5656d3545d0ef66a086aff3063ef26d1e9aa87dae760aa092c79d723001c6bcb");
    }
}
