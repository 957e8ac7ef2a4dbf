//! Which adapter serves which provider.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use clock::SharedClock;
use provider::Provider;
use provider_xmlvend::{XmlVend, XmlVendSettings};
use serde::Deserialize;
use vending::Providers;

/// How to reach one provider: the adapter's name, and its settings.
///
/// ```toml
/// [providers.BPC.xmlvend]
/// endpoint = "https://gateway.example/xmlvend"
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderSettings {
    /// XMLVend 2.1.
    XmlVend(XmlVendSettings),
}

/// A provider's settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProviderSettingsError {
    /// The adapter refuses them.
    #[error("the settings of provider {code} cannot be used")]
    Unusable {
        /// The provider.
        code: String,
        /// Why.
        #[source]
        source: provider_xmlvend::SettingsError,
    },
    /// Calls are numbered per provider, so two providers that are one client to one gateway would number two
    /// calls alike.
    #[error("provider {code} is the same client at the same gateway as another one")]
    SameClient {
        /// The provider.
        code: String,
    },
}

/// Connects every configured provider. Their vends take as long as the time chain says, whatever their own
/// settings say.
pub(crate) fn connect(
    settings: &HashMap<String, ProviderSettings>,
    vend_timeout: Duration,
    clock: &SharedClock,
) -> Result<Providers, ProviderSettingsError> {
    let mut providers = Providers::new();
    let mut clients = HashSet::new();
    for (name, settings) in settings {
        // The environment knows no case; codes are upper case.
        let code = name.to_uppercase();
        let provider: Arc<dyn Provider> = match settings {
            ProviderSettings::XmlVend(settings) => {
                if !clients.insert((settings.endpoint.clone(), format!("{:?}", settings.client))) {
                    return Err(ProviderSettingsError::SameClient { code });
                }
                let vend_timeout_ms = u64::try_from(vend_timeout.as_millis()).unwrap_or(u64::MAX);
                let settings = XmlVendSettings { vend_timeout_ms, ..settings.clone() };
                let connected = XmlVend::new(settings, clock.clone());
                Arc::new(
                    connected
                        .map_err(|source| ProviderSettingsError::Unusable { code: code.clone(), source })?,
                )
            }
        };
        providers.insert(code, provider);
    }
    Ok(providers)
}

/// The adapters leave the choice of TLS to the process. A choice made before stands.
pub(crate) fn use_ring_for_tls() {
    let _already_chosen = rustls::crypto::ring::default_provider().install_default();
}
