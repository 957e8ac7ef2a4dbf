//! The adapter meets the requirements of the port against the simulated aggregator, in all its modes.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use clock::SystemClock;
use money::Money;
use provider::Provider;
use provider::conformance::{Made, Mishap, Operation, Request, Requirement, Wire, World, judge_side_by_side};
use provider_reloadly::{Reloadly, ReloadlySettings};
use serde_json::json;
use test_kit::simulator::{capabilities, sale};
use utility_sim::{OnRepeat, Remembers, SimulatorSettings};
use vend::{CallId, Capabilities, Product, Sale};

use super::env::{TestEnv, connection_to, start_env};
use crate::connection::adapter;

struct Aggregator {
    env: TestEnv,
    settings: SimulatorSettings,
    wire: Wire,
    provider: Reloadly,
}

impl Aggregator {
    fn open(settings: SimulatorSettings) -> Self {
        let env = start_env(&settings);
        let wire = Wire::to(env.simulator.address(), is).unwrap();
        let provider = connected(&wire.url(), &settings);
        Self { env, settings, wire, provider }
    }
}

/// A check and a quote send the same request, for the network of the number. There is no trial.
fn is(request: &Request<'_>, operation: Operation) -> bool {
    match operation {
        Operation::Check | Operation::Quote => request.line.contains("/operators/auto-detect/"),
        Operation::Trial => false,
        Operation::Vend => request.line.starts_with("POST /reloadly/topups/topups "),
        Operation::Enquiry => request.line.contains("/topups/reports/transactions?"),
    }
}

fn connected(host: &str, settings: &SimulatorSettings) -> Reloadly {
    let settings = ReloadlySettings {
        connect_timeout_ms: 500,
        enquiry_timeout_ms: 500,
        vend_timeout_ms: 800,
        ..connection_to(host, settings)
    };
    adapter(&settings, Arc::new(SystemClock))
}

fn without_reference(answer: &str) -> String {
    answer.replace("\"customIdentifier\"", "\"anotherIdentifier\"")
}

fn with_other_reference(answer: &str) -> String {
    answer.replace("\"customIdentifier\":\"", "\"customIdentifier\":\"another-")
}

/// The answer as a failed top-up. The vendor's errors have no reference, but its failed top-ups have one.
fn failed(answer: &str) -> String {
    answer.replace("\"status\":\"SUCCESSFUL\"", "\"status\":\"FAILED\"")
}

#[async_trait]
impl World for Aggregator {
    fn provider(&self) -> &dyn Provider {
        &self.provider
    }

    fn provider_of_nowhere(&self) -> Box<dyn Provider> {
        Box::new(connected("http://127.0.0.1:1", &self.settings))
    }

    fn wire(&self) -> Option<&Wire> {
        Some(&self.wire)
    }

    fn deadline(&self) -> Duration {
        Duration::from_secs(4)
    }

    fn capabilities(&self) -> Capabilities {
        capabilities(&self.settings)
    }

    fn fresh_call(&self) -> CallId {
        self.env.call()
    }

    fn fresh_sale(&self) -> Sale {
        sale(Product::Airtime, "26771000011", "BWP 10.50")
    }

    fn sale_of_another_product(&self) -> Option<Sale> {
        Some(Sale { product: Product::Electricity, ..self.fresh_sale() })
    }

    fn sale_in_another_currency(&self) -> Option<Sale> {
        Some(Sale { amount: Money::parse_wire("ZAR 10.50").unwrap(), ..self.fresh_sale() })
    }

