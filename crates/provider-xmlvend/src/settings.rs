//! The settings of one gateway.

use money::Currency;
use provider_http::{TransportError, Url, timeouts_are_in_order};
use secrecy::SecretString;
use serde::Deserialize;

use crate::fault_texts::FaultText;

/// One connection to one XMLVend gateway.
///
/// ```toml
/// endpoint = "https://gateway.example/xmlvend"
/// currency = "BWP"
/// client = { ean = "2670000000015" }
/// terminal = { id = "till-7" }
/// credentials = { op_name = "shop", password = "…" }
/// fault_texts = [{ contains = "VD.17020006", means = "float_exhausted" }]
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct XmlVendSettings {
    /// The address to which requests are posted.
    pub endpoint: String,
    /// Our client id at the gateway. Message ids are unique per client.
    pub client: DeviceId,
    /// The terminal of all our sales.
    pub terminal: DeviceId,
    /// The operator's name and password, if the gateway requires them in addition to the TLS certificate.
    #[serde(default)]
    pub credentials: Option<Credentials>,
    /// Client certificate and key, both as PEM in one text, if the gateway requires them.
    #[serde(default)]
    pub client_certificate_pem: Option<SecretString>,
    /// A certificate authority as PEM. It is trusted in addition to those of the machine.
    #[serde(default)]
    pub extra_root_certificate_pem: Option<String>,
    /// The envelope version of requests. Both versions are read.
    #[serde(default)]
    pub soap: SoapVersion,
    /// The ISO 4217 code of the currency in which the gateway sells. It applies to amounts without a symbol.
    pub currency: String,
    /// The maximum duration of a vend in milliseconds, including the connection. Meters with late answers answer after
    /// 95 s.
    /// Not read from a settings file: it is the same for all providers, and `vending.provider_timeout_ms` sets it.
    #[serde(skip, default = "vend_timeout_ms")]
    pub vend_timeout_ms: u64,
    /// The maximum duration of a question that moves no money, in milliseconds.
    #[serde(default = "enquiry_timeout_ms")]
    pub enquiry_timeout_ms: u64,
    /// The maximum time to open a connection in milliseconds. It counts as part of the other timeouts.
    #[serde(default = "connect_timeout_ms")]
    pub connect_timeout_ms: u64,
    /// Whether a transaction's `amt` includes its `tax`. The standard does not define it.
    #[serde(default = "tax_included")]
    pub tax_included: bool,
    /// Which service-charge lines are taxes, levies and regulator's fees.
    #[serde(default)]
    pub lines: LineDescriptions,
    /// The unit of electricity if the gateway states none.
    #[serde(default = "electricity_unit")]
    pub electricity_unit: String,
    /// The unit of water if the gateway states none: `kl`, `m3` or `L`. Our API always reports litres.
    #[serde(default = "water_unit")]
    pub water_unit: String,
    /// The meaning of this gateway's fault texts. This table has priority over the built-in one.
    #[serde(default)]
    pub fault_texts: Vec<FaultText>,
}

/// The XMLVend identifier of a client or a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceId {
    /// A 13-digit article number (EAN), or what a gateway uses instead.
    Ean(String),
    /// A name that the gateway defines.
    Id(String),
}

/// The content of `authCred`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Credentials {
    /// 1 to 10 characters.
    pub op_name: String,
    /// 6 to 15 characters.
    pub password: SecretString,
}

/// The version of the SOAP envelope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum SoapVersion {
    /// SOAP 1.1, which the standard requires.
    #[default]
    #[serde(rename = "1.1")]
    V1_1,
    /// SOAP 1.2, which some gateways use.
    #[serde(rename = "1.2")]
    V1_2,
}

/// The descriptions of service-charge lines. The whole text is compared. Upper and lower case are equal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LineDescriptions {
    /// Value added tax that has its own line.
    pub vat: Vec<String>,
    /// Levies.
    pub levy: Vec<String>,
    /// The regulator's fee.
    pub regulatory_fee: Vec<String>,
}

impl Default for LineDescriptions {
    fn default() -> Self {
        let one = |text: &str| vec![text.to_owned()];
        Self { vat: one("VAT"), levy: one("Levy"), regulatory_fee: one("Regulatory fee") }
    }
}

/// Why the settings are not usable.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The endpoint is not an http or https address.
    #[error("the XMLVend endpoint is not an http or https address")]
    BadEndpoint,
    /// The currency is not an ISO 4217 code.
    #[error("the XMLVend currency is not usable")]
    BadCurrency(#[source] money::MoneyError),
    /// The timeouts do not satisfy 0 < connect <= enquiry <= vend.
    #[error("the XMLVend timeouts are not 0 < connect <= enquiry <= vend")]
    BadTimeouts,
    /// A fault text is empty, so it would match every fault.
    #[error("an XMLVend fault text is empty")]
    EmptyFaultText,
    /// The meaning is not a name of a refusal reason, `repeated_reference` or `still_open`, or it is `never_sent`.
    #[error("{0:?} is not a meaning that an XMLVend fault text can have")]
    UnknownMeaning(String),
    /// The unit of water cannot be converted to litres.
    #[error("{0:?} does not measure water")]
    BadWaterUnit(String),
    /// The certificates cannot be read.
    #[error("the XMLVend client cannot be built")]
    Client(#[source] TransportError),
}

impl XmlVendSettings {
    /// What every gateway needs. Everything else is as the standard expects it, and can be changed by its field:
    /// `XmlVendSettings { soap: SoapVersion::V1_2, ..XmlVendSettings::new(…) }`.
    pub fn new(
        endpoint: impl Into<String>,
        client: DeviceId,
        terminal: DeviceId,
        currency: impl Into<String>,
    ) -> Self {
        Self {
            endpoint: endpoint.into(),
            client,
            terminal,
            credentials: None,
            client_certificate_pem: None,
            extra_root_certificate_pem: None,
            soap: SoapVersion::default(),
            currency: currency.into(),
            vend_timeout_ms: vend_timeout_ms(),
            enquiry_timeout_ms: enquiry_timeout_ms(),
            connect_timeout_ms: connect_timeout_ms(),
            tax_included: tax_included(),
            lines: LineDescriptions::default(),
            electricity_unit: electricity_unit(),
            water_unit: water_unit(),
            fault_texts: Vec::new(),
        }
    }

    pub(crate) fn endpoint_url(&self) -> Result<Url, SettingsError> {
        let url = Url::parse(&self.endpoint).map_err(|_not_a_url| SettingsError::BadEndpoint)?;
        if matches!(url.scheme(), "http" | "https") { Ok(url) } else { Err(SettingsError::BadEndpoint) }
    }

    pub(crate) fn currency(&self) -> Result<Currency, SettingsError> {
        Currency::in_hundredths(&self.currency).map_err(SettingsError::BadCurrency)
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

const fn vend_timeout_ms() -> u64 {
    120_000
}

const fn enquiry_timeout_ms() -> u64 {
    10_000
}

const fn connect_timeout_ms() -> u64 {
    5_000
}

const fn tax_included() -> bool {
    true
}

fn electricity_unit() -> String {
    "kWh".to_owned()
}

fn water_unit() -> String {
    "kl".to_owned()
}
