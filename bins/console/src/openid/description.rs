//! What the provider says of itself: its addresses and its keys (OpenID Connect Discovery 1.0). It is kept, and read again when it is
//! old or when a token has a key that it does not have.

use std::{sync::Arc, time::Duration};

use clock::{Monotonic, SharedClock};
use openidconnect::{IssuerUrl, core::CoreProviderMetadata};
use tokio::sync::Mutex;

use super::{fault::ProviderFault, http::Http};
use crate::settings::is_safe;

/// How old a description may be: a key that the provider takes back is accepted for so long.
const AGE_MAX: Duration = Duration::from_hours(1);

/// How old a description may be that does not have the key of a token. Tokens with invented keys must not make the console ask more
/// often.
const AGE_MAX_WITHOUT_KEY: Duration = Duration::from_secs(10);

/// How long a provider that could not be used is left alone.
const REST: Duration = Duration::from_secs(5);

/// How old a description may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Age {
    Usual,
    /// It may be that the provider has new keys.
    Newest,
}

/// The description of one provider.
pub(super) struct Description {
    issuer: IssuerUrl,
    http: Http,
    clock: SharedClock,
    /// One reads it, and the others wait.
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    read: Option<(Monotonic, Arc<CoreProviderMetadata>)>,
    failed_at: Option<Monotonic>,
}

impl Description {
    pub(super) fn new(issuer: IssuerUrl, http: Http, clock: SharedClock) -> Self {
        Self { issuer, http, clock, known: Mutex::default() }
    }

    /// A description that is not older than that.
    pub(super) async fn read(&self, age: Age) -> Result<Arc<CoreProviderMetadata>, ProviderFault> {
        let mut known = self.known.lock().await;
        let now = self.clock.monotonic();
        let age_max = match age {
            Age::Usual => AGE_MAX,
            Age::Newest => AGE_MAX_WITHOUT_KEY,
        };
        if let Some((read_at, found)) = &known.read
            && now.elapsed_since(*read_at) < age_max
        {
            return Ok(Arc::clone(found));
        }
        if known.failed_at.is_some_and(|at| now.elapsed_since(at) < REST) {
            return Err(ProviderFault::Resting);
        }
        match self.ask().await {
            Ok(found) => {
                let found = Arc::new(found);
                *known = Known { read: Some((now, Arc::clone(&found))), failed_at: None };
                Ok(found)
            }
            Err(fault) => {
                known.failed_at = Some(self.clock.monotonic());
                Err(fault)
            }
        }
    }

    /// The library reads the keys, too, and refuses a provider that names itself otherwise.
    async fn ask(&self) -> Result<CoreProviderMetadata, ProviderFault> {
        let asked = CoreProviderMetadata::discover_async(self.issuer.clone(), &self.http).await;
        let found = asked.map_err(|error| ProviderFault::of_discovery(&error))?;
        // Browsers go there. The other addresses are checked when they are asked.
        if is_safe(found.authorization_endpoint().url()) {
            Ok(found)
        } else {
            Err(ProviderFault::NotEncrypted)
        }
    }
}

#[cfg(test)]
mod tests {
    use clock::{Clock, ManualClock, SystemClock};
    use test_kit::openid_provider::OpenIdProvider;

    use super::*;

    const DESCRIPTION: &str = "/.well-known/openid-configuration";

    fn opened(issuer: &str) -> (Description, ManualClock) {
        let clock = ManualClock::at(SystemClock.now());
        let issuer = IssuerUrl::new(issuer.to_owned()).unwrap();
        (Description::new(issuer, Http::new().unwrap(), Arc::new(clock.clone())), clock)
    }

    #[tokio::test]
    async fn a_description_is_read_once_an_hour_and_sooner_only_for_a_new_key() {
        let provider = OpenIdProvider::open().unwrap();
        let (description, clock) = opened(&provider.issuer);
        for age in [Age::Usual, Age::Usual, Age::Newest] {
            let found = description.read(age).await.unwrap();
            assert_eq!((found.jwks().keys().len(), provider.asked().len()), (1, 2));
        }
        assert_eq!(provider.asked(), [DESCRIPTION, "/keys"]);
        provider.makes_a_key();
        provider.shows_its_keys();
        clock.advance(AGE_MAX_WITHOUT_KEY);
        assert_eq!(description.read(Age::Usual).await.unwrap().jwks().keys().len(), 1);
        assert_eq!(description.read(Age::Newest).await.unwrap().jwks().keys().len(), 2);
        assert_eq!(description.read(Age::Usual).await.unwrap().jwks().keys().len(), 2);
        clock.advance(AGE_MAX);
        description.read(Age::Usual).await.unwrap();
        assert_eq!(provider.asked().len(), 6);
    }

    #[tokio::test]
    async fn a_provider_that_cannot_be_used_is_left_alone_for_some_seconds() {
        let provider = OpenIdProvider::open().unwrap();
        // It names itself without the slash.
        let (description, clock) = opened(&format!("{}/", provider.issuer));
        let read = || async { description.read(Age::Usual).await.unwrap_err() };
        assert!(matches!(read().await, ProviderFault::OtherIssuer));
        assert!(matches!(read().await, ProviderFault::Resting));
        assert_eq!(provider.asked(), [DESCRIPTION]);
        clock.advance(REST);
        assert!(matches!(read().await, ProviderFault::OtherIssuer));
        assert_eq!(provider.asked().len(), 2);
    }
}
