//! The customer did not get the message: the integrator has it sent again, a few times a day, also to a corrected number.

use serde_json::json;

use crate::{books::between_readings, env::env, merchant::Merchant, wire::Answer};

/// Asks for the message of a purchase.
pub async fn send_again(merchant: &Merchant, purchase: i64, body: &str) -> Answer {
    merchant.post(&format!("/public/v1/purchases/{purchase}/messages"), body).await
}

/// The phone number of a purchase is erased, as retention does.
pub fn erase_number(bought: &Answer) {
    let sql = format!(
        "SET session_replication_role = replica; UPDATE purchases SET beneficiary_phone_number = 'erased' WHERE id = {}",
        bought.id()
    );
    between_readings(|| env().asks_the_database(&sql));
}

/// The numbers to which messages of a purchase are sent again, as they were asked for.
fn queued(purchase: i64) -> String {
    env().asks_the_database(&format!(
        "SELECT string_agg(coalesce(phone_number, '-'), ' ' ORDER BY number) FROM repeated_messages WHERE purchase_id = {purchase}"
    ))
}

#[tokio::test]
async fn a_message_is_asked_for_again_three_times_a_day_also_for_a_corrected_number() {
    let merchant = env().open_merchant().await;
    let (wrong, right) = ("26771500001", "26771500002");
    let order = merchant.order(&env().meter()).with("beneficiary_phone_number", &format!("\"{wrong}\""));
    let bought = merchant.confirm(&order).await.expect(200);
    for (body, to, remaining) in [
        ("{}", wrong, 2),
        (r#"{"phone_number":"+26771500002"}"#, right, 1),
        (r#"{"phone_number":"71500002","language":"en-BW"}"#, right, 0),
    ] {
        let answer = send_again(&merchant, bought.id(), body).await.expect(200);
        assert_eq!((answer.str("/phone_number"), &answer.body["purchase_id"]), (to, &json!(bought.id())));
        assert_eq!(answer.body["remaining_today"], remaining, "{body}");
    }
    assert_eq!(queued(bought.id()), format!("- {right} {right}"));
    let refused = send_again(&merchant, bought.id(), "{}").await;
    assert_eq!(refused.refusal(), (429, "rate_limited", None));
    assert!(refused.str("/error/message").contains("3 times"), "{}", refused.text);
    assert!(refused.header("retry-after").is_some());
    let read = merchant.get(&format!("/public/v1/purchases/{}", bought.id())).await.expect(200);
    assert_eq!(read.body["beneficiary"]["phone_number"], wrong, "the purchase itself does not change");
    env().asks_the_database(&format!(
        "SET session_replication_role = replica;
         UPDATE repeated_messages SET written_at = written_at - interval '1 day' WHERE purchase_id = {}",
        bought.id()
    ));
    let tomorrow = send_again(&merchant, bought.id(), "{}").await.expect(200);
    assert_eq!(tomorrow.body["remaining_today"], 2);
}

#[tokio::test]
async fn many_requests_at_once_send_no_more_than_a_day_allows() {
    let merchant = env().open_merchant().await;
    let bought = merchant.confirm(&merchant.order(&env().meter())).await.expect(200);
    let asked = (0..12).map(|_| send_again(&merchant, bought.id(), "{}"));
    let answers = futures_util::future::join_all(asked).await;
    let queued = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(queued, 3);
    assert!(answers.iter().all(|answer| matches!(answer.status, 200 | 429)));
    let written = format!("SELECT count(*) FROM repeated_messages WHERE purchase_id = {}", bought.id());
    assert_eq!(env().asks_the_database(&written), queued.to_string());
}

#[tokio::test]
async fn nothing_is_sent_for_a_purchase_that_failed_or_whose_token_is_gone() {
    let merchant = env().open_merchant().await;
    merchant.confirm(&merchant.order(env().scenario("account_blocked"))).await;
    let failed = merchant.get("/public/v1/purchases?status=FAILED").await.expect(200);
    let failed = send_again(&merchant, failed.body["data"][0]["id"].as_i64().unwrap(), "{}").await;
    assert_eq!(failed.refusal(), (404, "resource_not_found", None));
    assert!(failed.str("/error/message").contains("Nothing was sold"), "{}", failed.text);

    let bought = merchant.confirm(&merchant.order(&env().meter())).await.expect(200);
    erase_number(&bought);
    let refused = send_again(&merchant, bought.id(), "{}").await;
    assert_eq!(refused.refusal(), (400, "missing_field", Some("phone_number")));
    send_again(&merchant, bought.id(), r#"{"phone_number":"26771500003"}"#).await.expect(200);
    let id = bought.id();
    let forged = format!(
        "INSERT INTO repeated_messages (purchase_id, requested_by) SELECT id, 1 FROM purchases
         WHERE state = 'FAILED' AND organisation_id = {} LIMIT 1",
        merchant.organisation
    );
    let said = env().sandbox.database().run_sql(&forged).unwrap_err().to_string();
    assert!(said.contains("is not sold"), "{said}");
    let ten = format!(
        "INSERT INTO repeated_messages (purchase_id, requested_by) SELECT {id}, 1 FROM generate_series(1, 10)"
    );
    let said = env().sandbox.database().run_sql(&ten).unwrap_err().to_string();
    assert!(said.contains("within a day"), "{said}");
}
