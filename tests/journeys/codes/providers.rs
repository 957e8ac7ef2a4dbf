//! The provider's answers and their error codes.

use error_codes::ErrorCode::{
    self, AmountAboveMaximum, AmountBelowMinimum, DuplicateRequest, InvalidMeterNumber,
    MerchantCreditExhausted, MeterBlocked, MeterNotFound, MeterUnsupported, ProviderBusy, ProviderError,
    ProviderTimeout, ProviderUnavailable, UpstreamError,
};
use http_v1::Endpoint;
use serde_json::json;

use super::seen::Seen;
use crate::{
    env::{env, eventually},
    simulator::SimulatorClient,
};

/// A fault of the utility with its text, and our code for it on every endpoint.
const FAULTS: [(&str, &str, ErrorCode); 12] = [
    ("UnknownMeterEx", "Meter not found", MeterNotFound),
    ("MSNOCheckDigitEx", "Check digit is wrong", InvalidMeterNumber),
    ("BlockedMeterEx", "Meter is blocked", MeterBlocked),
    ("STSDataEx", "No token for this meter type", MeterUnsupported),
    ("BusinessRuleEx", "Amount below minimum vend", AmountBelowMinimum),
    ("BusinessRuleEx", "The amount cannot exceed 5", AmountAboveMaximum),
    ("BusinessRuleEx", "Duplicate sale", DuplicateRequest),
    ("BusinessRuleEx", "Busy, please try again", ProviderBusy),
    ("BusinessRuleEx", "Not on a Sunday", ProviderError),
    ("RequestAuthorisationEx", "Who are you", UpstreamError),
    ("VendorCreditEx", "Vendor credit is exhausted", MerchantCreditExhausted),
    ("ServiceChrgEx", "The service charge is due", MeterBlocked),
];

/// Longer than a provider's check may take.
const TOO_LONG_MS: u64 = 12_000;

pub async fn that_refuse_a_question(seen: &Seen) {
    let (merchant, simulator) = (env().open_merchant().await, SimulatorClient::new());
    for (exception, text, code) in FAULTS {
        let meter = env().meter();
        let fault = json!({ "fault": "refuse", "operation": "check", "exception": exception, "text": text });
        simulator.will(&meter, &fault).await;
        seen.expect(code, Endpoint::Validate, &merchant.validate(&merchant.order(&meter)).await);
    }
}

pub async fn that_refuse_an_order(seen: &Seen) {
    let (merchant, simulator) = (env().open_merchant().await, SimulatorClient::new());
    for (exception, text, code) in FAULTS {
        let meter = env().meter();
        simulator.will(&meter, &json!({ "fault": "refuse", "exception": exception, "text": text })).await;
        let order = merchant.order(&meter).reference("refused-1");
        seen.expect(code, Endpoint::Confirm, &merchant.confirm(&order).await);
        let told = merchant.retry(&meter, "refused-1").await;
        seen.expect(code, Endpoint::Retry, &told);
        assert_eq!(told.body["error"]["retryable"], false, "{}", told.text);
    }
    assert_eq!(merchant.balance().await, "BWP 1000000.00");
    assert!(
        merchant.rows().contains("|0|0|"),
        "nothing was debited and nothing is held: {}",
        merchant.rows()
    );
}

pub async fn that_are_silent(seen: &Seen) {
    let (merchant, simulator) = (env().open_merchant().await, SimulatorClient::new());
    let [slow, lost] = [env().meter(), env().meter()];
    let late = json!({ "fault": "delay_before", "operation": "check", "delay_ms": TOO_LONG_MS });
    simulator.will(&slow, &late).await;
    seen.expect(ProviderTimeout, Endpoint::Validate, &merchant.validate(&merchant.order(&slow)).await);

    simulator.will(&lost, &json!({ "fault": "drop_after" })).await;
    simulator.will(&lost, &json!({ "fault": "drop_before", "operation": "enquiry" })).await;
    let confirmed = merchant.confirm(&merchant.order(&lost).reference("lost-1")).await;
    seen.expect(ProviderTimeout, Endpoint::Confirm, &confirmed);
    assert_eq!(merchant.balance().await, "BWP 999898.50", "the total is held");
    seen.expect(ProviderTimeout, Endpoint::Retry, &merchant.retry(&lost, "lost-1").await);
    merchant.retry_until_settled(&lost, "lost-1").await.expect(200);

    never_reached(seen).await;
    still_working(seen).await;
}

/// All orders for this meter are lost. This is known once no record of any is found.
async fn never_reached(seen: &Seen) {
    let (merchant, meter) = (env().open_merchant().await, env().scenario("lost_request"));
    merchant.confirm(&merchant.order(meter).reference("never-1")).await.expect(504);
    let told = merchant.retry_until_settled(meter, "never-1").await;
    seen.expect(ProviderUnavailable, Endpoint::Retry, &told);
}

async fn still_working(seen: &Seen) {
    let (merchant, simulator, meter) = (env().open_merchant().await, SimulatorClient::new(), env().meter());
    simulator.will(&meter, &json!({ "fault": "delay_before", "delay_ms": 3_000 })).await;
    let order = merchant.order(&meter).reference("slow-1");
    let bought = tokio::join!(merchant.confirm(&order), async {
        eventually("the order is under way", async || merchant.newest_state() == "IN_FLIGHT").await;
        seen.expect(ErrorCode::TransactionPending, Endpoint::Confirm, &merchant.confirm(&order).await);
        seen.expect(ErrorCode::TransactionPending, Endpoint::Retry, &merchant.retry(&meter, "slow-1").await);
    });
    bought.0.expect(200);
}

pub async fn that_are_not_there(seen: &Seen) {
    let nowhere = [("VENDGATE__PROVIDERS__BPC__XMLVEND__ENDPOINT", "http://127.0.0.1:9/xmlvend")];
    let server = env().another_api_server_with("server-without-a-provider", &nowhere);
    let merchant = env().open_merchant().await;
    let cut_off = merchant.calling(server.url());
    let order = merchant.order(&env().meter());
    seen.expect(ProviderUnavailable, Endpoint::Validate, &cut_off.validate(&order).await);
    seen.expect(ProviderUnavailable, Endpoint::Confirm, &cut_off.confirm(&order).await);
    assert_eq!(merchant.rows(), "0|0|0|0|0");
}
