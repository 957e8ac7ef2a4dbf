//! An adapter that is connected to a given endpoint.

use provider_xmlvend::{Credentials, DeviceId, XmlVend, XmlVendSettings};

pub fn settings(endpoint: &str) -> XmlVendSettings {
    let [client, terminal] = [DeviceId::Ean("2670000000015".to_owned()), DeviceId::Id("till-7".to_owned())];
    XmlVendSettings {
        credentials: Some(Credentials { op_name: "shop".to_owned(), password: "s3cret-word".into() }),
        vend_timeout_ms: 30_000,
        enquiry_timeout_ms: 30_000,
        connect_timeout_ms: 10_000,
        ..XmlVendSettings::new(endpoint, client, terminal, "BWP")
    }
}

pub fn adapter(settings: XmlVendSettings) -> XmlVend {
    let _already = rustls::crypto::ring::default_provider().install_default();
    XmlVend::new(settings).expect("the settings are valid")
}
