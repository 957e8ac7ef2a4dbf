//! The test environment: a simulated utility and an adapter that is connected to it.

use provider_xmlvend::{Credentials, LineDescriptions, SoapVersion, XmlVend, XmlVendSettings};
use test_kit::simulator::AdapterEnv;
use utility_sim::SimulatorSettings;
use vend::Product;

use crate::connection::{adapter, settings};

pub type TestEnv = AdapterEnv<XmlVend>;

pub fn start_env(settings: &SimulatorSettings, soap: SoapVersion) -> TestEnv {
    AdapterEnv::start(settings, Product::Electricity, |simulator| {
        adapter(XmlVendSettings { soap, ..connection_to(&simulator.xmlvend_url(), settings) })
    })
}

pub fn connection_to(endpoint: &str, simulator: &SimulatorSettings) -> XmlVendSettings {
    let password = simulator.password.expose().into();
    let credentials = Credentials { op_name: simulator.op_name.clone(), password };
    let lines =
        LineDescriptions { levy: vec!["Electrification levy".to_owned()], ..LineDescriptions::default() };
    XmlVendSettings { credentials: Some(credentials), lines, ..settings(endpoint) }
}
