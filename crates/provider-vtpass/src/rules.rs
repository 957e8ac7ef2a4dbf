//! The settings that affect the judging of replies, validated once.

use money::Currency;

use crate::codes::{Meaning, meaning};
use crate::settings::{SettingsError, VtpassSettings};

/// The inputs for judging a reply, except the reply and the question themselves.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    /// The vendor sells in naira and states no currency.
    pub(crate) currency: Currency,
    pub(crate) electricity_unit: String,
    pub(crate) meter_number_is_compared: bool,
    refusals_without_request_id: Vec<String>,
}

impl Rules {
    pub(crate) fn new(settings: &VtpassSettings) -> Result<Self, SettingsError> {
        for code in &settings.refusals_without_request_id {
            if !matches!(meaning(code), Meaning::Refused(_)) {
                return Err(SettingsError::NoRefusal(code.clone()));
            }
        }
        Ok(Self {
            currency: Currency::in_hundredths("NGN").expect("the naira has an ISO 4217 code"),
            electricity_unit: settings.electricity_unit.clone(),
            meter_number_is_compared: settings.meter_number_is_compared,
            refusals_without_request_id: settings.refusals_without_request_id.clone(),
        })
    }

    /// Whether the operator knows that this code refuses an order although the answer has no request id.
    pub(crate) fn refuses_without_request_id(&self, code: &str) -> bool {
        self.refusals_without_request_id.iter().any(|listed| listed == code)
    }
}
