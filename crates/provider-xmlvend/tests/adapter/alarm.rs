//! A gateway that answers a trial with a real token may have vended. The log has an error, but not the token.

use chrono::{TimeZone, Utc};
use money::Money;
use provider::Provider;
use test_kit::log::Log;
use tracing::Level;
use vend::{CallId, Doubt, Product, Sale, SubscriberIdentifier, Unanswered};

use crate::connection::{adapter, settings};
use crate::gateway::{Does, Gateway, http};

const VEND_REPLY: &str = include_str!("../fixtures/vend_reply.xml");
const TOKEN: &str = "61722405118890034471";

/// The result of a trial under the reference of the fixture.
async fn tried_at(reply: &str) -> Unanswered {
    let gateway = Gateway::that(Does::Answers(http("200 OK", reply.as_bytes()))).await;
    let call = CallId::new(42, Utc.with_ymd_and_hms(2026, 11, 20, 9, 30, 0).unwrap()).unwrap();
    let sale = Sale {
        product: Product::Electricity,
        subscriber: SubscriberIdentifier::parse("14301118432").unwrap(),
        amount: Money::parse_wire("BWP 100.00").unwrap(),
    };
    adapter(settings(&gateway.endpoint)).trial(call, &sale).await.unwrap_err()
}

#[tokio::test]
async fn a_real_token_in_a_trial_raises_an_alarm_that_does_not_name_it() {
    let (log, _while_this_lives) = Log::of_this_thread(Level::TRACE);

    let trial = VEND_REPLY.replace("creditVendResp", "trialCreditVendResp");
    for reply in [trial.as_str(), VEND_REPLY, &trial.replace(TOKEN, "")] {
        assert_eq!(tried_at(reply).await, Unanswered::NoAnswer(Doubt::Mismatched));
    }

    let said = |level: &str, what: &str| log.lines_with(&[level, what, "call=20261120093000-000042"]).len();
    let written = log.text();
    assert_eq!(said("ERROR", "the gateway may have vended"), 2, "{written}");
    assert_eq!(said("WARN", "fewer tokens than a real vend must have"), 1, "{written}");
    assert!(!written.contains(TOKEN) && !written.contains("Envelope"), "a reply is in the log");
}
