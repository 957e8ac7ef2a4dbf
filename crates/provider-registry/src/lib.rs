//! Chooses the adapter of each provider: settings in, connections out. Every program that calls providers connects them
//! here, so a purchase is served under the same code, by the same vendor, in every program.
#![warn(missing_docs)]

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use clock::SharedClock;
use provider::Provider;
use provider_reloadly::{Reloadly, ReloadlySettings};
use provider_vtpass::{Vtpass, VtpassSettings};
use provider_xmlvend::{XmlVend, XmlVendSettings};
use serde::Deserialize;
use url::Url;

/// Connections by provider code, in upper case as in the catalogue.
pub type Connections = HashMap<String, Arc<dyn Provider>>;

/// The connection of one provider: the adapter's name and its settings. The provider's code is in lower case here.
///
/// ```toml
/// [providers.bpc.xmlvend]
/// endpoint = "https://gateway.example/xmlvend"
///
/// [providers.airtime.reloadly]
/// topups_url = "https://topups.vendor.example"
///
/// [providers.ikeja.vtpass]
/// base_url = "https://vtpass.com/api"
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderSettings {
    /// Electricity and water over XMLVend 2.1.
    XmlVend(XmlVendSettings),
    /// Airtime over the Reloadly top-up API.
    Reloadly(ReloadlySettings),
    /// Electricity of Nigeria over the VTpass API.
    Vtpass(VtpassSettings),
}

/// A provider's settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProviderSettingsError {
    /// The adapter for XMLVend refuses them.
    #[error("the settings of provider {code} cannot be used")]
    XmlVend {
        /// The provider.
        code: String,
        /// The cause.
        #[source]
        source: provider_xmlvend::SettingsError,
    },
    /// The adapter for Reloadly refuses them.
    #[error("the settings of provider {code} cannot be used")]
    Reloadly {
        /// The provider.
        code: String,
        /// The cause.
        #[source]
        source: provider_reloadly::SettingsError,
    },
    /// The adapter for VTpass refuses them.
    #[error("the settings of provider {code} cannot be used")]
    Vtpass {
        /// The provider.
        code: String,
        /// The cause.
        #[source]
        source: provider_vtpass::SettingsError,
    },
    /// Environment variables have no case, so an upper-case code could not be overridden by one.
    #[error("the provider {name} must be in lower case in the settings: providers.{}", name.to_lowercase())]
    UpperCase {
        /// The code as it is written.
        name: String,
    },
    /// Calls are numbered per provider. Two providers that are the same client of the same vendor would give the same
    /// number to two calls.
    #[error("provider {code} is the same client at the same vendor as another one")]
    SameClient {
        /// The provider.
        code: String,
    },
}

/// Connects every configured provider. The vend timeout comes from the vending settings, because the time chain of a
/// purchase depends on it.
///
/// # Errors
/// [`ProviderSettingsError`], naming the provider.
pub fn connect<'a>(
    settings: impl IntoIterator<Item = (&'a String, &'a ProviderSettings)>,
    vend_timeout: Duration,
    clock: &SharedClock,
) -> Result<Connections, ProviderSettingsError> {
    let mut connections = Connections::new();
    let mut clients = HashSet::new();
    for (name, settings) in settings {
        let code = name.to_uppercase();
        if name.to_lowercase() != *name {
            return Err(ProviderSettingsError::UpperCase { name: name.clone() });
        }
        if !clients.insert(settings.client()) {
            return Err(ProviderSettingsError::SameClient { code });
        }
        connections.insert(code.clone(), settings.connect(code, vend_timeout, clock)?);
    }
    Ok(connections)
}

