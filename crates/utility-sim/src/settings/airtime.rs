//! How the simulated airtime aggregator behaves.

use serde::Deserialize;

use super::Password;

/// Everything about the aggregator that can be set. Its account is held in the world's currency.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AirtimeSettings {
    /// The client that may have access tokens.
    pub client_id: String,
    /// The secret that goes with it.
    pub client_secret: Password,
    /// The audience that access tokens must be asked for; if not set, any URL whose path is `/reloadly/topups`.
    pub audience: Option<String>,
    /// How long an access token lasts.
    pub token_lifetime_s: u64,
    /// The account's balance at the start, in currency units.
    pub balance: String,
    /// How long a top-up that is being processed stays so.
    pub processing_ms: u64,
    /// How long a top-up takes to appear in the report.
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
