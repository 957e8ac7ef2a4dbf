//! Signing and verifying a message, as the Standard Webhooks specification 1.0.0 describes it.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use ring::signature::{ED25519, UnparsedPublicKey};

use crate::{SigningKeys, VerifyingKey};

/// How far the time of a message may be from the receiver's clock, in either direction. That of the specification's libraries.
pub const TOLERANCE: Duration = Duration::from_mins(5);

const SHARED: &str = "v1";
const PUBLIC: &str = "v1a";

/// What a signature covers.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// The header `webhook-id`: the same at every attempt. It has no full stop.
    pub id: &'a str,
    /// The header `webhook-timestamp`: when this attempt began, in seconds since 1970.
    pub timestamp: i64,
    /// The body, byte for byte.
    pub body: &'a [u8],
}

/// Why a message is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unverified {
    /// The message is older than the tolerance, so it may be a repetition by a third party.
    #[error("the timestamp of the message is too old")]
    TooOld,
    /// The message is from further in the future than the tolerance.
    #[error("the timestamp of the message is in the future")]
    TooNew,
    /// No signature of the header is by this key.
    #[error("no signature is by this key")]
    NoMatch,
}

/// The header `webhook-signature`: for each of `keys` a signature by either scheme, the current keys first. While keys are
/// rotated there are two, and a receiver accepts a message if it knows either.
pub fn signature_header<'k>(
    message: &Message<'_>,
    keys: impl IntoIterator<Item = &'k SigningKeys>,
) -> String {
    let signed = message.signed();
    let signatures = keys.into_iter().flat_map(|keys| {
        let (shared, public) = (hmac::sign(&keys.shared, &signed), keys.pair.sign(&signed));
        [(SHARED, STANDARD.encode(shared)), (PUBLIC, STANDARD.encode(public))]
    });
    let signatures: Vec<String> =
        signatures.map(|(scheme, signature)| format!("{scheme},{signature}")).collect();
    signatures.join(" ")
}

/// Whether one signature of `header` is by `key`, and the message is not further than `tolerance` from `now`, in seconds since
/// 1970. Signatures of other schemes are ignored. The comparison takes the same time whatever the signature is.
pub fn verify(
    message: &Message<'_>,
    header: &str,
    now: i64,
    tolerance: Duration,
    key: &VerifyingKey,
) -> Result<(), Unverified> {
    let tolerance = i64::try_from(tolerance.as_secs()).unwrap_or(i64::MAX);
    if now.saturating_sub(message.timestamp) > tolerance {
        return Err(Unverified::TooOld);
    }
    if message.timestamp.saturating_sub(now) > tolerance {
        return Err(Unverified::TooNew);
    }
    let signed = message.signed();
    let signatures = header.split(' ').filter_map(|signature| signature.split_once(','));
    let mut by_this_key = signatures.filter(|(scheme, _)| *scheme == key.scheme());
    let matches =
        |signature: &str| STANDARD.decode(signature).is_ok_and(|signature| key.accepts(&signed, &signature));
    by_this_key.any(|(_, signature)| matches(signature)).then_some(()).ok_or(Unverified::NoMatch)
}

impl Message<'_> {
    fn signed(&self) -> Vec<u8> {
        let head = format!("{}.{}.", self.id, self.timestamp);
        [head.as_bytes(), self.body].concat()
    }
}

