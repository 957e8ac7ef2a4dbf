//! What a provider says, and what becomes of it on this side.

use error_codes::ErrorCode::{
    self, AmountAboveMaximum, AmountBelowMinimum, DuplicateRequest, InvalidMeterNumber,
    MerchantCreditExhausted, MeterBlocked, MeterNotFound, MeterUnsupported, ProviderBusy, ProviderError,
    ProviderTimeout, ProviderUnavailable, UpstreamError,
};
use http_v1::Endpoint;
use serde_json::json;

use super::seen::Seen;
use crate::{
    street::Street,
    town::{eventually, town},
};

/// A fault of the utility with its text, and what we call it, whenever we are asked.
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
    let (shop, street) = (town().open_shop().await, Street::new());
    for (exception, text, code) in FAULTS {
        let meter = town().meter();
        let fault = json!({ "fault": "refuse", "operation": "check", "exception": exception, "text": text });
        street.will(&meter, &fault).await;
        seen.expect(code, Endpoint::Validate, &shop.validate(&shop.order(&meter)).await);
    }
}

pub async fn that_refuse_an_order(seen: &Seen) {
    let (shop, street) = (town().open_shop().await, Street::new());
    for (exception, text, code) in FAULTS {
        let meter = town().meter();
        street.will(&meter, &json!({ "fault": "refuse", "exception": exception, "text": text })).await;
        let order = shop.order(&meter).reference("refused-1");
        seen.expect(code, Endpoint::Confirm, &shop.confirm(&order).await);
        let told = shop.retry(&meter, "refused-1").await;
        seen.expect(code, Endpoint::Retry, &told);
        assert_eq!(told.body["error"]["retryable"], false, "{}", told.text);
    }
    assert_eq!(shop.balance().await, "BWP 1000000.00");
}

pub async fn that_are_silent(seen: &Seen) {
    let (shop, street) = (town().open_shop().await, Street::new());
    let [slow, lost] = [town().meter(), town().meter()];
    let late = json!({ "fault": "delay_before", "operation": "check", "delay_ms": TOO_LONG_MS });
    street.will(&slow, &late).await;
    seen.expect(ProviderTimeout, Endpoint::Validate, &shop.validate(&shop.order(&slow)).await);

    street.will(&lost, &json!({ "fault": "drop_after" })).await;
    street.will(&lost, &json!({ "fault": "drop_before", "operation": "enquiry" })).await;
    let confirmed = shop.confirm(&shop.order(&lost).reference("lost-1")).await;
    seen.expect(ProviderTimeout, Endpoint::Confirm, &confirmed);
    seen.expect(ProviderTimeout, Endpoint::Retry, &shop.retry(&lost, "lost-1").await);
    shop.retry_until_settled(&lost, "lost-1").await.expect(200);

    never_reached(seen).await;
    still_working(seen).await;
}

/// All orders for this meter are lost, which is known when no record of any is found in the end.
async fn never_reached(seen: &Seen) {
    let (shop, meter) = (town().open_shop().await, town().scenario("lost_request"));
    shop.confirm(&shop.order(meter).reference("never-1")).await.expect(504);
    let told = shop.retry_until_settled(meter, "never-1").await;
    seen.expect(ProviderUnavailable, Endpoint::Retry, &told);
}

async fn still_working(seen: &Seen) {
    let (shop, street, meter) = (town().open_shop().await, Street::new(), town().meter());
    street.will(&meter, &json!({ "fault": "delay_before", "delay_ms": 3_000 })).await;
    let order = shop.order(&meter).reference("slow-1");
    let bought = tokio::join!(shop.confirm(&order), async {
        eventually("the order is under way", async || shop.newest_state() == "IN_FLIGHT").await;
        seen.expect(ErrorCode::TransactionPending, Endpoint::Confirm, &shop.confirm(&order).await);
        seen.expect(ErrorCode::TransactionPending, Endpoint::Retry, &shop.retry(&meter, "slow-1").await);
    });
    bought.0.expect(200);
}

pub async fn that_are_not_there(seen: &Seen) {
    let nowhere = [("VENDGATE__PROVIDERS__BPC__XMLVEND__ENDPOINT", "http://127.0.0.1:9/xmlvend")];
    let server = town().another_api_server_with("server-without-a-provider", &nowhere);
    let shop = town().open_shop().await;
    let cut_off = shop.calling(server.url());
    let order = shop.order(&town().meter());
    seen.expect(ProviderUnavailable, Endpoint::Validate, &cut_off.validate(&order).await);
    seen.expect(ProviderUnavailable, Endpoint::Confirm, &cut_off.confirm(&order).await);
    assert_eq!(shop.rows(), "0|0|0|0|0");
}
