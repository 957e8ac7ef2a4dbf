//! The test environment: a simulated aggregator and an adapter that is connected to it.

use std::sync::Arc;

use clock::SystemClock;
use provider_reloadly::{Reloadly, ReloadlySettings};
use test_kit::simulator::AdapterEnv;
use utility_sim::SimulatorSettings;
use vend::Product;

use crate::connection::{adapter, settings};

pub type TestEnv = AdapterEnv<Reloadly>;

pub fn start_env(settings: &SimulatorSettings) -> TestEnv {
    AdapterEnv::start(settings, Product::Airtime, |simulator| {
        adapter(&connection_to(&simulator.url(), settings), Arc::new(SystemClock))
    })
}

pub fn connection_to(host: &str, simulator: &SimulatorSettings) -> ReloadlySettings {
    ReloadlySettings {
        client_id: simulator.airtime.client_id.clone(),
        client_secret: simulator.airtime.client_secret.expose().into(),
        ..settings(host)
    }
}