impl VerifyingKey {
    const fn scheme(&self) -> &'static str {
        match self {
            Self::Secret(_) => SHARED,
            Self::Public(_) => PUBLIC,
        }
    }

    fn accepts(&self, signed: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::Secret(key) => hmac::verify(key, signed, signature).is_ok(),
            Self::Public(key) => UnparsedPublicKey::new(&ED25519, key).verify(signed, signature).is_ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The message and the secret of the tests of the specification's own libraries.
    const PUBLISHED: Message<'_> = Message {
        id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp: 1_614_265_330,
        body: br#"{"test": 2432232314}"#,
    };
    const PUBLISHED_SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const PUBLISHED_SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    /// The key pair that made the `v1a` signature which the specification shows, by the tests of its authors' server.
    const PUBLISHED_SEED: &str = "6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbc=";
    const PUBLISHED_PUBLIC_KEY: &str = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";
    const PUBLISHED_PUBLIC_SIGNATURE: &str =
        "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==";

    fn judged(header: &str, key: &str) -> Result<(), Unverified> {
        verify(&PUBLISHED, header, PUBLISHED.timestamp, TOLERANCE, &key.parse().unwrap())
    }

    fn published_keys() -> SigningKeys {
        let seed: [u8; 32] = STANDARD.decode(PUBLISHED_SEED).unwrap().try_into().unwrap();
        let mut random = [9; SigningKeys::LENGTH];
        random[32..].copy_from_slice(&seed);
        SigningKeys::from_random(&random)
    }

    #[test]
    fn the_published_signatures_are_accepted_with_the_published_keys() {
        assert_eq!(judged(PUBLISHED_SIGNATURE, PUBLISHED_SECRET), Ok(()));
        assert_eq!(judged(PUBLISHED_SIGNATURE, PUBLISHED_SECRET.trim_start_matches("whsec_")), Ok(()));
        assert_eq!(judged(PUBLISHED_PUBLIC_SIGNATURE, PUBLISHED_PUBLIC_KEY), Ok(()));
    }

    #[test]
    fn the_published_key_pair_makes_the_published_signature() {
        let keys = published_keys();
        assert_eq!(keys.public_key(), PUBLISHED_PUBLIC_KEY);
        let header = signature_header(&PUBLISHED, [&keys]);
        assert_eq!(header.split(' ').nth(1), Some(PUBLISHED_PUBLIC_SIGNATURE));
        assert_eq!(judged(&header, &keys.secret()), Ok(()));
    }

    #[test]
    fn a_message_is_accepted_by_the_right_one_of_several_signatures() {
        let wrong = PUBLISHED_SIGNATURE.replace("g0hM", "Ceo5");
        let other_scheme = PUBLISHED_SIGNATURE.replace("v1", "v2");
        let header = format!("{wrong} {other_scheme}  v1 v1, nonsense {PUBLISHED_SIGNATURE} {wrong}");
        assert_eq!(judged(&header, PUBLISHED_SECRET), Ok(()));
        for header in [&wrong, &other_scheme, "", "v1,", PUBLISHED_PUBLIC_SIGNATURE] {
            assert_eq!(judged(header, PUBLISHED_SECRET), Err(Unverified::NoMatch), "{header}");
        }
    }

    #[test]
    fn while_keys_are_rotated_either_one_verifies_a_message() {
        let (old, new) = (SigningKeys::from_random(&[1; 64]), SigningKeys::from_random(&[2; 64]));
        let header = signature_header(&PUBLISHED, [&new, &old]);
        for key in [old.secret().as_str(), new.secret().as_str(), &old.public_key(), &new.public_key()] {
            assert_eq!(judged(&header, key), Ok(()));
        }
        let after = signature_header(&PUBLISHED, [&new]);
        assert_eq!(judged(&after, &old.secret()), Err(Unverified::NoMatch));
        assert_eq!(judged(&after, &old.public_key()), Err(Unverified::NoMatch));
    }

    #[test]
    fn a_message_with_another_id_time_or_body_is_refused() {
        let keys = published_keys();
        let header = signature_header(&PUBLISHED, [&keys]);
        let changed = [
            Message { id: "msg_2", ..PUBLISHED },
            Message { timestamp: PUBLISHED.timestamp + 1, ..PUBLISHED },
            Message { body: br#"{"test": 2432232315}"#, ..PUBLISHED },
        ];
        for message in changed {
            for key in [keys.secret().as_str(), &keys.public_key()] {
                let judged = verify(&message, &header, PUBLISHED.timestamp, TOLERANCE, &key.parse().unwrap());
                assert_eq!(judged, Err(Unverified::NoMatch), "{message:?}");
            }
        }
    }

    #[test]
    fn a_message_is_accepted_for_five_minutes_in_either_direction() {
        let key = PUBLISHED_SECRET.parse().unwrap();
        let at = |now| verify(&PUBLISHED, PUBLISHED_SIGNATURE, PUBLISHED.timestamp + now, TOLERANCE, &key);
        assert_eq!([at(-300), at(0), at(300)], [Ok(()); 3]);
        assert_eq!(at(301), Err(Unverified::TooOld));
        assert_eq!(at(-301), Err(Unverified::TooNew));
        let never = Message { timestamp: i64::MIN, ..PUBLISHED };
        assert_eq!(verify(&never, "", i64::MAX, TOLERANCE, &key), Err(Unverified::TooOld));
    }
}
