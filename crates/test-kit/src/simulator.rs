//! An adapter of a provider, connected to a simulator that a test scripts.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use chrono::DateTime;
use clock::{Clock as _, SystemClock};
use money::Money;
use provider::{Gate, Provider, conformance::Made};
use serde_json::Value;
use utility_sim::{OnRepeat, Remembers, Simulator, SimulatorSettings, VendResult};
use vend::{
    CallId, Capabilities, Doubt, Enquiry, Product, ProviderReference, Sale, SubscriberIdentifier, VendOrder,
};

/// What every simulated vendor can do after it has vended, by the name of the fault, and the doubt that is left.
pub const MISHAPS_AFTER_VENDING: [(&str, Doubt); 10] = [
    ("drop_after", Doubt::ConnectionLost),
    ("truncated", Doubt::ConnectionLost),
    ("garbage", Doubt::Unreadable),
    ("oversized", Doubt::Unreadable),
    ("http_500_after", Doubt::Unreadable),
    ("system_ex_after", Doubt::UnlistedFault),
    ("wrong_meter", Doubt::Mismatched),
    ("wrong_amount", Doubt::Mismatched),
    ("wrong_currency", Doubt::Mismatched),
    ("wrong_reference", Doubt::Mismatched),
];

/// A simulator, and an adapter that is connected to it.
#[derive(Debug)]
pub struct AdapterEnv<P> {
    /// The adapter.
    pub provider: P,
    /// The simulator.
    pub simulator: Simulator,
    sells: Product,
    web: reqwest::Client,
    calls: AtomicU32,
}

impl<P> AdapterEnv<P> {
    /// Starts a simulator, and has the test connect its adapter to it. The orders of the test are for `sells`.
    pub fn start(
        settings: &SimulatorSettings,
        sells: Product,
        connect: impl FnOnce(&Simulator) -> P,
    ) -> Self {
        let simulator =
            Simulator::start(settings, Arc::new(SystemClock)).expect("a simulator finds a free port");
        // The adapter comes first, because connecting it installs the TLS provider that every client needs.
        let provider = connect(&simulator);
        let web = reqwest::Client::builder().no_proxy().build().expect("a client needs no settings");
        Self { provider, simulator, sells, web, calls: AtomicU32::new(0) }
    }

    /// The next call id, all of the same second.
    pub fn call(&self) -> CallId {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let at = DateTime::parse_from_rfc3339("2026-11-20T09:30:00Z").expect("a moment").to_utc();
        CallId::new(number, at).expect("a test makes few calls")
    }

    /// An order under a new reference.
    pub fn order(&self, sale: Sale) -> VendOrder {
        VendOrder { reference: ProviderReference::new(self.call()), sale }
    }

    /// An order of the usual product under a new reference. The amount is written as on the wire.
    pub fn order_for(&self, subscriber: &str, amount: &str) -> VendOrder {
        self.order(sale(self.sells, subscriber, amount))
    }

    /// Adds a line to the simulator's script.
    pub async fn script(&self, line: Value) {
        let request = self.web.post(self.url("faults")).body(line.to_string());
        let answer = request.send().await.expect("the simulator answers");
        assert_eq!(answer.status(), 204, "{line}");
    }

    /// Removes every line of the simulator's script.
    pub async fn forget_script(&self) {
        let answer = self.web.delete(self.url("faults")).send().await.expect("the simulator answers");
        assert_eq!(answer.status(), 204);
    }

    /// The vends that were made, from the simulator's log.
    pub async fn vends(&self) -> Vec<Value> {
        let answer = self.web.get(self.url("vends")).send().await.expect("the simulator answers");
        let log = answer.bytes().await.expect("the simulator sends its log");
        let log: Vec<Value> = serde_json::from_slice(&log).expect("the log is a list");
        let is_vended = |line: &Value| line.get("outcome").and_then(Value::as_str) == Some("vended");
        log.into_iter().filter(is_vended).collect()
    }

    /// The same, for the judgement of an adapter.
    pub fn made(&self) -> Vec<Made> {
        let vends = self.simulator.vends().into_iter().filter(|vend| vend.outcome == VendResult::Vended);
        vends.map(|vend| Made { reference: vend.reference, tokens: vend.tokens }).collect()
    }

    fn url(&self, of: &str) -> String {
        format!("{}/{of}", self.simulator.url())
    }
}

impl<P: Provider> AdapterEnv<P> {
    /// Sends enquiries until the order is no longer open.
    pub async fn settled(&self, order: &VendOrder) -> Enquiry {
        let started = SystemClock.monotonic();
        loop {
            let enquiry = self.provider.enquire(self.call(), order).await;
            if enquiry != Enquiry::StillOpen {
                return enquiry;
            }
            let waited = SystemClock.monotonic().elapsed_since(started);
            assert!(waited < Duration::from_secs(10), "still open after {waited:?}");
            tokio::task::yield_now().await;
        }
    }
}

/// A sale for this subscriber. The amount is written as on the wire.
pub fn sale(product: Product, subscriber: &str, amount: &str) -> Sale {
    Sale {
        product,
        subscriber: SubscriberIdentifier::parse(subscriber).expect("a subscriber identifier"),
        amount: Money::parse_wire(amount).expect("an amount as on the wire"),
    }
}

/// A gate that stays open.
pub fn open() -> Gate {
    Gate::while_true(|| true)
}

/// What a simulator with these settings does in doubt, so what its connection may be declared to do.
pub fn capabilities(settings: &SimulatorSettings) -> Capabilities {
    let remembers_vends = settings.remembers != Remembers::Nothing;
    Capabilities {
        repeat_is_safe: remembers_vends && settings.on_repeat != OnRepeat::VendAgain,
        remembers_refusals: settings.remembers == Remembers::Everything,
        not_found_counts: remembers_vends,
        ..Capabilities::NONE
    }
}
