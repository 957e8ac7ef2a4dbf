//! Certificates of outcomes: kept as they were issued, and verified by keys that are never forgotten.

use std::{fmt, sync::Mutex, time::Duration};

use certificate::{Issued, PublicKey, SigningKey};
use clock::Monotonic;
use purchase::{OrganisationId, PurchaseId};
use store::CertificateError;

use crate::{ReadError, Vending, refusals::internal};

/// How long the list of keys is used again. Anybody may ask for it, and the database must not work for each of them.
const KEYS_REUSE: Duration = Duration::from_secs(5);

const UNPOISONED: &str = "nothing panics while it holds this lock";

/// The keys of this server: the one that signs, and those that must not be trusted.
pub struct CertificateKeys {
    signing: Option<SigningKey>,
    withdrawn: Vec<String>,
    recent: Mutex<Option<(Monotonic, Vec<PublicKey>)>>,
}

impl CertificateKeys {
    pub(crate) fn new(signing: Option<SigningKey>, withdrawn: Vec<String>) -> Self {
        Self { signing, withdrawn, recent: Mutex::default() }
    }

    /// The key that signs new certificates, if the server has one.
    pub const fn signing(&self) -> Option<&SigningKey> {
        self.signing.as_ref()
    }

    /// What verifiers may trust: the own key first, then all others that have signed.
    fn trusted(&self, used: &[PublicKey]) -> Vec<PublicKey> {
        let own = self.signing.as_ref().map(SigningKey::public_key);
        let others = used.iter().copied().filter(|key| Some(*key) != own);
        let is_trusted = |key: &PublicKey| !self.withdrawn.iter().any(|name| name == key.id().as_str());
        own.into_iter().chain(others).filter(is_trusted).collect()
    }
}

impl Vending {
    /// The certificate of a purchase as it was issued, if it was and the purchase is the organisation's.
    pub async fn certificate(
        &self,
        organisation: OrganisationId,
        id: PurchaseId,
    ) -> Result<Option<Issued>, ReadError> {
        let found = self.0.store.find_certificate(organisation, id).await;
        Ok(found.map_err(|error| internal("a certificate could not be read", &error))?)
    }

    /// Keeps a new certificate of a purchase, unless another request was faster. Returns the one that is kept, which is the answer
    /// from now on. `None` if the organisation has no such purchase.
    pub async fn keep_certificate(
        &self,
        organisation: OrganisationId,
        id: PurchaseId,
        issued: Issued,
    ) -> Result<Option<Issued>, ReadError> {
        let kept = self.0.store.keep_certificate(organisation, id, issued).await;
        kept.map_err(|error| match error {
            CertificateError::Database(error) => internal("a certificate could not be kept", &error).into(),
            CertificateError::Sealing(error) => {
                let cause: &dyn std::error::Error = &error;
                tracing::error!(cause, "the salt of a certificate could not be sealed");
                ReadError::Internal
            }
        })
    }

    /// The keys with which certificates are verified, at most a few seconds old.
    pub async fn certificate_keys(&self, keys: &CertificateKeys) -> Result<Vec<PublicKey>, ReadError> {
        let now = self.0.clock.monotonic();
        let recent = keys.recent.lock().expect(UNPOISONED).clone();
        if let Some((read, used)) = &recent
            && now.elapsed_since(*read) < KEYS_REUSE
        {
            return Ok(keys.trusted(used));
        }
        match self.0.store.list_certificate_keys().await {
            Ok(used) => {
                let trusted = keys.trusted(&used);
                *keys.recent.lock().expect(UNPOISONED) = Some((now, used));
                Ok(trusted)
            }
            Err(error) => {
                let failed = internal("the keys of certificates could not be read", &error);
                // No key is ever taken away, so what was read before is still true.
                recent.map(|(_, used)| keys.trusted(&used)).ok_or_else(|| failed.into())
            }
        }
    }
}

impl fmt::Debug for CertificateKeys {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("CertificateKeys")
            .field("signing", &self.signing)
            .field("withdrawn", &self.withdrawn)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_has_signed_is_published_for_ever_unless_it_is_withdrawn() {
        let [old, leaked, own] =
            [1, 2, 3].map(|seed| SigningKey::from_seed(&[seed; SigningKey::SEED_LENGTH]));
        let [old, leaked] = [old, leaked].map(|key| key.public_key());
        let published = own.public_key();
        let keys = CertificateKeys::new(Some(own), vec![leaked.id().as_str().to_owned()]);
        assert_eq!(keys.trusted(&[]), [published]);
        assert_eq!(keys.trusted(&[published, leaked, old]), [published, old]);
        assert_eq!(CertificateKeys::new(None, Vec::new()).trusted(&[leaked, old]), [leaked, old]);
    }
}
