//! Tests of the settings in the form that an operator writes.

use provider_xmlvend::{DeviceId, SettingsError, SoapVersion, XmlVend, XmlVendSettings};
use serde_json::{Value, json};

fn least() -> Value {
    json!({
        "endpoint": "http://127.0.0.1:1/xmlvend",
        "client": {"ean": "2670000000015"},
        "terminal": {"id": "till-7"},
        "currency": "BWP",
    })
}

fn read(value: Value) -> Result<XmlVendSettings, serde_json::Error> {
    serde_json::from_value(value)
}

fn opened(change: impl FnOnce(&mut XmlVendSettings)) -> Result<XmlVend, SettingsError> {
    let _already = rustls::crypto::ring::default_provider().install_default();
    let mut settings = read(least()).unwrap();
    change(&mut settings);
    XmlVend::new(settings)
}

#[test]
fn the_defaults_of_the_settings_are_what_the_standard_expects() {
    let settings = read(least()).unwrap();
    assert_eq!(settings.client, DeviceId::Ean("2670000000015".to_owned()));
    assert_eq!(settings.soap, SoapVersion::V1_1);
    assert_eq!((settings.vend_timeout_ms, settings.enquiry_timeout_ms), (120_000, 10_000));
    assert!(opened(|_settings| {}).is_ok());
}

#[test]
fn settings_that_are_made_in_code_have_the_defaults_of_a_file() {
    let [client, terminal] = [DeviceId::Ean("2670000000015".to_owned()), DeviceId::Id("till-7".to_owned())];
    let made = XmlVendSettings::new("http://127.0.0.1:1/xmlvend", client, terminal, "BWP");
    assert_eq!(format!("{made:?}"), format!("{:?}", read(least()).unwrap()));
}

#[test]
fn a_misspelt_setting_is_refused() {
    let mut misspelt = least();
    misspelt["vend_timeout"] = json!(5);
    assert!(read(misspelt).unwrap_err().to_string().contains("unknown field `vend_timeout`"));
}

#[test]
fn unusable_settings_are_refused_before_the_first_vend() {
    for endpoint in ["", "nowhere", "ftp://host/"] {
        let refused = opened(|settings| endpoint.clone_into(&mut settings.endpoint));
        assert!(matches!(refused, Err(SettingsError::BadEndpoint)), "{endpoint}");
    }
    assert!(matches!(opened(|settings| settings.currency.clear()), Err(SettingsError::BadCurrency(_))));
    assert!(matches!(opened(|settings| settings.connect_timeout_ms = 0), Err(SettingsError::BadTimeouts)));
    assert!(matches!(opened(|settings| settings.vend_timeout_ms = 9_999), Err(SettingsError::BadTimeouts)));
    let gallons = opened(|settings| settings.water_unit = "gal".to_owned());
    assert!(matches!(gallons, Err(SettingsError::BadWaterUnit(_))));
    let junk_root = opened(|settings| settings.extra_root_certificate_pem = Some("junk".to_owned()));
    assert!(matches!(junk_root, Err(SettingsError::Client(_))));
    let junk = opened(|settings| settings.client_certificate_pem = Some("junk".into()));
    assert!(matches!(junk, Err(SettingsError::Client(_))));
}

#[test]
fn no_secret_shows_when_settings_or_adapter_are_printed() {
    let mut value = least();
    value["credentials"] = json!({"op_name": "shop", "password": "s3cret-word"});
    value["client_certificate_pem"] = json!("s3cret-word");
    let settings = read(value).unwrap();
    assert!(!format!("{settings:?}").contains("s3cret"));
    let adapter = opened(|other| other.credentials = settings.credentials.clone()).unwrap();
    assert!(!format!("{adapter:?}").contains("s3cret"));
}
