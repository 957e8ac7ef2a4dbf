//! Tests of the settings in the form that an operator writes.

use provider_vtpass::{SettingsError, Vtpass, VtpassSettings};
use serde_json::{Value, json};

fn least() -> Value {
    json!({
        "base_url": "http://127.0.0.1:1/api",
        "api_key": "key-word",
        "secret_key": "SK_s3cret-word",
        "service_id": "ikeja-electric",
        "phone": "08011111111",
    })
}

fn read(value: Value) -> Result<VtpassSettings, serde_json::Error> {
    serde_json::from_value(value)
}

fn opened(change: impl FnOnce(&mut VtpassSettings)) -> Result<Vtpass, SettingsError> {
    let _already = rustls::crypto::ring::default_provider().install_default();
    let mut settings = read(least()).unwrap();
    change(&mut settings);
    Vtpass::new(&settings)
}

fn complaint(change: impl FnOnce(&mut VtpassSettings)) -> String {
    opened(change).unwrap_err().to_string()
}

#[test]
fn few_settings_are_required_and_the_builder_has_the_same_defaults() {
    let settings = read(least()).unwrap();
    assert_eq!((settings.vend_timeout_ms, settings.enquiry_timeout_ms), (120_000, 10_000));
    assert!(opened(|_settings| {}).is_ok());
    let built = VtpassSettings::new(
        "http://127.0.0.1:1/api",
        "key-word",
        "SK_s3cret-word",
        "ikeja-electric",
        "08011111111",
    );
    assert_eq!(format!("{built:?}"), format!("{settings:?}"));
    assert_eq!(built.client(), settings.client());
}

#[test]
fn a_misspelt_setting_is_refused() {
    let mut misspelt = least();
    misspelt["serviceID"] = json!("ikeja-electric");
    assert!(read(misspelt).unwrap_err().to_string().contains("unknown field `serviceID`"));
}

#[test]
fn unusable_settings_are_refused_before_the_first_vend_by_name() {
    for url in ["", "nowhere", "ftp://host/", "http://host/?a=b", "mailto:a@b"] {
        let complaint = complaint(|settings| url.clone_into(&mut settings.base_url));
        assert_eq!(complaint, "the VTpass setting base_url is not an http or https address", "{url}");
    }
    assert!(complaint(|settings| settings.api_key = " ".into()).contains("api_key is empty"));
    assert!(complaint(|settings| settings.secret_key = "".into()).contains("secret_key is empty"));
    assert!(complaint(|settings| settings.secret_key = "a\nb".into()).contains("secret_key cannot be sent"));
    assert!(complaint(|settings| settings.service_id.clear()).contains("service_id is empty"));
    assert!(complaint(|settings| settings.service_id = "--".to_owned()).contains("no letter and no digit"));
    assert!(complaint(|settings| settings.phone.clear()).contains("phone is empty"));
    assert!(complaint(|settings| settings.phone = "+234".to_owned()).contains("not a phone number"));
    assert!(matches!(opened(|settings| settings.connect_timeout_ms = 0), Err(SettingsError::BadTimeouts)));
    assert!(matches!(opened(|settings| settings.vend_timeout_ms = 9_999), Err(SettingsError::BadTimeouts)));
    let junk = opened(|settings| settings.extra_root_certificate_pem = Some("junk".to_owned()));
    assert!(matches!(junk, Err(SettingsError::Client(_))));
}

#[test]
fn only_a_code_that_refuses_can_be_listed_as_a_refusal() {
    let listed = |code: &str| opened(|settings| settings.refusals_without_request_id = vec![code.to_owned()]);
    assert!(listed("018").is_ok());
    for code in ["000", "014", "015", "040", "083", "099", "18", ""] {
        assert!(matches!(listed(code), Err(SettingsError::NoRefusal(_))), "{code}");
    }
}

#[test]
fn no_key_shows_when_settings_or_adapter_are_printed() {
    for printed in [format!("{:?}", read(least()).unwrap()), format!("{:?}", opened(|_settings| {}).unwrap())]
    {
        assert!(!printed.contains("s3cret") && !printed.contains("key-word"), "{printed}");
    }
}
