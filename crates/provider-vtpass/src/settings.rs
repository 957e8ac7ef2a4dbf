//! The settings of one service of one account with the vendor.

use provider_http::{TransportError, Url, base_url, timeouts_are_in_order};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use crate::request_id::letters_and_digits;

/// One account at VTpass that sells the prepaid electricity of one distribution company. Amounts are in naira.
///
/// ```toml
/// base_url = "https://vtpass.com/api"
/// api_key = "…"
/// secret_key = "SK_…"
/// service_id = "ikeja-electric"
/// phone = "08011111111"
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VtpassSettings {
    /// The address of the API, without `/pay`: `https://vtpass.com/api`, or `https://sandbox.vtpass.com/api`.
    pub base_url: String,
    /// The static API key of the account.
    pub api_key: SecretString,
    /// The secret key of the account. It begins with `SK_`.
    pub secret_key: SecretString,
    /// The vendor's name of the distribution company, such as `ikeja-electric`. It is part of every request id, so it must
    /// not change while purchases are open.
    pub service_id: String,
    /// A phone number of the operator. The vendor requires one in every order.
    pub phone: String,
    /// The maximum duration of a vend in milliseconds, including the connection.
    /// Not read from a settings file: it is the same for all providers, and `vending.provider_timeout_ms` sets it.
    #[serde(skip, default = "vend_timeout_ms")]
    pub vend_timeout_ms: u64,
    /// The maximum duration of a question that moves no money, in milliseconds.
    #[serde(default = "enquiry_timeout_ms")]
    pub enquiry_timeout_ms: u64,
    /// The maximum time to open a connection in milliseconds. It counts as part of the other timeouts.
    #[serde(default = "connect_timeout_ms")]
    pub connect_timeout_ms: u64,
    /// A certificate authority as PEM. It is trusted in addition to those of the machine.
    #[serde(default)]
    pub extra_root_certificate_pem: Option<String>,
    /// The unit of electricity if the vendor states none.
    #[serde(default = "electricity_unit")]
    pub electricity_unit: String,
    /// Whether a customer check must not name another meter than the one that was asked for. The vendor's sandbox names
    /// another one, so it needs `false`.
    #[serde(default = "meter_number_is_compared")]
    pub meter_number_is_compared: bool,
    /// Response codes, such as `018`, that refuse an order although the answer has no request id. List a code only if the
    /// vendor has confirmed that an order with this answer is never carried out. Without it, such an answer is doubt.
    #[serde(default)]
    pub refusals_without_request_id: Vec<String>,
}

/// Why the settings are not usable.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The address is not an http or https address, or has a query or a fragment.
    #[error("the VTpass setting base_url is not an http or https address")]
    BadUrl,
    /// The setting is empty.
    #[error("the VTpass setting {0} is empty")]
    Empty(&'static str),
    /// The key has a character that an HTTP head cannot have.
    #[error("the VTpass setting {0} cannot be sent in an HTTP head")]
    BadKey(&'static str),
    /// The service has no letter and no digit.
    #[error("the VTpass setting service_id has no letter and no digit")]
    BadService,
    /// The phone number has other characters than digits.
    #[error("the VTpass setting phone is not a phone number in digits")]
    BadPhone,
    /// The timeouts do not satisfy 0 < connect <= enquiry <= vend.
    #[error("the VTpass timeouts are not 0 < connect <= enquiry <= vend")]
    BadTimeouts,
    /// The code is not one with which the vendor refuses an order.
    #[error("{0:?} is not a response code by which VTpass refuses an order")]
    NoRefusal(String),
    /// The certificates cannot be read.
    #[error("the VTpass client cannot be built")]
    Client(#[source] TransportError),
}

impl VtpassSettings {
    /// What every account needs. Everything else has its usual value, and can be changed by its field:
    /// `VtpassSettings { enquiry_timeout_ms: 5_000, ..VtpassSettings::new(…) }`.
    pub fn new(
        base_url: impl Into<String>,
        api_key: impl Into<SecretString>,
        secret_key: impl Into<SecretString>,
        service_id: impl Into<String>,
        phone: impl Into<String>,
    ) -> Self {
        Self {
            base_url: base_url.into(),
            api_key: api_key.into(),
            secret_key: secret_key.into(),
            service_id: service_id.into(),
            phone: phone.into(),
            vend_timeout_ms: vend_timeout_ms(),
            enquiry_timeout_ms: enquiry_timeout_ms(),
            connect_timeout_ms: connect_timeout_ms(),
            extra_root_certificate_pem: None,
            electricity_unit: electricity_unit(),
            meter_number_is_compared: meter_number_is_compared(),
            refusals_without_request_id: Vec::new(),
        }
    }

    /// What makes two connections one client of the vendor: request ids are unique per account, and end with the service. It
    /// has the API key, so it must not be logged.
    pub fn client(&self) -> String {
        format!("{} {}", self.api_key.expose_secret(), letters_and_digits(&self.service_id))
    }

    pub(crate) fn base_url(&self) -> Result<Url, SettingsError> {
        base_url(&self.base_url).ok_or(SettingsError::BadUrl)
    }

    pub(crate) fn keys(&self) -> Result<[&str; 2], SettingsError> {
        Ok([
            filled(self.api_key.expose_secret(), "api_key")?,
            filled(self.secret_key.expose_secret(), "secret_key")?,
        ])
    }

    pub(crate) fn service_id(&self) -> Result<&str, SettingsError> {
        let service = filled(&self.service_id, "service_id")?;
        if letters_and_digits(service).is_empty() { Err(SettingsError::BadService) } else { Ok(service) }
    }

    pub(crate) fn phone(&self) -> Result<&str, SettingsError> {
        let phone = filled(&self.phone, "phone")?;
        if phone.bytes().all(|byte| byte.is_ascii_digit()) { Ok(phone) } else { Err(SettingsError::BadPhone) }
    }

    pub(crate) fn check_timeouts(&self) -> Result<(), SettingsError> {
        let (connect, enquiry) = (self.connect_timeout_ms, self.enquiry_timeout_ms);
        if timeouts_are_in_order(connect, enquiry, self.vend_timeout_ms) {
            Ok(())
        } else {
            Err(SettingsError::BadTimeouts)
        }
    }
}

fn filled<'a>(text: &'a str, setting: &'static str) -> Result<&'a str, SettingsError> {
    if text.trim().is_empty() { Err(SettingsError::Empty(setting)) } else { Ok(text) }
}

const fn vend_timeout_ms() -> u64 {
    120_000
}

const fn enquiry_timeout_ms() -> u64 {
    10_000
}

const fn connect_timeout_ms() -> u64 {
    5_000
}

fn electricity_unit() -> String {
    "kWh".to_owned()
}

const fn meter_number_is_compared() -> bool {
    true
}
