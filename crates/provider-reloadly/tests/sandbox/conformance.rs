//! The adapter keeps the port's laws against the simulated aggregator, however that behaves.

use std::sync::Arc;

use async_trait::async_trait;
use clock::SystemClock;
use provider::Provider;
use provider::conformance::{Mishap, World, judge};
use serde_json::json;
use utility_sim::{OnRepeat, Remembers, SimulatorSettings};
use vend::{CallId, Capabilities, Sale};

use crate::connection::adapter;
use crate::town::{Town, connection_to, sale_for};

struct Aggregator {
    town: Town,
    settings: SimulatorSettings,
}

impl Aggregator {
    fn open(settings: SimulatorSettings) -> Self {
        Self { town: Town::open(&settings), settings }
    }
}

#[async_trait]
impl World for Aggregator {
    fn provider(&self) -> &dyn Provider {
        &self.town.provider
    }

    fn provider_of_nowhere(&self) -> Box<dyn Provider> {
        let nowhere = connection_to("http://127.0.0.1:1", &self.settings);
        Box::new(adapter(&nowhere, Arc::new(SystemClock)))
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
        sale_for("26771000011", "BWP 10.50")
    }

    /// Airtime owes no token and has no trials. The vendor's refusals carry no reference, so there is none of another.
    async fn arrange(&self, mishap: Mishap) -> bool {
        let line = match mishap {
            Mishap::RequestLost => json!({"fault": "drop_before"}),
            Mishap::ReplyLost => json!({"fault": "drop_after"}),
            Mishap::FailsAfterVending => json!({"fault": "http_500_after"}),
            Mishap::ReplyGarbled => json!({"fault": "garbage"}),
            Mishap::AnswersAnotherReference => json!({"fault": "wrong_reference"}),
            Mishap::AnswersAnotherSubscriber => json!({"fault": "wrong_meter"}),
            Mishap::AnswersAnotherAmount => json!({"fault": "wrong_amount"}),
            Mishap::Refused => json!({"fault": "refuse", "exception": "PHONE_RECENTLY_RECHARGED"}),
            Mishap::TokenLeftOut | Mishap::RefusedForAnother | Mishap::TrialRefused => return false,
        };
        self.town.script(line).await;
        true
    }

    async fn vends(&self) -> Vec<String> {
        let log = self.town.vends().await;
        log.iter().map(|line| line["reference"].as_str().unwrap().to_owned()).collect()
    }
}

const NOT_OF_AIRTIME: [&str; 3] = [
    "a refused trial is a refusal",
    "a success without the token it owes is doubt",
    "a refusal under another reference is doubt",
];

#[tokio::test]
async fn no_law_of_airtime_is_broken_and_none_is_left_untested() {
    for on_repeat in [OnRepeat::Reject, OnRepeat::Replay] {
        let settings = SimulatorSettings { on_repeat, ..SimulatorSettings::default() };
        let judgement = judge(&Aggregator::open(settings)).await;
        assert_eq!(judgement.broken, [], "{on_repeat:?}");
        assert_eq!(judgement.untested, NOT_OF_AIRTIME, "{on_repeat:?}");
    }
}

#[tokio::test]
async fn an_aggregator_that_remembers_sales_alone_leaves_two_more_laws_untested() {
    let settings = SimulatorSettings {
        remembers: Remembers::Vends,
        on_repeat: OnRepeat::VendAgain,
        ..SimulatorSettings::default()
    };
    let judgement = judge(&Aggregator::open(settings)).await;
    assert_eq!(judgement.broken, []);
    let two_more = [
        "a refusal is remembered where that is declared",
        "a repeated reference vends once where that is declared",
    ];
    assert_eq!(judgement.untested, [NOT_OF_AIRTIME.as_slice(), &two_more].concat());
}
