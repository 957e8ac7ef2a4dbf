//! What a deployment says about its gateway.

use money::Currency;
use provider_http::{TransportError, Url};
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
    /// Where requests are posted.
    pub endpoint: String,
    /// Who we are at the gateway; message ids are unique per client.
    pub client: DeviceId,
    /// The terminal that all our sales come from.
    pub terminal: DeviceId,
    /// The operator's name and password, where the gateway wants them beside the TLS certificate.
    #[serde(default)]
    pub credentials: Option<Credentials>,
    /// Client certificate and key, PEM, one after the other, where the gateway wants them.
    #[serde(default)]
    pub client_certificate_pem: Option<SecretString>,
    /// A certificate authority, PEM, trusted beside those of the machine.
    #[serde(default)]
    pub extra_root_certificate_pem: Option<String>,
    /// The envelope to write; both are read.
    #[serde(default)]
    pub soap: SoapVersion,
    /// ISO 4217 code that the gateway sells in, for amounts that it sends without a symbol.
    pub currency: String,
    /// Longest wait for a vend, connecting included. Meters that answer late are late by 95 s.
    #[serde(default = "vend_timeout_ms")]
    pub vend_timeout_ms: u64,
    /// Longest wait for anything that moves no money.
    #[serde(default = "enquiry_timeout_ms")]
    pub enquiry_timeout_ms: u64,
    /// Longest wait for a connection, within the others.
    #[serde(default = "connect_timeout_ms")]
    pub connect_timeout_ms: u64,
    /// Whether a transaction's `amt` includes its `tax`; the standard is silent.
    #[serde(default = "tax_included")]
    pub tax_included: bool,
    /// Which service-charge lines are taxes, levies and regulator's fees.
    #[serde(default)]
    pub lines: LineDescriptions,
    /// The unit of electricity where the gateway names none.
    #[serde(default = "electricity_unit")]
    pub electricity_unit: String,
    /// The unit of water where the gateway names none: `kl`, `m3` or `L`. We tell litres.
    #[serde(default = "water_unit")]
    pub water_unit: String,
    /// What this gateway means by texts in its faults; asked before the built-in table.
    #[serde(default)]
    pub fault_texts: Vec<FaultText>,
}

/// How XMLVend names a client or a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceId {
    /// A 13-digit article number, or what a gateway uses in its place.
    Ean(String),
    /// A name of the gateway's own choosing.
    Id(String),
}

/// What goes into `authCred`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Credentials {
    /// 1 to 10 characters.
    pub op_name: String,
    /// 6 to 15 characters.
    pub password: SecretString,
}

/// SOAP's two envelopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum SoapVersion {
    /// What the standard asks for.
    #[default]
    #[serde(rename = "1.1")]
    V1_1,
    /// What some gateways speak.
    #[serde(rename = "1.2")]
    V1_2,
}

/// Descriptions of service-charge lines, compared whole and without regard to case.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LineDescriptions {
    /// Value added tax that comes as a line of its own.
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

/// Why settings describe no usable connection.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// Neither http nor https, or no address at all.
    #[error("the XMLVend endpoint is not an http or https address")]
    BadEndpoint,
    /// Not an ISO 4217 code.
    #[error("the XMLVend currency is not usable")]
    BadCurrency(#[source] money::MoneyError),
    /// A timeout of nothing, or a connection that may take longer than the whole.
    #[error("the XMLVend timeouts are not 0 < connect <= enquiry <= vend")]
    BadTimeouts,
    /// A text of nothing would match every fault.
    #[error("an XMLVend fault text is empty")]
    EmptyFaultText,
    /// Not a refusal reason's name, `repeated_reference` or `still_open`.
    #[error("{0:?} is not a meaning that an XMLVend fault text can have")]
    UnknownMeaning(String),
    /// Water that could not be told in litres.
    #[error("{0:?} does not measure water")]
    BadWaterUnit(String),
    /// No TLS in this process, or certificates that cannot be read.
    #[error("the XMLVend client cannot be built")]
    Client(#[source] TransportError),
}

impl XmlVendSettings {
    pub(crate) fn endpoint_url(&self) -> Result<Url, SettingsError> {
        let url = Url::parse(&self.endpoint).map_err(|_not_a_url| SettingsError::BadEndpoint)?;
        if matches!(url.scheme(), "http" | "https") { Ok(url) } else { Err(SettingsError::BadEndpoint) }
    }

    pub(crate) fn currency(&self) -> Result<Currency, SettingsError> {
        Currency::parse(&self.currency).map_err(SettingsError::BadCurrency)
    }

    pub(crate) fn check_timeouts(&self) -> Result<(), SettingsError> {
        let in_order = 0 < self.connect_timeout_ms
            && self.connect_timeout_ms <= self.enquiry_timeout_ms
            && self.enquiry_timeout_ms <= self.vend_timeout_ms;
        if in_order { Ok(()) } else { Err(SettingsError::BadTimeouts) }
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
