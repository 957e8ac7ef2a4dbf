//! How the simulated world behaves, and where it listens.

mod airtime;
mod messages;

pub use airtime::AirtimeSettings;
pub use messages::MessageSettings;

use std::{fmt, net::SocketAddr, path::PathBuf};

use money::{Currency, Money, MoneyError};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// Everything that can be set; the defaults are a well-behaved utility on a free loopback port.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SimulatorSettings {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Threads that serve requests.
    pub workers: usize,
    /// The operator name that requests must carry in `authCred`.
    pub op_name: String,
    /// The password that goes with it.
    pub password: Password,
    /// The currency that meters are vended in, ISO 4217.
    pub currency: String,
    /// What a kWh costs, tax included, in currency units.
    pub price_per_kwh: String,
    /// What a cubic metre of water costs, tax included, in currency units.
    pub price_per_cubic_metre: String,
    /// The vendor's prepaid float with the utility at the start, in currency units.
    pub vendor_credit: String,
    /// How long the delayed meter keeps its caller waiting after it has vended.
    pub delayed_ms: u64,
    /// How many ordinary electricity meters exist beside the scenarios; [`ordinary`](crate::ordinary) lists them.
    pub population: u32,
    /// How many ordinary water meters exist beside the scenarios.
    pub water_population: u32,
    /// Whether replies are compressed for clients that accept it.
    pub gzip: bool,
    /// Which replies are remembered, so that an enquiry finds them and a repeated reference is noticed.
    pub remembers: Remembers,
    /// What happens when a vend comes again under a remembered reference.
    pub on_repeat: OnRepeat,
    /// A file to which each vend is appended, one JSON line, before its answer is sent. What it holds at the start is
    /// remembered, as if the world had never ended.
    pub vend_log: Option<PathBuf>,
    /// A file to which all else is appended that must be remembered beside the vends: what was typed into meters, and
    /// what was said about memory. It belongs to the vend log.
    pub event_log: Option<PathBuf>,
    /// Whether each line is also forced to the disk.
    pub vend_log_fsync: bool,
    /// The airtime aggregator.
    pub airtime: AirtimeSettings,
    /// The SMS gateway and the mail server.
    pub messages: MessageSettings,
}

/// Which replies to vends the world remembers.
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

/// What is done with a vend whose reference is remembered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnRepeat {
    /// Refuses it as a duplicate, without saying what became of the first.
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

/// Why settings describe no possible world.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// Not three upper-case letters.
    #[error("the simulator's currency is not a currency code")]
    Currency(#[source] MoneyError),
    /// Not a positive decimal number of currency units.
    #[error("the simulator's {name} {value:?} is not a positive amount")]
    Amount {
        /// Which setting.
        name: &'static str,
        /// What it says.
        value: String,
    },
}

impl Default for SimulatorSettings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
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
            messages: MessageSettings::default(),
        }
    }
}

impl SimulatorSettings {
    /// Checked at start-up.
    ///
    /// # Errors
    /// When they describe no possible world.
    pub fn checked(&self) -> Result<(), SettingsError> {
        self.price_per_kwh()?;
        self.price_per_cubic_metre()?;
        self.vendor_credit()?;
        self.airtime_balance().map(drop)
    }

    pub(crate) fn currency(&self) -> Result<Currency, SettingsError> {
        Currency::parse(&self.currency).map_err(SettingsError::Currency)
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

    pub(crate) fn vendor_credit(&self) -> Result<Money, SettingsError> {
        self.amount("vendor_credit", &self.vendor_credit)
    }

    fn amount(&self, name: &'static str, value: &str) -> Result<Money, SettingsError> {
        money::parse_amount(value, self.currency()?)
            .map_err(|_why| SettingsError::Amount { name, value: value.to_owned() })
    }
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
