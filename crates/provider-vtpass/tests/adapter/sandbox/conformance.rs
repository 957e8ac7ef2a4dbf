//! The adapter meets the requirements of the port against the simulated aggregator, in all its modes.

use std::time::Duration;

use async_trait::async_trait;
use money::Money;
use provider::conformance::{Made, Mishap, Operation, Request, Requirement, Wire, World, judge_side_by_side};
use provider::{Gate, Provider};
use provider_vtpass::{Vtpass, VtpassSettings};
use serde_json::json;
use test_kit::simulator::{capabilities, sale};
use utility_sim::{OnRepeat, Remembers, SimulatorSettings, scenario};
use vend::{
    CallId, Capabilities, Customer, Enquiry, Product, Quotation, Refusal, RefusalReason, Sale,
    SubscriberIdentifier, Unanswered, VendOrder, VendOutcome,
};

use super::env::{TestEnv, connection_to, simulator, start_env};
use crate::connection::adapter;

struct Aggregator {
    env: TestEnv,
    settings: SimulatorSettings,
    wire: Wire,
    provider: Box<dyn Provider>,
}

impl Aggregator {
    fn open(settings: SimulatorSettings) -> Self {
        Self::of(settings, |connection| Box::new(adapter(&connection)))
    }

    /// The same with an adapter that the test makes.
    fn of(settings: SimulatorSettings, made: impl Fn(VtpassSettings) -> Box<dyn Provider>) -> Self {
        let env = start_env(&settings);
        let wire = Wire::to(env.simulator.address(), is).unwrap();
        let provider = made(connection(&wire.url(), &settings));
        Self { env, settings, wire, provider }
    }
}

/// The requirements that the adapters of these worlds violate.
async fn violated(open: impl Fn() -> Aggregator) -> Vec<Requirement> {
    judge_side_by_side(open).await.broken.iter().map(|broken| broken.requirement).collect()
}

/// The mistake that the vendor's documents invite to: "not used on our platform" is taken for "nothing was vended".
struct TakesNoRecordForARefusal(Vtpass);

#[async_trait]
impl Provider for TakesNoRecordForARefusal {
    async fn check(
        &self,
        call: CallId,
        product: Product,
        subscriber: &SubscriberIdentifier,
    ) -> Result<Customer, Unanswered> {
        self.0.check(call, product, subscriber).await
    }

    async fn quote(&self, call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        self.0.quote(call, sale).await
    }

    async fn trial(&self, call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        self.0.trial(call, sale).await
    }

    async fn vend(&self, order: &VendOrder, gate: &Gate) -> VendOutcome {
        self.0.vend(order, gate).await
    }

    async fn enquire(&self, call: CallId, order: &VendOrder) -> Enquiry {
        match self.0.enquire(call, order).await {
            Enquiry::NoRecord => Enquiry::Refused(Refusal::because(RefusalReason::Other)),
            answered @ (Enquiry::Vended(_)
            | Enquiry::Refused(_)
            | Enquiry::StillOpen
            | Enquiry::Unanswered(_)) => answered,
        }
    }
}

/// A check and a quote send the same request. There is no trial.
fn is(request: &Request<'_>, operation: Operation) -> bool {
    let path = match operation {
        Operation::Check | Operation::Quote => "merchant-verify",
        Operation::Trial => return false,
        Operation::Vend => "pay",
        Operation::Enquiry => "requery",
    };
    request.line.starts_with(&format!("POST /vtpass/api/{path} "))
}

fn connection(host: &str, settings: &SimulatorSettings) -> VtpassSettings {
    VtpassSettings {
        connect_timeout_ms: 500,
        enquiry_timeout_ms: 500,
        vend_timeout_ms: 800,
        ..connection_to(&format!("{host}/vtpass/api"), settings)
    }
}

fn without_reference(answer: &str) -> String {
    answer.replace("\"requestId\"", "\"anotherId\"")
}

fn with_other_reference(answer: &str) -> String {
    answer.replace("\"requestId\":\"", "\"requestId\":\"1")
}

fn with_dummies(answer: &str) -> String {
    let mut parts = answer.split("Token : ");
    let before = parts.next().unwrap().to_owned();
    parts.fold(before, |done, part| {
        format!("{done}Token : 00000000000000000000{}", part.trim_start_matches(|c: char| c.is_ascii_digit()))
    })
}

/// Our reference in a request id: Nigeria is one hour ahead, and six digits are the number.
fn reference(request_id: &str) -> String {
    let (hour, rest) = (request_id[8..10].parse::<u8>().unwrap() - 1, &request_id[10..]);
    format!("{}{hour:02}{}-{}", &request_id[..8], &rest[..4], &rest[4..10])
}

#[async_trait]
impl World for Aggregator {
    fn provider(&self) -> &dyn Provider {
        self.provider.as_ref()
    }

