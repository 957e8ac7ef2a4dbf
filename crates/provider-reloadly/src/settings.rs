//! The settings of one account with the vendor.

use chrono_tz::Tz;
use money::Currency;
use phonenumber::country;
use provider_http::{TransportError, Url, base_url, below, timeouts_are_in_order};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use crate::fault::FaultCode;

/// One account that sells airtime in one country.
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
    /// The address for access tokens, without `/oauth/token`.
    pub auth_url: String,
    /// The address for top-ups, without `/topups`.
    pub topups_url: String,
    /// The audience of the access token. The default is `topups_url`.
    #[serde(default)]
    pub audience: Option<String>,
    /// Our client id at the vendor. Top-up identifiers are unique per account for ever.
    pub client_id: String,
    /// The secret of the client id.
    pub client_secret: SecretString,
    /// The ISO 3166 code of the country whose numbers are topped up.
    pub country: String,
    /// The ISO 4217 code of the currency of top-ups in this country.
    pub currency: String,
    /// The ISO 4217 code of the currency of our account, if it is another one.
    #[serde(default)]
    pub account_currency: Option<String>,
    /// The IANA name of the zone of the times in the vendor's list of transactions, which have no offset. The vendor says which it is.
    /// Only `vendctl fetch-statement` reads that list, and needs it.
    #[serde(default)]
    pub report_time_zone: Option<String>,
    /// The maximum duration of a top-up in milliseconds, including everything that it needs before.
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
    /// The meaning of error codes that the built-in table does not know. This table has priority over the built-in one.
    #[serde(default)]
    pub fault_codes: Vec<FaultCode>,
}

/// Why the settings are not usable.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The address is not an http or https address, or has a query or a fragment.
    #[error("the Reloadly setting {0} is not an http or https address")]
    BadUrl(&'static str),
    /// The setting is empty.
    #[error("the Reloadly setting {0} is empty")]
    Empty(&'static str),
    /// The code is not that of a country with its own phone numbers.
    #[error("{0:?} is not the ISO 3166 code of a country with telephones")]
    BadCountry(String),
    /// The currency is not an ISO 4217 code.
    #[error("the Reloadly setting {setting} is not usable")]
    BadCurrency {
        /// The name of the setting.
        setting: &'static str,
        /// The reason.
        #[source]
        source: money::MoneyError,
    },
    /// There is no such time zone.
    #[error("the Reloadly setting report_time_zone is not the IANA name of a time zone: {0:?}")]
    BadTimeZone(String),
    /// The timeouts do not satisfy 0 < connect <= enquiry <= vend.
    #[error("the Reloadly timeouts are not 0 < connect <= enquiry <= vend")]
    BadTimeouts,
    /// The meaning is not a name of a refusal reason, `repeated_reference` or `unlisted`, or it is `never_sent`.
    #[error("{0:?} is not a meaning that a Reloadly error code can have")]
    UnknownMeaning(String),
    /// The certificates cannot be read.
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

    pub(crate) fn report_time_zone(&self) -> Result<Option<Tz>, SettingsError> {
        let zone = self.report_time_zone.as_ref();
        zone.map(|name| name.parse().map_err(|_unknown| SettingsError::BadTimeZone(name.clone()))).transpose()
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

fn address(text: &str, setting: &'static str) -> Result<Url, SettingsError> {
    base_url(text).ok_or(SettingsError::BadUrl(setting))
}

fn currency(code: &str, setting: &'static str) -> Result<Currency, SettingsError> {
    Currency::in_hundredths(code).map_err(|source| SettingsError::BadCurrency { setting, source })
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
