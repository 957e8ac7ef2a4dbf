//! The test environment: a simulated aggregator and an adapter that is connected to it.

use provider_vtpass::{Vtpass, VtpassSettings};
use test_kit::simulator::AdapterEnv;
use utility_sim::SimulatorSettings;
use vend::Product;

use crate::connection::{adapter, settings};

pub type TestEnv = AdapterEnv<Vtpass>;

pub fn start_env(settings: &SimulatorSettings) -> TestEnv {
    AdapterEnv::start(settings, Product::Electricity, |simulator| {
        adapter(&connection_to(&simulator.vtpass_url(), settings))
    })
}

/// All calls of a test are of the same second, which is in the past.
pub fn simulator() -> SimulatorSettings {
    let mut settings = SimulatorSettings::default();
    settings.vtpass.check_date = false;
    settings
}

pub fn connection_to(base_url: &str, simulator: &SimulatorSettings) -> VtpassSettings {
    VtpassSettings {
        api_key: simulator.vtpass.api_key.expose().into(),
        secret_key: simulator.vtpass.secret_key.expose().into(),
        ..settings(base_url)
    }
}