    fn provider_of_nowhere(&self) -> Box<dyn Provider> {
        Box::new(adapter(&connection("http://127.0.0.1:1", &self.settings)))
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
        sale(Product::Electricity, scenario("active_11_digit").unwrap().number, "NGN 100.00")
    }

    fn sale_of_another_product(&self) -> Option<Sale> {
        Some(Sale { product: Product::Water, ..self.fresh_sale() })
    }

    fn sale_in_another_currency(&self) -> Option<Sale> {
        Some(Sale { amount: Money::parse_wire("BWP 100.00").unwrap(), ..self.fresh_sale() })
    }

    /// The answer about a customer has a meter and no amount. No answer has a currency.
    async fn arrange(&self, operation: Operation, mishap: Mishap) -> bool {
        let name = match operation {
            Operation::Vend => "vend",
            Operation::Enquiry => "enquiry",
            Operation::Check | Operation::Quote if mishap == Mishap::AnswersAnotherSubscriber => "check",
            Operation::Check | Operation::Quote | Operation::Trial => return false,
        };
        let failed = || json!({"fault": "refuse"});
        let mut line = match mishap {
            Mishap::AnswersAnotherReference => json!({"fault": "wrong_reference"}),
            Mishap::AnswersAnotherSubscriber => json!({"fault": "wrong_meter"}),
            Mishap::AnswersAnotherAmount => json!({"fault": "wrong_amount"}),
            Mishap::TokenLeftOut => json!({"fault": "no_token"}),
            Mishap::StillUnderWay => json!({"fault": "processing"}),
            // An enquiry is refused for the account, an order because it failed.
            Mishap::Refused if operation == Operation::Enquiry => {
                json!({"fault": "refuse", "exception": "087"})
            }
            Mishap::Refused => failed(),
            Mishap::UnlistedFault => json!({"fault": "refuse", "exception": "040"}),
            Mishap::RefusedForAnother => {
                self.wire.rewrite(operation, with_other_reference);
                failed()
            }
            Mishap::RefusedWithoutReference => {
                self.wire.rewrite(operation, without_reference);
                failed()
            }
            Mishap::ReferenceLeftOut => {
                self.wire.rewrite(operation, without_reference);
                return true;
            }
            Mishap::TokenDummy => {
                self.wire.rewrite(operation, with_dummies);
                return true;
            }
            Mishap::AnswersAnotherCurrency
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
        let made = self.env.made().into_iter();
        made.map(|vend| Made { reference: reference(&vend.reference), ..vend }).collect()
    }
}

/// The vendor has no trials, states no split that adds up and no currency, and names no amount before the sale. Its "no
/// record" does not repeat the question.
const NOT_OF_THIS_VENDOR: [Requirement; 6] = [
    Requirement::SplitAddsUp,
    Requirement::RefusedTrialIsRefused,
    Requirement::QuoteIsForTheSale,
    Requirement::CurrencyOfAnother,
    Requirement::EnquiryCurrencyOfAnother,
    Requirement::EnquiryNoRecordOfAnother,
];

#[tokio::test]
async fn the_adapter_meets_every_requirement_and_none_is_untested() {
    judge_side_by_side(|| Aggregator::open(simulator())).await.assert_kept_all_but(&NOT_OF_THIS_VENDOR);
}

#[tokio::test]
async fn an_aggregator_that_replays_repeats_violates_no_requirement() {
    let settings = SimulatorSettings { on_repeat: OnRepeat::Replay, ..simulator() };
    judge_side_by_side(|| Aggregator::open(settings.clone())).await.assert_kept_all_but(&NOT_OF_THIS_VENDOR);
}

#[tokio::test]
async fn what_the_documents_invite_to_is_convicted() {
    let hasty =
        || Aggregator::of(simulator(), |connection| Box::new(TakesNoRecordForARefusal(adapter(&connection))));
    let careless = || {
        Aggregator::of(simulator(), |connection| {
            let refusals_without_request_id = vec!["016".to_owned()];
            Box::new(adapter(&VtpassSettings { refusals_without_request_id, ..connection }))
        })
    };
    let (hasty, careless) = tokio::join!(violated(hasty), violated(careless));
    assert!(hasty.contains(&Requirement::EnquiryFindsNothing), "{hasty:?}");
    assert_eq!(careless, [Requirement::RefusalWithoutReference]);
}

#[tokio::test]
async fn undeclared_capabilities_of_the_aggregator_stay_untested() {
    let settings =
        SimulatorSettings { remembers: Remembers::Vends, on_repeat: OnRepeat::VendAgain, ..simulator() };
    let judgement = judge_side_by_side(|| Aggregator::open(settings.clone())).await;
    let undeclared =
        [Requirement::RefusalIsRemembered, Requirement::Repeat, Requirement::EnquiryRefusalOfAnother];
    judgement.assert_kept_all_but(&[NOT_OF_THIS_VENDOR.as_slice(), &undeclared].concat());
}
