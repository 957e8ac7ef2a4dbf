//! How the simulated world behaves, and where it listens.

use std::{fmt, net::SocketAddr, path::PathBuf};

use money::{Currency, Money, MoneyError};
use rust_decimal::Decimal;
use serde::Deserialize;

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
    /// The vendor's prepaid float at the start, in currency units.
    pub vendor_credit: String,
    /// How long the delayed meter keeps its caller waiting after it has vended.
    pub delayed_ms: u64,
    /// How many ordinary meters exist beside the scenarios; [`population`](crate::population) lists them.
    pub population: u32,
    /// Whether replies are compressed for clients that accept it.
    pub gzip: bool,
    /// Which replies are remembered, so that an advice finds them and a repeated message id is noticed.
    pub remembers: Remembers,
    /// What happens when a vend comes again under a remembered message id.
    pub on_repeat: OnRepeat,
    /// A file to which each vend is appended, one JSON line, before its answer is sent.
    pub vend_log: Option<PathBuf>,
    /// Whether each line is also forced to the disk.
    pub vend_log_fsync: bool,
}

/// Which replies to vends the utility remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remembers {
    /// Successes and refusals.
    #[default]
    Everything,
    /// Successes only: a refused message id may be used again, and an advice does not find it.
    Vends,
    /// None: no advice finds anything, and every repeat vends again.
    Nothing,
}

/// What the utility does with a vend whose message id it remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
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
            vendor_credit: "1000000000.00".to_owned(),
            delayed_ms: 95_000,
            population: 0,
            gzip: true,
            remembers: Remembers::Everything,
            on_repeat: OnRepeat::Reject,
            vend_log: None,
            vend_log_fsync: false,
        }
    }
}

impl SimulatorSettings {
    pub(crate) fn currency(&self) -> Result<Currency, SettingsError> {
        Currency::parse(&self.currency).map_err(SettingsError::Currency)
    }

    pub(crate) fn price_per_kwh(&self) -> Result<Decimal, SettingsError> {
        self.amount("price_per_kwh", &self.price_per_kwh).map(Money::to_decimal)
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
