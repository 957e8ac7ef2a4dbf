//! The settings that affect the reading and judging of replies, validated once.

use chrono_tz::Tz;
use money::Currency;
use phonenumber::country;

use crate::fault::FaultCodes;
use crate::settings::{ReloadlySettings, SettingsError};

/// The inputs for judging a reply, except the reply and the question themselves.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) country: country::Id,
    /// The currency of top-ups.
    pub(crate) currency: Currency,
    /// The currency of our account.
    pub(crate) account_currency: Currency,
    pub(crate) fault_codes: FaultCodes,
    /// The zone of the times in the list of transactions, if it is known.
    pub(crate) report_time_zone: Option<Tz>,
}

impl Rules {
    pub(crate) fn new(settings: &ReloadlySettings) -> Result<Self, SettingsError> {
        Ok(Self {
            country: settings.country()?,
            currency: settings.currency()?,
            account_currency: settings.account_currency()?,
            fault_codes: FaultCodes::new(&settings.fault_codes)?,
            report_time_zone: settings.report_time_zone()?,
        })
    }
}
