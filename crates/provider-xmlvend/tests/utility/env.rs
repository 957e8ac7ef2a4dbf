//! The test environment: a simulated utility and an adapter that is connected to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use chrono::{TimeZone, Utc};
use clock::SystemClock;
use money::Money;
use provider::Gate;
use provider_xmlvend::{Credentials, LineDescriptions, SoapVersion, XmlVend, XmlVendSettings};
use serde_json::Value;
use utility_sim::{Simulator, SimulatorSettings};
use vend::{CallId, Product, ProviderReference, Sale, SubscriberIdentifier, VendOrder};

use crate::connection::{adapter, settings};

pub struct TestEnv {
    pub provider: XmlVend,
    pub simulator: Simulator,
    pub web: reqwest::Client,
    calls: AtomicU32,
}

impl TestEnv {
    pub fn open(settings: &SimulatorSettings, soap: SoapVersion) -> Self {
        let simulator = Simulator::start(settings, Arc::new(SystemClock)).unwrap();
        let connection = XmlVendSettings { soap, ..connection_to(&simulator.xmlvend_url(), settings) };
        // The adapter comes first, because it installs the TLS provider that every client needs.
        let provider = adapter(connection);
        let web = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { provider, simulator, web, calls: AtomicU32::new(0) }
    }

    pub fn call(&self) -> CallId {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        CallId::new(number, Utc.with_ymd_and_hms(2026, 11, 20, 9, 30, 0).unwrap()).unwrap()
    }

    pub fn order_for(&self, meter: &str, amount: &str) -> VendOrder {
        VendOrder { reference: ProviderReference::new(self.call()), sale: sale_for(meter, amount) }
    }

    /// Adds a line to the simulator's script.
    pub async fn script(&self, line: Value) {
        let request = self.web.post(format!("{}/faults", self.simulator.url())).body(line.to_string());
        assert_eq!(request.send().await.unwrap().status(), 204);
    }

    /// The vends that were made, from the simulator's log.
    pub async fn vends(&self) -> Vec<Value> {
        let answer = self.web.get(format!("{}/vends", self.simulator.url())).send().await.unwrap();
        let log: Vec<Value> = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        log.into_iter().filter(|line| line["outcome"] == "vended").collect()
    }
}

pub fn sale_for(meter: &str, amount: &str) -> Sale {
    Sale {
        product: Product::Electricity,
        subscriber: SubscriberIdentifier::parse(meter).unwrap(),
        amount: Money::parse_wire(amount).unwrap(),
    }
}

pub fn open() -> Gate {
    Gate::while_true(|| true)
}

pub fn connection_to(endpoint: &str, simulator: &SimulatorSettings) -> XmlVendSettings {
    let password = simulator.password.expose().into();
    let credentials = Credentials { op_name: simulator.op_name.clone(), password };
    let lines =
        LineDescriptions { levy: vec!["Electrification levy".to_owned()], ..LineDescriptions::default() };
    XmlVendSettings { credentials: Some(credentials), lines, ..settings(endpoint) }
}
