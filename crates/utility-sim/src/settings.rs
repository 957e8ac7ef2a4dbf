//! The behaviour of the simulator, and where it listens.

mod airtime;
mod messages;
mod tls;
mod vtpass;

pub use airtime::AirtimeSettings;
pub use messages::MessageSettings;
pub use tls::TlsSettings;
pub use vtpass::VtpassSettings;

use std::{fmt, net::SocketAddr, path::PathBuf};

use money::{Currency, Money, MoneyError};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// All settings of the simulator. The defaults are a simulator without faults on a free loopback port.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SimulatorSettings {
    /// The address to listen on. Port 0 takes a free port.
    pub listen: SocketAddr,
    /// An additional address with TLS, if there is one.
    pub tls: Option<TlsSettings>,
    /// Threads that serve requests.
    pub workers: usize,
    /// The operator name that requests must carry in `authCred`.
    pub op_name: String,
    /// The password for `op_name`.
    pub password: Password,
    /// The currency that meters are vended in, ISO 4217.
    pub currency: String,
    /// The price of a kWh, tax included, in currency units.
    pub price_per_kwh: String,
    /// The price of a cubic metre of water, tax included, in currency units.
    pub price_per_cubic_metre: String,
    /// The vendor's prepaid float with the utility at the start, in currency units.
    pub vendor_credit: String,
    /// How long the delayed meter delays its answer after the vend, in milliseconds.
    pub delayed_ms: u64,
    /// The number of ordinary electricity meters besides the scenarios. [`ordinary`](crate::ordinary) lists them.
    pub population: u32,
    /// The number of ordinary water meters besides the scenarios.
    pub water_population: u32,
    /// Whether replies are compressed for clients that accept it.
    pub gzip: bool,
    /// Which replies are remembered, so that an enquiry finds them and a repeated reference is noticed.
    pub remembers: Remembers,
    /// How a vend with a remembered reference is handled.
    pub on_repeat: OnRepeat,
    /// A file to which each vend is appended as one JSON line before its answer is sent. Its content at start-up is
    /// restored, as if the simulator had never stopped.
    pub vend_log: Option<PathBuf>,
    /// A file for all other events that must be restored: the tokens entered into meters and the changes of the memory
    /// settings. It belongs to the vend log.
    pub event_log: Option<PathBuf>,
    /// Whether each line of the vend log is also synced to the disk.
    pub vend_log_fsync: bool,
    /// The airtime aggregator.
    pub airtime: AirtimeSettings,
    /// The aggregator of electricity.
    pub vtpass: VtpassSettings,
    /// The SMS gateway and the mail server.
    pub messages: MessageSettings,
}

/// Which replies to vends the simulator remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remembers {
    /// Successes and refusals.
    #[default]
    Everything,
    /// Successes only: a refused reference may be used again, and an enquiry does not find it.
    Vends,
    /// None: no enquiry finds anything, and every repeat vends again.
    Nothing,
}

/// How a vend with a remembered reference is handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnRepeat {
    /// Refuses it as a duplicate, without the outcome of the first.
    #[default]
    Reject,
    /// Sends the remembered reply.
    Replay,
    /// Vends a second time.
    VendAgain,
}

/// A password that `Debug` does not show.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Password(String);

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// Not three upper-case letters.
    #[error("the simulator's currency is not a currency code")]
    Currency(#[source] MoneyError),
    /// Not a positive decimal number of currency units.
    #[error("the simulator's {name} {value:?} is not a positive amount")]
    Amount {
        /// The name of the setting.
        name: &'static str,
        /// Its value.
        value: String,
    },
}

impl Default for SimulatorSettings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            tls: None,
            workers: 1,
            op_name: "vendgate".to_owned(),
            password: Password::from("sandbox1"),
            currency: "BWP".to_owned(),
            price_per_kwh: "1.50".to_owned(),
            price_per_cubic_metre: "25.00".to_owned(),
            vendor_credit: "1000000000.00".to_owned(),
            delayed_ms: 95_000,
            population: 0,
            water_population: 0,
            gzip: true,
            remembers: Remembers::Everything,
            on_repeat: OnRepeat::Reject,
            vend_log: None,
            event_log: None,
            vend_log_fsync: false,
            airtime: AirtimeSettings::default(),
            vtpass: VtpassSettings::default(),
            messages: MessageSettings::default(),
        }
    }
}

impl SimulatorSettings {
    /// Checks the settings at start-up.
    ///
    /// # Errors
    /// When they cannot be used.
    pub fn checked(&self) -> Result<(), SettingsError> {
        self.price_per_kwh()?;
        self.price_per_cubic_metre()?;
        self.vendor_credit()?;
        self.airtime_balance()?;
        self.vtpass_balance(self.currency()?).map(drop)
    }

    pub(crate) fn currency(&self) -> Result<Currency, SettingsError> {
        Currency::in_hundredths(&self.currency).map_err(SettingsError::Currency)
    }

    pub(crate) fn price_per_kwh(&self) -> Result<Decimal, SettingsError> {
        self.amount("price_per_kwh", &self.price_per_kwh).map(Money::to_decimal)
    }

    pub(crate) fn price_per_cubic_metre(&self) -> Result<Decimal, SettingsError> {
        self.amount("price_per_cubic_metre", &self.price_per_cubic_metre).map(Money::to_decimal)
    }

    pub(crate) fn airtime_balance(&self) -> Result<Money, SettingsError> {
        self.amount("airtime balance", &self.airtime.balance)
    }

    pub(crate) fn vtpass_balance(&self, currency: Currency) -> Result<Money, SettingsError> {
        amount("vtpass balance", &self.vtpass.balance, currency)
    }

    pub(crate) fn vendor_credit(&self) -> Result<Money, SettingsError> {
        self.amount("vendor_credit", &self.vendor_credit)
    }

    fn amount(&self, name: &'static str, value: &str) -> Result<Money, SettingsError> {
        amount(name, value, self.currency()?)
    }
}

fn amount(name: &'static str, value: &str, currency: Currency) -> Result<Money, SettingsError> {
    money::parse_amount(value, currency)
        .map_err(|_why| SettingsError::Amount { name, value: value.to_owned() })
}

impl Password {
    /// The password itself, to compare or to send.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Password {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Password(***)")
    }
}
