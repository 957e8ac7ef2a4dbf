//! The adapter keeps the port's laws against the simulated aggregator, however that behaves.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use clock::SystemClock;
use money::Money;
use provider::Provider;
use provider::conformance::{Law, Made, Mishap, Operation, Request, Wire, World, judge};
use provider_reloadly::{Reloadly, ReloadlySettings};
use serde_json::{Value, json};
use utility_sim::{OnRepeat, Remembers, SimulatorSettings};
use vend::{CallId, Capabilities, Product, Sale};

use crate::connection::adapter;
use crate::town::{Town, connection_to, sale_for};

struct Aggregator {
    town: Town,
    settings: SimulatorSettings,
    wire: Wire,
    provider: Reloadly,
}

impl Aggregator {
    fn open(settings: SimulatorSettings) -> Self {
        let town = Town::open(&settings);
        let wire = Wire::to(town.simulator.address(), is).unwrap();
        let provider = connected(&wire.url(), &settings);
        Self { town, settings, wire, provider }
    }
}

/// A check and a quote ask whose the number is; there is no trial.
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
        connect_timeout_ms: 2_000,
        enquiry_timeout_ms: 3_000,
        vend_timeout_ms: 4_000,
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

/// The vendor's errors carry no reference, but its failed top-ups do.
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
        Duration::from_secs(8)
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

    fn sale_of_another_product(&self) -> Option<Sale> {
        Some(Sale { product: Product::Electricity, ..self.fresh_sale() })
    }

    fn sale_in_another_currency(&self) -> Option<Sale> {
        Some(Sale { amount: Money::parse_wire("ZAR 10.50").unwrap(), ..self.fresh_sale() })
    }

    /// Whose a number is names neither number nor amount. Airtime owes no token and has no trials.
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
        self.town.script(line).await;
        true
    }

    async fn forget_mishaps(&self) {
        let script = format!("{}/faults", self.town.simulator.url());
        assert_eq!(self.town.web.delete(script).send().await.unwrap().status(), 204);
    }

    async fn vends(&self) -> Vec<Made> {
        let reference = |line: &Value| line["reference"].as_str().unwrap().to_owned();
        let log = self.town.vends().await;
        log.iter().map(|line| Made { reference: reference(line), tokens: Vec::new() }).collect()
    }
}

/// Airtime has no tokens, no split and no trial; a check names no subscriber, and "no record" no question.
const NOT_OF_AIRTIME: [Law; 11] = [
    Law::TokensAsIssued,
    Law::SplitAddsUp,
    Law::RefusedTrialIsRefused,
    Law::CheckIsForTheSubscriber,
    Law::QuoteIsForTheSale,
    Law::TokenMissing,
    Law::TokenIsDummy,
    Law::EnquiryTokenMissing,
    Law::EnquiryTokenIsDummy,
    Law::EnquiryNoRecordOfAnother,
    Law::TokensStaySealed,
];

#[tokio::test]
async fn no_law_of_airtime_is_broken_and_none_is_left_untested() {
    judge(&Aggregator::open(SimulatorSettings::default())).await.assert_kept_all_but(&NOT_OF_AIRTIME);
}

#[tokio::test]
async fn no_law_is_broken_where_repeats_are_replayed() {
    let settings = SimulatorSettings { on_repeat: OnRepeat::Replay, ..SimulatorSettings::default() };
    judge(&Aggregator::open(settings)).await.assert_kept_all_but(&NOT_OF_AIRTIME);
}

#[tokio::test]
async fn an_aggregator_that_remembers_sales_alone_leaves_untested_what_it_does_not_declare() {
    let settings = SimulatorSettings {
        remembers: Remembers::Vends,
        on_repeat: OnRepeat::VendAgain,
        ..SimulatorSettings::default()
    };
    let judgement = judge(&Aggregator::open(settings)).await;
    let undeclared = [Law::RefusalIsRemembered, Law::Repeat, Law::EnquiryRefusalOfAnother];
    judgement.assert_kept_all_but(&[NOT_OF_AIRTIME.as_slice(), &undeclared].concat());
}