    /// The answer about a number's network has neither number nor amount. Airtime has no tokens and no trials.
    async fn arrange(&self, operation: Operation, mishap: Mishap) -> bool {
        let name = match operation {
            Operation::Vend => "vend",
            Operation::Enquiry => "enquiry",
            Operation::Check | Operation::Quote | Operation::Trial => return false,
        };
        let mut line = match mishap {
            Mishap::AnswersAnotherReference => json!({"fault": "wrong_reference"}),
            Mishap::AnswersAnotherSubscriber => json!({"fault": "wrong_meter"}),
            Mishap::AnswersAnotherAmount => json!({"fault": "wrong_amount"}),
            Mishap::AnswersAnotherCurrency => json!({"fault": "wrong_currency"}),
            Mishap::StillUnderWay => json!({"fault": "processing"}),
            Mishap::Refused => json!({"fault": "refuse", "exception": "PHONE_RECENTLY_RECHARGED"}),
            Mishap::UnlistedFault => json!({"fault": "refuse", "exception": "TOPUP_TRANSACTION_FAILED"}),
            Mishap::ReferenceLeftOut => {
                self.wire.rewrite(operation, without_reference);
                return true;
            }
            Mishap::RefusedForAnother => {
                self.wire.rewrite(operation, |answer| failed(&with_other_reference(answer)));
                return true;
            }
            Mishap::RefusedWithoutReference => {
                self.wire.rewrite(operation, |answer| failed(&without_reference(answer)));
                return true;
            }
            Mishap::TokenLeftOut
            | Mishap::TokenDummy
            | Mishap::NoRecordForAnother
            | Mishap::RequestLost
            | Mishap::ReplyLost
            | Mishap::Silence
            | Mishap::ReplyDrips
            | Mishap::ReplyHalved
            | Mishap::ReplyGarbled(_)
            | Mishap::ReplyEmpty
            | Mishap::ReplyEndless
            | Mishap::ServerError
            | Mishap::FailingStatus
            | Mishap::Redirected => return false,
        };
        line.as_object_mut().unwrap().insert("operation".to_owned(), json!(name));
        self.env.script(line).await;
        true
    }

    async fn forget_mishaps(&self) {
        self.env.forget_script().await;
    }

    async fn vends(&self) -> Vec<Made> {
        self.env.made()
    }
}

/// Airtime has no tokens, no split and no trial. The answer to a check names no subscriber, and "no record" names no
/// question.
const NOT_OF_AIRTIME: [Requirement; 11] = [
    Requirement::TokensAsIssued,
    Requirement::SplitAddsUp,
    Requirement::RefusedTrialIsRefused,
    Requirement::CheckIsForTheSubscriber,
    Requirement::QuoteIsForTheSale,
    Requirement::TokenMissing,
    Requirement::TokenIsDummy,
    Requirement::EnquiryTokenMissing,
    Requirement::EnquiryTokenIsDummy,
    Requirement::EnquiryNoRecordOfAnother,
    Requirement::TokensStaySealed,
];

#[tokio::test]
async fn airtime_meets_every_requirement_and_none_is_untested() {
    judge_side_by_side(|| Aggregator::open(SimulatorSettings::default()))
        .await
        .assert_kept_all_but(&NOT_OF_AIRTIME);
}

#[tokio::test]
async fn an_aggregator_that_replays_repeats_violates_no_requirement() {
    let settings = SimulatorSettings { on_repeat: OnRepeat::Replay, ..SimulatorSettings::default() };
    judge_side_by_side(|| Aggregator::open(settings.clone())).await.assert_kept_all_but(&NOT_OF_AIRTIME);
}

#[tokio::test]
async fn undeclared_capabilities_of_the_aggregator_stay_untested() {
    let settings = SimulatorSettings {
        remembers: Remembers::Vends,
        on_repeat: OnRepeat::VendAgain,
        ..SimulatorSettings::default()
    };
    let judgement = judge_side_by_side(|| Aggregator::open(settings.clone())).await;
    let undeclared =
        [Requirement::RefusalIsRemembered, Requirement::Repeat, Requirement::EnquiryRefusalOfAnother];
    judgement.assert_kept_all_but(&[NOT_OF_AIRTIME.as_slice(), &undeclared].concat());
}