/// Reports every provider whose settings cannot be used, under the full name of its section, and then two providers
/// that cannot be used together. Opens no connection.
pub fn review<'a>(
    settings: impl IntoIterator<Item = (&'a String, &'a ProviderSettings)> + Clone,
    vend_timeout: Duration,
    clock: &SharedClock,
    mut found: impl FnMut(&str, ProviderSettingsError),
) {
    for one in settings.clone() {
        if let Err(error) = connect([one], vend_timeout, clock) {
            found(&format!("providers.{}", one.0), error);
        }
    }
    if let Err(error) = connect(settings, vend_timeout, clock) {
        found("providers", error);
    }
}

impl ProviderSettings {
    /// The vendor's address and the client's identity there.
    fn client(&self) -> (String, String) {
        match self {
            Self::XmlVend(settings) => (one_spelling(&settings.endpoint), format!("{:?}", settings.client)),
            Self::Reloadly(settings) => (one_spelling(&settings.topups_url), settings.client_id.clone()),
            Self::Vtpass(settings) => (one_spelling(&settings.base_url), settings.client()),
        }
    }

    fn connect(
        &self,
        code: String,
        vend_timeout: Duration,
        clock: &SharedClock,
    ) -> Result<Arc<dyn Provider>, ProviderSettingsError> {
        let vend_timeout_ms = u64::try_from(vend_timeout.as_millis()).unwrap_or(u64::MAX);
        match self {
            Self::XmlVend(settings) => {
                let settings = XmlVendSettings { vend_timeout_ms, ..settings.clone() };
                match XmlVend::new(settings) {
                    Ok(xmlvend) => Ok(Arc::new(xmlvend)),
                    Err(source) => Err(ProviderSettingsError::XmlVend { code, source }),
                }
            }
            Self::Reloadly(settings) => {
                let settings = ReloadlySettings { vend_timeout_ms, ..settings.clone() };
                match Reloadly::new(&settings, clock.clone()) {
                    Ok(reloadly) => Ok(Arc::new(reloadly)),
                    Err(source) => Err(ProviderSettingsError::Reloadly { code, source }),
                }
            }
            Self::Vtpass(settings) => {
                let settings = VtpassSettings { vend_timeout_ms, ..settings.clone() };
                match Vtpass::new(&settings) {
                    Ok(vtpass) => Ok(Arc::new(vtpass)),
                    Err(source) => Err(ProviderSettingsError::Vtpass { code, source }),
                }
            }
        }
    }
}

/// The same text for the same address, whatever its case, port and last slash. A text that is not an address is left to
/// the adapter, which refuses it.
fn one_spelling(address: &str) -> String {
    let parsed = Url::parse(address).map_or_else(|_no_address| address.to_owned(), String::from);
    parsed.trim_end_matches('/').to_owned()
}

/// The adapters leave the choice of the TLS provider to the process. An earlier choice is kept.
pub fn use_ring_for_tls() {
    let _already_chosen = rustls::crypto::ring::default_provider().install_default();
}

#[cfg(test)]
mod tests {
    use clock::SystemClock;

    use super::*;

    fn reloadly(client_id: &str) -> ProviderSettings {
        ProviderSettings::Reloadly(ReloadlySettings {
            auth_url: "http://127.0.0.1:1/auth".to_owned(),
            topups_url: "http://127.0.0.1:1/topups".to_owned(),
            audience: None,
            client_id: client_id.to_owned(),
            client_secret: "secret".into(),
            country: "BW".to_owned(),
            currency: "BWP".to_owned(),
            account_currency: None,
            report_time_zone: Some("Africa/Gaborone".to_owned()),
            vend_timeout_ms: 1,
            enquiry_timeout_ms: 10_000,
            connect_timeout_ms: 5_000,
            extra_root_certificate_pem: None,
            fault_codes: Vec::new(),
        })
    }

    fn connected(settings: [(&str, ProviderSettings); 2]) -> Result<Connections, ProviderSettingsError> {
        use_ring_for_tls();
        let settings = settings.map(|(code, settings)| (code.to_owned(), settings));
        let clock: SharedClock = Arc::new(SystemClock);
        connect(&HashMap::from(settings), Duration::from_mins(2), &clock)
    }

