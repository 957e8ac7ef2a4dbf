//! An adapter that is connected to a given host.

use clock::SharedClock;
use provider_reloadly::{Reloadly, ReloadlySettings};

pub const SECRET: &str = "s3cret-word";

pub fn settings(host: &str) -> ReloadlySettings {
    ReloadlySettings {
        auth_url: format!("{host}/reloadly/auth"),
        topups_url: format!("{host}/reloadly/topups"),
        audience: None,
        client_id: "shop".to_owned(),
        client_secret: SECRET.into(),
        country: "BW".to_owned(),
        currency: "BWP".to_owned(),
        account_currency: None,
        report_time_zone: Some("Africa/Gaborone".to_owned()),
        vend_timeout_ms: 30_000,
        enquiry_timeout_ms: 30_000,
        connect_timeout_ms: 10_000,
        extra_root_certificate_pem: None,
        fault_codes: Vec::new(),
    }
}

pub fn adapter(settings: &ReloadlySettings, clock: SharedClock) -> Reloadly {
    let _already = rustls::crypto::ring::default_provider().install_default();
    Reloadly::new(settings, clock).expect("the settings are valid")
}
