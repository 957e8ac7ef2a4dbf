//! An adapter that is connected to a given address.

use provider_vtpass::{Vtpass, VtpassSettings};

pub fn settings(base_url: &str) -> VtpassSettings {
    VtpassSettings {
        vend_timeout_ms: 30_000,
        enquiry_timeout_ms: 30_000,
        connect_timeout_ms: 10_000,
        ..VtpassSettings::new(base_url, "key-word", "SK_s3cret-word", "ikeja-electric", "08011111111")
    }
}

pub fn adapter(settings: &VtpassSettings) -> Vtpass {
    let _already = rustls::crypto::ring::default_provider().install_default();
    Vtpass::new(settings).expect("the settings are valid")
}