    #[test]
    fn two_clients_of_one_vendor_are_two_providers_and_one_client_is_not() {
        assert!(connected([("one", reloadly("a")), ("other", reloadly("b"))]).is_ok());
        let same = connected([("one", reloadly("a")), ("other", reloadly("a"))]);
        assert!(matches!(same, Err(ProviderSettingsError::SameClient { .. })));
    }

    #[test]
    fn an_address_that_is_written_differently_is_the_same_vendor() {
        let at = |url: &str| {
            let ProviderSettings::Reloadly(settings) = reloadly("a") else { panic!("another adapter") };
            ProviderSettings::Reloadly(ReloadlySettings { topups_url: url.to_owned(), ..settings })
        };
        let one = || ("one", at("https://vendor.example/topups"));
        for same in [
            "https://vendor.example/topups/",
            "HTTPS://Vendor.Example:443/topups",
            " https://vendor.example/x/../topups",
        ] {
            let refused = connected([one(), ("other", at(same))]);
            assert!(matches!(refused, Err(ProviderSettingsError::SameClient { .. })), "{same}");
        }
        for other in
            ["https://vendor.example:8443/topups", "https://vendor.example/", "https://vendor.example/Topups"]
        {
            assert!(connected([one(), ("other", at(other))]).is_ok(), "{other}");
        }
        let roots = [("one", at("https://vendor.example")), ("other", at("https://vendor.example/"))];
        assert!(matches!(connected(roots), Err(ProviderSettingsError::SameClient { .. })));
    }

    #[test]
    fn one_account_sells_for_several_companies_and_for_each_of_them_once() {
        let sells = |service: &str| {
            let url = "https://vendor.example/api";
            ProviderSettings::Vtpass(VtpassSettings::new(url, "key", "SK", service, "08011111111"))
        };
        let pair = |other| connected([("one", sells("ikeja-electric")), ("other", sells(other))]);
        assert!(pair("eko-electric").is_ok());
        for same in ["ikeja-electric", "ikeja.electric"] {
            assert!(matches!(pair(same), Err(ProviderSettingsError::SameClient { .. })), "{same}");
        }
    }

    #[test]
    fn settings_that_the_adapter_refuses_name_the_provider() {
        let refused = connected([("one", reloadly("a")), ("other", reloadly(""))]);
        let Err(ProviderSettingsError::Reloadly { code, .. }) = refused else { panic!("connected") };
        assert_eq!(code, "OTHER");
    }

    #[test]
    fn a_review_tells_of_every_provider_and_of_two_that_are_the_same_client() {
        use_ring_for_tls();
        let found = |settings: [(&str, ProviderSettings); 3]| {
            let settings: Vec<_> = settings.map(|(code, settings)| (code.to_owned(), settings)).into();
            let clock: SharedClock = Arc::new(SystemClock);
            let mut found = Vec::new();
            let pairs = settings.iter().map(|(code, settings)| (code, settings));
            review(pairs, Duration::from_mins(2), &clock, |key, error| found.push(format!("{key}: {error}")));
            found
        };
        let bad = found([("one", reloadly("a")), ("two", reloadly("")), ("THREE", reloadly("c"))]);
        assert!(bad[0].starts_with("providers.two: the settings of provider TWO"), "{bad:?}");
        assert!(bad[1].starts_with("providers.THREE: the provider THREE must be in lower case"), "{bad:?}");
        let same = found([("one", reloadly("a")), ("two", reloadly("b")), ("three", reloadly("a"))]);
        assert_eq!(same, ["providers: provider THREE is the same client at the same vendor as another one"]);
    }

    #[test]
    fn a_code_in_upper_case_is_refused_because_the_environment_could_not_reach_it() {
        let refused = connected([("one", reloadly("a")), ("OTHER", reloadly("b"))]);
        let said = refused.err().map(|error| error.to_string());
        let expected = "the provider OTHER must be in lower case in the settings: providers.other";
        assert_eq!(said.as_deref(), Some(expected));
    }
}
