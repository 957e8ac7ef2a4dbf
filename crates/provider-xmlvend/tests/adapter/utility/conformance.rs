//! The adapter meets the requirements of the port against the simulated utility, in all its modes.

use std::time::Duration;

use async_trait::async_trait;
use provider::Provider;
use provider::conformance::{Made, Mishap, Operation, Request, Requirement, Wire, World, judge_side_by_side};
use provider_xmlvend::{SoapVersion, XmlVend, XmlVendSettings};
use serde_json::{Value, json};
use test_kit::simulator::{capabilities, sale};
use utility_sim::{OnRepeat, Remembers, SimulatorSettings, scenario, water_scenarios};
use vend::{CallId, Capabilities, Product, Sale};

use super::env::{TestEnv, connection_to, start_env};
use crate::connection::adapter;

struct Utility {
    env: TestEnv,
    settings: SimulatorSettings,
    soap: SoapVersion,
    sells: Product,
    wire: Wire,
    provider: XmlVend,
}

impl Utility {
    fn open(settings: SimulatorSettings) -> Self {
        Self::speaking(SoapVersion::V1_1, settings)
    }

    fn speaking(soap: SoapVersion, settings: SimulatorSettings) -> Self {
        let env = start_env(&settings, soap);
        let wire = Wire::to(env.simulator.address(), is).unwrap();
        let provider = connected(&wire.url(), &settings, soap);
        Self { env, settings, soap, sells: Product::Electricity, wire, provider }
    }

    async fn script(&self, operation: Operation, mut line: Value) {
        let name = match operation {
            Operation::Check => "check",
            Operation::Quote | Operation::Trial => "quote",
            Operation::Vend => "vend",
            Operation::Enquiry => "enquiry",
        };
        line.as_object_mut().unwrap().insert("operation".to_owned(), json!(name));
        self.env.script(line).await;
    }
}

/// Quotes and trials use the same message.
fn is(request: &Request<'_>, operation: Operation) -> bool {
    let message = match operation {
        Operation::Check => "<r:confirmCustomerReq>",
        Operation::Quote | Operation::Trial => "<r:trialCreditVendReq>",
        Operation::Vend => "<r:creditVendReq>",
        Operation::Enquiry => "<b:adviceReq ",
    };
    request.body.contains(message)
}

fn connected(host: &str, settings: &SimulatorSettings, soap: SoapVersion) -> XmlVend {
    adapter(XmlVendSettings {
        soap,
        connect_timeout_ms: 500,
        enquiry_timeout_ms: 500,
        vend_timeout_ms: 800,
        ..connection_to(&format!("{host}/xmlvend"), settings)
    })
}

/// Removes the last reference. This is the one of the message, or of the message that an enquiry has found.
fn without_reference(answer: &str) -> String {
    let Some((before, id)) = answer.rsplit_once("<b:reqMsgID ") else { return answer.to_owned() };
    let after = id.split_once("/>").unwrap().1;
    format!("{before}{after}")
}

/// Changes all references.
fn with_other_references(answer: &str) -> String {
    answer.replace("uniqueNumber=\"", "uniqueNumber=\"77")
}

fn with_dummies(answer: &str) -> String {
    let mut parts = answer.split("<b:stsCipher>");
    let before = parts.next().unwrap().to_owned();
    parts.fold(before, |done, part| {
        format!(
            "{done}<b:stsCipher>00000000000000000000{}",
            part.trim_start_matches(|c: char| c.is_ascii_digit())
        )
    })
}

#[async_trait]
impl World for Utility {
    fn provider(&self) -> &dyn Provider {
        &self.provider
    }

    fn provider_of_nowhere(&self) -> Box<dyn Provider> {
        Box::new(connected("http://127.0.0.1:1", &self.settings, self.soap))
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
        if self.sells == Product::Water {
            let meter = water_scenarios().iter().find(|meter| meter.name == "active").unwrap();
            return sale(Product::Water, meter.number, "BWP 100.00");
        }
        sale(Product::Electricity, scenario("active_11_digit").unwrap().number, "BWP 100.00")
    }

