//! An adapter that is connected to a given endpoint.

use std::sync::Arc;

use clock::SystemClock;
use provider_xmlvend::{Credentials, DeviceId, XmlVend, XmlVendSettings};

pub fn settings(endpoint: &str) -> XmlVendSettings {
    XmlVendSettings {
        endpoint: endpoint.to_owned(),
        client: DeviceId::Ean("2670000000015".to_owned()),
        terminal: DeviceId::Id("till-7".to_owned()),
        credentials: Some(Credentials { op_name: "shop".to_owned(), password: "s3cret-word".into() }),
        client_certificate_pem: None,
        extra_root_certificate_pem: None,
        soap: provider_xmlvend::SoapVersion::V1_1,
        currency: "BWP".to_owned(),
        vend_timeout_ms: 30_000,
        enquiry_timeout_ms: 30_000,
        connect_timeout_ms: 10_000,
        tax_included: true,
        lines: provider_xmlvend::LineDescriptions::default(),
        electricity_unit: "kWh".to_owned(),
        water_unit: "kl".to_owned(),
        fault_texts: Vec::new(),
    }
}

pub fn adapter(settings: XmlVendSettings) -> XmlVend {
    let _already = rustls::crypto::ring::default_provider().install_default();
    XmlVend::new(settings, Arc::new(SystemClock)).expect("the settings are valid")
}
