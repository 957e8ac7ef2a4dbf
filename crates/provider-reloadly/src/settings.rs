//! What a deployment says about its account with the vendor.

use money::Currency;
use phonenumber::country;
use provider_http::{TransportError, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use crate::fault::FaultCode;
use crate::request::below;

/// One account, selling airtime in one country.
///
/// ```toml
/// auth_url = "https://auth.vendor.example"
/// topups_url = "https://topups.vendor.example"
/// client_id = "…"
/// client_secret = "…"
/// country = "BW"
/// currency = "BWP"
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReloadlySettings {
    /// Where access tokens are asked for: the address in front of `/oauth/token`.
    pub auth_url: String,
    /// Where top-ups are sold: the address in front of `/topups`.
    pub topups_url: String,
    /// Whom the access token is for; the top-ups' address if not given.
    #[serde(default)]
    pub audience: Option<String>,
    /// Who we are at the vendor; top-up identifiers are unique per account for ever.
    pub client_id: String,
    /// How we prove it.
    pub client_secret: SecretString,
    /// ISO 3166 code of the country whose numbers are topped up.
    pub country: String,
    /// ISO 4217 code of the money that the phones of this country are topped up in.
    pub currency: String,
    /// ISO 4217 code of the money that our account holds, where that is another.
    #[serde(default)]
    pub account_currency: Option<String>,
    /// Longest wait for a top-up, with everything that it needs before.
    #[serde(default = "vend_timeout_ms")]
    pub vend_timeout_ms: u64,
    /// Longest wait for anything that moves no money.
    #[serde(default = "enquiry_timeout_ms")]
    pub enquiry_timeout_ms: u64,
    /// Longest wait for a connection, within the others.
    #[serde(default = "connect_timeout_ms")]
    pub connect_timeout_ms: u64,
    /// A certificate authority, PEM, trusted beside those of the machine.
    #[serde(default)]
    pub extra_root_certificate_pem: Option<String>,
    /// What the vendor means by error codes that no table here knows; asked before the built-in one.
    #[serde(default)]
    pub fault_codes: Vec<FaultCode>,
}

/// Why settings describe no usable connection.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// Neither http nor https, or no address at all.
    #[error("the Reloadly setting {0} is not an http or https address")]
    BadUrl(&'static str),
    /// Nothing there.
    #[error("the Reloadly setting {0} is empty")]
    Empty(&'static str),
    /// No country with numbers of its own.
    #[error("{0:?} is not the ISO 3166 code of a country with telephones")]
    BadCountry(String),
    /// Not an ISO 4217 code.
    #[error("the Reloadly setting {setting} is not usable")]
    BadCurrency {
        /// Which of the two.
        setting: &'static str,
        /// Why.
        #[source]
        source: money::MoneyError,
    },
    /// A timeout of nothing, or a connection that may take longer than the whole.
    #[error("the Reloadly timeouts are not 0 < connect <= enquiry <= vend")]
    BadTimeouts,
    /// Not a refusal reason's name, nor `repeated_reference`.
    #[error("{0:?} is not a meaning that a Reloadly error code can have")]
    UnknownMeaning(String),
    /// No TLS in this process, or certificates that cannot be read.
    #[error("the Reloadly client cannot be built")]
    Client(#[source] TransportError),
}

impl ReloadlySettings {
    pub(crate) fn token_url(&self) -> Result<Url, SettingsError> {
        Ok(below(&address(&self.auth_url, "auth_url")?, ["oauth", "token"]))
    }

    pub(crate) fn topups_url(&self) -> Result<Url, SettingsError> {
        address(&self.topups_url, "topups_url")
    }

    pub(crate) fn audience(&self) -> Result<&str, SettingsError> {
        filled(self.audience.as_ref().unwrap_or(&self.topups_url), "audience")
    }

    pub(crate) fn credentials(&self) -> Result<(&str, &str), SettingsError> {
        let secret = filled(self.client_secret.expose_secret(), "client_secret")?;
        Ok((filled(&self.client_id, "client_id")?, secret))
    }

    pub(crate) fn country(&self) -> Result<country::Id, SettingsError> {
        self.country.parse().map_err(|_unknown| SettingsError::BadCountry(self.country.clone()))
    }

    pub(crate) fn currency(&self) -> Result<Currency, SettingsError> {
        currency(&self.currency, "currency")
    }

    pub(crate) fn account_currency(&self) -> Result<Currency, SettingsError> {
        self.account_currency
            .as_deref()
            .map_or_else(|| self.currency(), |code| currency(code, "account_currency"))
    }

    pub(crate) fn check_timeouts(&self) -> Result<(), SettingsError> {
        let in_order = 0 < self.connect_timeout_ms
            && self.connect_timeout_ms <= self.enquiry_timeout_ms
            && self.enquiry_timeout_ms <= self.vend_timeout_ms;
        if in_order { Ok(()) } else { Err(SettingsError::BadTimeouts) }
    }
}

fn address(text: &str, setting: &'static str) -> Result<Url, SettingsError> {
    let url = Url::parse(text).map_err(|_not_a_url| SettingsError::BadUrl(setting))?;
    let is_plain = url.query().is_none() && url.fragment().is_none();
    let is_http = matches!(url.scheme(), "http" | "https");
    if is_http && is_plain { Ok(url) } else { Err(SettingsError::BadUrl(setting)) }
}

fn currency(code: &str, setting: &'static str) -> Result<Currency, SettingsError> {
    Currency::parse(code).map_err(|source| SettingsError::BadCurrency { setting, source })
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
