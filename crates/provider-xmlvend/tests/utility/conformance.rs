//! The adapter keeps the port's laws against the simulated utility, however that behaves.

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use provider::Provider;
use provider::conformance::{Mishap, World, judge};
use provider_xmlvend::SoapVersion;
use serde_json::json;
use utility_sim::{OnRepeat, Remembers, SimulatorSettings, scenario, water_scenarios};
use vend::{CallId, Capabilities, Product, Sale};

use crate::connection::adapter;
use crate::town::{Town, connection_to, sale_for};

struct Utility {
    town: Town,
    settings: SimulatorSettings,
    sells_water: bool,
    next_is_blocked: AtomicBool,
}

impl Utility {
    fn open(settings: SimulatorSettings) -> Self {
        Self {
            town: Town::open(&settings, SoapVersion::V1_1),
            settings,
            sells_water: false,
            next_is_blocked: AtomicBool::new(false),
        }
    }
}

#[async_trait]
impl World for Utility {
    fn provider(&self) -> &dyn Provider {
        &self.town.provider
    }

    fn provider_of_nowhere(&self) -> Box<dyn Provider> {
        Box::new(adapter(connection_to("http://127.0.0.1:1/xmlvend", &self.settings)))
    }

    fn capabilities(&self) -> Capabilities {
        let remembers_vends = self.settings.remembers != Remembers::Nothing;
        Capabilities {
            repeat_is_safe: remembers_vends && self.settings.on_repeat != OnRepeat::VendAgain,
            remembers_refusals: self.settings.remembers == Remembers::Everything,
            not_found_counts: remembers_vends,
            ..Capabilities::NONE
        }
    }

    fn fresh_call(&self) -> CallId {
        self.town.call()
    }

    fn fresh_sale(&self) -> Sale {
        let blocked = self.next_is_blocked.swap(false, Ordering::Relaxed);
        if self.sells_water {
            return water_sale(if blocked { "blocked" } else { "active" });
        }
        let name = if blocked { "account_blocked" } else { "active_11_digit" };
        sale_for(scenario(name).unwrap().number, "BWP 100.00")
    }

    /// Water owes no token.
    async fn arrange(&self, mishap: Mishap) -> bool {
        if self.sells_water && mishap == Mishap::TokenLeftOut {
            return false;
        }
        let line = match mishap {
            Mishap::RequestLost => json!({"fault": "drop_before"}),
            Mishap::ReplyLost => json!({"fault": "drop_after"}),
            Mishap::FailsAfterVending => json!({"fault": "http_500_after"}),
            Mishap::ReplyGarbled => json!({"fault": "garbage"}),
            Mishap::AnswersAnotherReference => json!({"fault": "wrong_reference"}),
            Mishap::AnswersAnotherSubscriber => json!({"fault": "wrong_meter"}),
            Mishap::AnswersAnotherAmount => json!({"fault": "wrong_amount"}),
            Mishap::TokenLeftOut => json!({"fault": "no_token"}),
            Mishap::Refused => json!({"fault": "refuse", "exception": "BlockedMeterEx"}),
            Mishap::TrialRefused => {
                json!({"fault": "refuse", "operation": "quote", "exception": "BlockedMeterEx"})
            }
            Mishap::RefusedForAnother => {
                self.next_is_blocked.store(true, Ordering::Relaxed);
                json!({"fault": "wrong_reference"})
            }
        };
        self.town.script(line).await;
        true
    }

    async fn vends(&self) -> Vec<String> {
        let log = self.town.vends().await;
        log.iter().map(|line| line["reference"].as_str().unwrap().to_owned()).collect()
    }
}

fn water_sale(name: &str) -> Sale {
    let meter = water_scenarios().iter().find(|meter| meter.name == name).unwrap();
    Sale { product: Product::Water, ..sale_for(meter.number, "BWP 100.00") }
}

#[tokio::test]
async fn no_law_of_water_is_broken_and_none_is_left_untested() {
    let world = Utility { sells_water: true, ..Utility::open(SimulatorSettings::default()) };
    let judgement = judge(&world).await;
    assert_eq!(judgement.broken, []);
    assert_eq!(judgement.untested, ["a success without the token it owes is doubt"]);
}

#[tokio::test]
async fn no_law_is_broken_and_none_is_left_untested() {
    for on_repeat in [OnRepeat::Reject, OnRepeat::Replay] {
        for gzip in [true, false] {
            let world = Utility::open(SimulatorSettings { on_repeat, gzip, ..SimulatorSettings::default() });
            let judgement = judge(&world).await;
            assert_eq!(judgement.broken, [], "{on_repeat:?}");
            assert_eq!(judgement.untested, Vec::<&str>::new(), "{on_repeat:?}");
        }
    }
}

#[tokio::test]
async fn a_utility_that_remembers_vends_alone_leaves_two_laws_untested() {
    let settings = SimulatorSettings {
        remembers: Remembers::Vends,
        on_repeat: OnRepeat::VendAgain,
        ..SimulatorSettings::default()
    };
    let judgement = judge(&Utility::open(settings)).await;
    assert_eq!(judgement.broken, []);
    assert_eq!(
        judgement.untested,
        [
            "a refusal is remembered where that is declared",
            "a repeated reference vends once where that is declared"
        ]
    );
}
