//! The replies of providers, sealed. A reply of a protocol is mostly the same words, so it is compressed with a dictionary
//! of such words first.
//!
//! What a value is sealed for tells how it was compressed, so it cannot be opened in the wrong way. A dictionary never
//! changes: a better one is another file with another place.

use lz4_flex::block::{compress_prepend_size_with_dict, decompress_size_prepended_with_dict};
use zeroize::Zeroizing;

use super::{Aad, SealError, Sealed, SealingKeys};

/// The place of a reply that is not compressed: those of release 0.1.
const PLAIN: &str = "provider_replies.sealed_reply";
/// The place of a reply that is compressed with the first dictionary, in the block format of LZ4 behind its length.
const COMPRESSED: &str = "provider_replies.sealed_reply, LZ4, dictionary 1";
/// Replies of XMLVend in two styles, and one of Reloadly.
const DICTIONARY: &[u8] = include_bytes!("replies.1.dictionary");

impl SealingKeys {
    /// Seals a reply about this purchase.
    ///
    /// # Errors
    /// [`SealError::NoRandomness`].
    pub fn seal_reply(&self, reply: &[u8], purchase_id: i64) -> Result<Sealed, SealError> {
        let compressed = Zeroizing::new(compress_prepend_size_with_dict(reply, DICTIONARY));
        self.seal(&compressed, Aad { row_id: purchase_id, column: COMPRESSED })
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
        let reply = decompress_size_prepended_with_dict(&compressed, DICTIONARY);
        reply
            .map(Zeroizing::new)
            .map_err(|_malformed| SealError::Broken { row_id: purchase_id, column: COMPRESSED })
    }
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn a_reply_opens_for_its_own_purchase_whether_it_is_compressed_or_not() {
        let keys = keys();
        for reply in [REPLY, b"", b"\0", "<<< not XML é".repeat(3_000).as_bytes()] {
            for sealed in [keys.seal_reply(reply, 7).unwrap(), seal_plain(&keys, reply)] {
                assert_eq!(keys.open_reply(&sealed, 7).unwrap().as_slice(), reply);
                assert!(matches!(keys.open_reply(&sealed, 8), Err(SealError::Broken { .. })));
            }
        }
    }

    #[test]
    fn a_reply_takes_less_than_a_third_of_its_length() {
        // Another vendor, and not in the dictionary.
        let other = String::from_utf8(REPLY.to_vec()).unwrap();
        let other =
            other.replace("K MOLEFE", "B SEBINA").replace("61722405118890034471", "09000004920123456789");
        let sealed = keys().seal_reply(other.as_bytes(), 7).unwrap();
        assert!(sealed.bytes.len() * 3 < other.len(), "{} of {} bytes", sealed.bytes.len(), other.len());
    }

    #[test]
    fn the_first_dictionary_never_changes() {
        let hash = hex::encode(Sha256::digest(DICTIONARY));
        assert_eq!(hash, "5656d3545d0ef66a086aff3063ef26d1e9aa87dae760aa092c79d723001c6bcb");
    }
}
