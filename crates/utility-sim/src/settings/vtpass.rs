//! The behaviour of the simulated aggregator of electricity.

use serde::Deserialize;

use super::Password;

/// All settings of the aggregator. Its account is in naira. Its meters and its price of a kWh are those of the utility.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VtpassSettings {
    /// The API key of the account.
    pub api_key: Password,
    /// The secret key of the account.
    pub secret_key: Password,
    /// The only service that it sells.
    pub service_id: String,
    /// The account's balance at the start, in naira.
    pub balance: String,
    /// How long an order is processed if a script asks for it, in milliseconds.
    pub processing_ms: u64,
    /// Whether a request id must begin with today's date in Nigeria, as at the vendor.
    pub check_date: bool,
}

impl Default for VtpassSettings {
    fn default() -> Self {
        Self {
            api_key: Password::from("sandbox-vtpass-key"),
            secret_key: Password::from("SK_sandbox-vtpass-secret"),
            service_id: "ikeja-electric".to_owned(),
            balance: "1000000000.00".to_owned(),
            processing_ms: 30_000,
            check_date: true,
        }
    }
}
