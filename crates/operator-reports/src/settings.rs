//! The settings of the tool: the address of the database with its login, and the key that seals tokens.

use std::path::Path;

use boot::SettingsError;
use chrono_tz::Tz;
use database::DatabaseSettings;
use secrecy::SecretString;
use serde::Deserialize;
use store::{MESSAGES_PER_DAY, MESSAGES_PER_DAY_MAX, SealingSettings, TOKENS_PER_DAY, TOKENS_PER_DAY_MAX};

use crate::parse::{self, Amount};

/// The tool's part of a settings file. The file may also contain the settings of other programs.
#[derive(Debug, Deserialize)]
pub struct Settings {
    pub operator: OperatorSettings,
    /// The same section as the servers'. Only a decision that enters a token needs it.
    pub sealing: Option<SealingSettings>,
}

/// How the operator reaches the database.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperatorSettings {
    /// `postgres://login:password@host/name`, where the login is a member of `vendgate_support`, `vendgate_finance`,
    /// `vendgate_administrator`, or of `vendgate_operator`, which is all three.
    pub database_url: SecretString,
    /// A person for whom the login acts, as a note in the audit log, unless `--on-behalf-of` names another one. The actor is the
    /// login, whatever is written here.
    #[serde(default)]
    pub actor: Option<String>,
    /// The zone of times that are shown, and of those that are typed without an offset, by its IANA name: that of the servers. Without it,
    /// `Africa/Gaborone`.
    #[serde(default)]
    pub time_zone: Option<String>,
    /// The greatest amount of one payment, correction or reversal, in any currency. Without it, `10000000.00`.
    #[serde(default)]
    pub amount_max: Option<String>,
    /// How often the message with the token of one purchase may be sent again within a day, by integrators and operators together:
    /// what the servers have as `messages_per_day`. Without it, 3. Zero: never. More than 10 counts as 10.
    #[serde(default)]
    pub messages_per_day: Option<u16>,
    /// How many tokens an operator with `vendgate_token_reader` may be shown within a day, counted by the login. Without it, 20. Zero:
    /// none. More than 100 counts as 100.
    #[serde(default)]
    pub tokens_per_day: Option<u16>,
    /// Where the browsers of operators reach the console, without a slash at its end: the `console.public_url` of its settings.
    /// `console link` begins with it. Without it, `http://127.0.0.1:8090`.
    #[serde(default)]
    pub console_url: Option<String>,
}

const USUAL_TIME_ZONE: &str = "Africa/Gaborone";
const USUAL_AMOUNT_MAX: &str = "10000000.00";
const USUAL_CONSOLE_URL: &str = "http://127.0.0.1:8090";

impl OperatorSettings {
    pub(crate) fn messages_per_day(&self) -> u8 {
        at_most(self.messages_per_day, MESSAGES_PER_DAY, MESSAGES_PER_DAY_MAX)
    }

    pub(crate) fn tokens_per_day(&self) -> u8 {
        at_most(self.tokens_per_day, TOKENS_PER_DAY, TOKENS_PER_DAY_MAX)
    }

    pub fn amount_max(&self) -> Result<Amount, BadCeiling> {
        let text = self.amount_max.as_deref().unwrap_or(USUAL_AMOUNT_MAX);
        parse::amount(text).map_err(|_unreadable| BadCeiling(text.to_owned()))
    }

    pub fn console_url(&self) -> &str {
        self.console_url.as_deref().unwrap_or(USUAL_CONSOLE_URL)
    }

    pub fn zone(&self) -> Result<Tz, UnknownTimeZone> {
        zone_named(self.time_zone.as_deref())
    }
}

/// The zone with the name that `operator.time_zone` has.
pub fn zone_named(name: Option<&str>) -> Result<Tz, UnknownTimeZone> {
    let name = name.unwrap_or(USUAL_TIME_ZONE);
    name.parse().map_err(|_unknown| UnknownTimeZone(name.to_owned()))
}

fn at_most(set: Option<u16>, usual: u8, most: u8) -> u8 {
    set.map_or(usual, |set| u8::try_from(set).unwrap_or(most)).min(most)
}

/// A ceiling that is no amount.
#[derive(Debug, thiserror::Error)]
#[error("amount_max `{0}` is not an amount; write it like \"10000000.00\"")]
pub struct BadCeiling(String);

/// The name of a time zone that there is not.
#[derive(Debug, thiserror::Error)]
#[error("time_zone `{0}` is not the IANA name of a time zone")]
pub struct UnknownTimeZone(String);

impl Settings {
    /// Reads the settings from `file`, if there is one, and from the environment, which takes precedence.
    pub fn load(file: Option<&Path>) -> Result<Self, SettingsError> {
        boot::load_checked(file, |settings: &Self, review| {
            let database_url = settings.operator.database_url.clone();
            review.section("operator", || DatabaseSettings::for_database(database_url).checked());
            review.section("operator", || settings.operator.zone().map(drop));
            review.section("operator", || settings.operator.amount_max().map(drop));
            if let Some(sealing) = &settings.sealing {
                review.section("sealing", || sealing.keys().map(drop));
            }
        })
    }
}
