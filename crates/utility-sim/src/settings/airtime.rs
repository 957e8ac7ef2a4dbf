//! The behaviour of the simulated airtime aggregator.

use serde::Deserialize;

use super::Password;

/// All settings of the aggregator. Its account is in the simulator's currency.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AirtimeSettings {
    /// The client that may get access tokens.
    pub client_id: String,
    /// The secret of the client.
    pub client_secret: Password,
    /// The required audience of access tokens. The default accepts any URL whose path is `/reloadly/topups`.
    pub audience: Option<String>,
    /// The lifetime of an access token, in seconds.
    pub token_lifetime_s: u64,
    /// The account's balance at the start, in currency units.
    pub balance: String,
    /// How long a top-up is processed, in milliseconds.
    pub processing_ms: u64,
    /// How long a top-up takes to appear in the report, in milliseconds.
    pub report_lag_ms: u64,
}

impl Default for AirtimeSettings {
    fn default() -> Self {
        Self {
            client_id: "vendgate-airtime".to_owned(),
            client_secret: Password::from("sandbox-airtime-secret"),
            audience: None,
            token_lifetime_s: 86_400,
            balance: "1000000000.00".to_owned(),
            processing_ms: 30_000,
            report_lag_ms: 0,
        }
    }
}