    fn sale_of_another_product(&self) -> Option<Sale> {
        Some(Sale { product: Product::Airtime, ..self.fresh_sale() })
    }

    fn sale_in_another_currency(&self) -> Option<Sale> {
        let amount = money::Money::parse_wire("ZAR 100.00").unwrap();
        Some(Sale { amount, ..self.fresh_sale() })
    }

    async fn arrange(&self, operation: Operation, mishap: Mishap) -> bool {
        let refused = || json!({"fault": "refuse", "exception": "BlockedMeterEx"});
        let line = match mishap {
            Mishap::AnswersAnotherReference => json!({"fault": "wrong_reference"}),
            Mishap::AnswersAnotherSubscriber => json!({"fault": "wrong_meter"}),
            Mishap::AnswersAnotherAmount => json!({"fault": "wrong_amount"}),
            Mishap::AnswersAnotherCurrency => json!({"fault": "wrong_currency"}),
            // Water does not require a token.
            Mishap::TokenLeftOut if self.sells == Product::Water => return false,
            Mishap::TokenLeftOut => json!({"fault": "no_token"}),
            Mishap::UnlistedFault => json!({"fault": "system_ex_after"}),
            // The simulator scripts it as a fault, so it must remember faults.
            Mishap::StillUnderWay if self.settings.remembers != Remembers::Everything => return false,
            Mishap::StillUnderWay => {
                let text = "The transaction is still being processed";
                json!({"fault": "refuse", "exception": "SystemEx", "text": text})
            }
            Mishap::Refused => refused(),
            Mishap::RefusedForAnother => {
                self.wire.rewrite(operation, with_other_references);
                refused()
            }
            Mishap::RefusedWithoutReference => {
                self.wire.rewrite(operation, without_reference);
                refused()
            }
            Mishap::ReferenceLeftOut => {
                self.wire.rewrite(operation, without_reference);
                return true;
            }
            Mishap::NoRecordForAnother => {
                self.wire.rewrite(operation, with_other_references);
                return true;
            }
            Mishap::TokenDummy => {
                self.wire.rewrite(operation, with_dummies);
                return true;
            }
            Mishap::RequestLost
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
        self.script(operation, line).await;
        true
    }

    async fn forget_mishaps(&self) {
        self.env.forget_script().await;
    }

    async fn vends(&self) -> Vec<Made> {
        self.env.made()
    }
}

#[tokio::test]
async fn electricity_meets_every_requirement_and_none_is_untested() {
    let (on_repeat, gzip) = (OnRepeat::Reject, false);
    let judgement = judge_side_by_side(|| {
        Utility::open(SimulatorSettings { on_repeat, gzip, ..SimulatorSettings::default() })
    })
    .await;
    judgement.assert_kept_all_but(&[]);
}

#[tokio::test]
async fn compressed_soap_1_2_with_replayed_repeats_meets_every_requirement() {
    let (on_repeat, gzip) = (OnRepeat::Replay, true);
    let settings = SimulatorSettings { on_repeat, gzip, ..SimulatorSettings::default() };
    let judgement = judge_side_by_side(|| Utility::speaking(SoapVersion::V1_2, settings.clone())).await;
    judgement.assert_kept_all_but(&[]);
}

#[tokio::test]
async fn water_meets_every_requirement_that_applies_to_it() {
    let open = || Utility { sells: Product::Water, ..Utility::open(SimulatorSettings::default()) };
    judge_side_by_side(open)
        .await
        .assert_kept_all_but(&[Requirement::TokenMissing, Requirement::EnquiryTokenMissing]);
}

#[tokio::test]
async fn undeclared_capabilities_of_the_utility_stay_untested() {
    let settings = SimulatorSettings {
        remembers: Remembers::Vends,
        on_repeat: OnRepeat::VendAgain,
        ..SimulatorSettings::default()
    };
    let judgement = judge_side_by_side(|| Utility::open(settings.clone())).await;
    judgement.assert_kept_all_but(&[
        Requirement::UnderWay,
        Requirement::RefusalIsRemembered,
        Requirement::Repeat,
        Requirement::EnquiryRefusalOfAnother,
        Requirement::EnquiryUnderWay,
    ]);
}
