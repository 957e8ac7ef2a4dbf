//! A JWS in the compact form (RFC 7515), signed by Ed25519 (RFC 8037).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ED25519, UnparsedPublicKey};
use serde::Serialize;

use crate::{KeyId, NotCanonical, PublicKey, canonical_json};

pub(crate) const ALGORITHM: &str = "EdDSA";
pub(crate) const CURVE: &str = "Ed25519";
pub(crate) const KEY_TYPE: &str = "OKP";

/// The type of these tokens, so that one is not taken for another kind of JWS by the same key.
const TYPE: &str = "vendgate-certificate+jws";

#[derive(Serialize)]
struct Header<'a> {
    alg: &'static str,
    kid: &'a str,
    typ: &'static str,
}

/// The certificate is not by one of these keys, or no certificate at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the certificate is not signed by one of these keys")]
pub struct Unverified;

pub(crate) fn header(key: &KeyId) -> Result<String, NotCanonical> {
    canonical_json(&Header { alg: ALGORITHM, kid: key.as_str(), typ: TYPE })
}

/// The compact form of this header and payload.
pub(crate) fn signed(header: &str, payload: &str, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(payload));
    let signature = sign(signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

/// The payload of a certificate, if one of `keys` has signed exactly it under exactly the header that certificates have.
pub fn verify(certificate: &str, keys: &[PublicKey]) -> Result<String, Unverified> {
    let (signed, signature) = certificate.rsplit_once('.').ok_or(Unverified)?;
    let (header_part, payload) = signed.split_once('.').ok_or(Unverified)?;
    let is_by = |key: &&PublicKey| {
        header(&key.id()).is_ok_and(|header| URL_SAFE_NO_PAD.encode(header) == header_part)
    };
    let key = keys.iter().find(is_by).ok_or(Unverified)?;
    let signature = decoded(signature)?;
    let public = UnparsedPublicKey::new(&ED25519, key.bytes());
    public.verify(signed.as_bytes(), &signature).map_err(|_unspecified| Unverified)?;
    String::from_utf8(decoded(payload)?).map_err(|_no_text| Unverified)
}

fn decoded(part: &str) -> Result<Vec<u8>, Unverified> {
    URL_SAFE_NO_PAD.decode(part).map_err(|_no_base64| Unverified)
}

#[cfg(test)]
mod tests {
    use ring::signature::Ed25519KeyPair;

    use super::*;

    /// RFC 8037, appendix A.4.
    #[test]
    fn the_example_of_the_standard_is_signed_as_it_is_there() {
        let seed = URL_SAFE_NO_PAD.decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A").unwrap();
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).unwrap();
        let made = signed(r#"{"alg":"EdDSA"}"#, "Example of Ed25519 signing", |signed| {
            pair.sign(signed).as_ref().to_vec()
        });
        assert_eq!(
            made,
            "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6\
             dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
        );
    }
}
