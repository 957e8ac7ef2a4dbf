//! Tests of the settings in the form that an operator writes.

use std::sync::Arc;

use clock::SystemClock;
use provider_reloadly::{FaultCode, Reloadly, ReloadlySettings, SettingsError};
use serde_json::{Value, json};

fn least() -> Value {
    json!({
        "auth_url": "http://127.0.0.1:1/auth",
        "topups_url": "http://127.0.0.1:1/topups",
        "client_id": "shop",
        "client_secret": "s3cret-word",
        "country": "BW",
        "currency": "BWP",
    })
}

fn read(value: Value) -> Result<ReloadlySettings, serde_json::Error> {
    serde_json::from_value(value)
}

fn opened(change: impl FnOnce(&mut ReloadlySettings)) -> Result<Reloadly, SettingsError> {
    let _already = rustls::crypto::ring::default_provider().install_default();
    let mut settings = read(least()).unwrap();
    change(&mut settings);
    Reloadly::new(&settings, Arc::new(SystemClock))
}

fn complaint(change: impl FnOnce(&mut ReloadlySettings)) -> String {
    opened(change).unwrap_err().to_string()
}

#[test]
fn few_settings_are_required() {
    let settings = read(least()).unwrap();
    assert_eq!((settings.vend_timeout_ms, settings.enquiry_timeout_ms), (120_000, 10_000));
    assert!(opened(|_settings| {}).is_ok());
}

#[test]
fn a_misspelt_setting_is_refused() {
    let mut misspelt = least();
    misspelt["contry"] = json!("BW");
    assert!(read(misspelt).unwrap_err().to_string().contains("unknown field `contry`"));
}

#[test]
fn unusable_settings_are_refused_before_the_first_vend_by_name() {
    for url in ["", "nowhere", "ftp://host/", "http://host/?a=b", "mailto:a@b"] {
        let complaint = complaint(|settings| url.clone_into(&mut settings.auth_url));
        assert_eq!(complaint, "the Reloadly setting auth_url is not an http or https address", "{url}");
    }
    assert!(complaint(|settings| settings.topups_url.clear()).contains("topups_url"));
    assert!(complaint(|settings| settings.client_id.clear()).contains("client_id is empty"));
    assert!(complaint(|settings| settings.client_secret = " ".into()).contains("client_secret is empty"));
    assert!(complaint(|settings| settings.audience = Some(String::new())).contains("audience is empty"));
    let no_zone = complaint(|settings| settings.report_time_zone = Some("Gaborone".to_owned()));
    assert_eq!(
        no_zone,
        "the Reloadly setting report_time_zone is not the IANA name of a time zone: \"Gaborone\""
    );
    let no_country = complaint(|settings| settings.country = "XX".to_owned());
    assert_eq!(no_country, "\"XX\" is not the ISO 3166 code of a country with telephones");
    assert!(complaint(|settings| settings.currency.clear()).contains("currency"));
    let account = complaint(|settings| settings.account_currency = Some("usd".to_owned()));
    assert!(account.contains("account_currency"));
    assert!(matches!(opened(|settings| settings.connect_timeout_ms = 0), Err(SettingsError::BadTimeouts)));
    assert!(matches!(opened(|settings| settings.vend_timeout_ms = 9_999), Err(SettingsError::BadTimeouts)));
    let means_nothing = FaultCode { code: "X".to_owned(), means: "never_sent".to_owned() };
    let unknown = opened(|settings| settings.fault_codes = vec![means_nothing]);
    assert!(matches!(unknown, Err(SettingsError::UnknownMeaning(_))));
    let junk = opened(|settings| settings.extra_root_certificate_pem = Some("junk".to_owned()));
    assert!(matches!(junk, Err(SettingsError::Client(_))));
}

#[test]
fn no_secret_shows_when_settings_or_adapter_are_printed() {
    assert!(!format!("{:?}", read(least()).unwrap()).contains("s3cret"));
    assert!(!format!("{:?}", opened(|_settings| {}).unwrap()).contains("s3cret"));
}
