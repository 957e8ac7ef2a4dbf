//! What a deployment's settings say about reading and judging, checked once.

use money::Currency;
use phonenumber::country;

use crate::fault::FaultCodes;
use crate::settings::{ReloadlySettings, SettingsError};

/// Everything that judging a reply depends on besides the reply and the question.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) country: country::Id,
    /// What phones are topped up in.
    pub(crate) currency: Currency,
    /// What our account is charged in.
    pub(crate) account_currency: Currency,
    pub(crate) fault_codes: FaultCodes,
}

impl Rules {
    pub(crate) fn new(settings: &ReloadlySettings) -> Result<Self, SettingsError> {
        Ok(Self {
            country: settings.country()?,
            currency: settings.currency()?,
            account_currency: settings.account_currency()?,
            fault_codes: FaultCodes::new(&settings.fault_codes)?,
        })
    }
}
