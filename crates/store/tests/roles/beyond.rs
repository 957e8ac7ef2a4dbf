//! Forgeries that no database can refuse, because it cannot know what a vendor did: an end that is forged in
//! the same form in which the servers write ends. The standing checks detect a forged success. They cannot
//! detect a forged failure that comes with its history.

use back_office::{CheckProgress, Invariant, Violation};
use test_kit::database::WORKER;

use crate::{
    env::TestEnv,
    forging::{FAILURE, SUCCESS},
    installation::{Login, env},
};

async fn violations(env: &TestEnv) -> Vec<Violation> {
    let worker = env.store_as(WORKER).await;
    back_office::check_books(&worker, &mut CheckProgress::default()).await.unwrap()
}

fn history(id: i64, event: &str) -> String {
    format!(
        "INSERT INTO purchase_events (purchase_id, at, fact, state, fence, attempt)
         SELECT id, ended_at, '{event}', state, fence, attempt FROM purchases WHERE id = {id}"
    )
}

#[tokio::test]
async fn a_success_that_was_forged_with_all_that_a_server_can_write_is_seen_by_the_checks() {
    let env = env().await;
    let merchant = env.merchant_with(50_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    let (id, server) = (order.id.0, Login::of(&env.database, "test_server").await);
    server.runs(&format!("UPDATE purchases SET {SUCCESS} WHERE id = {id}")).await.unwrap();
    server.runs(&history(id, "VENDED")).await.unwrap();
    let reply = format!(
        "INSERT INTO provider_replies (purchase_id, attempt, at, key_id, sealed_reply)
         SELECT id, attempt, ended_at, 1, 'a reply' FROM purchases WHERE id = {id}"
    );
    server.runs(&reply).await.unwrap();
    let [violation]: [Violation; 1] = violations(&env).await.try_into().unwrap();
    assert_eq!(
        (violation.invariant, violation.subject),
        (Invariant::EndsHaveEvidence, format!("purchase:{id}"))
    );
    assert_eq!(violation.finding, "it is successful, and nothing that our keys have sealed shows it");
}

#[tokio::test]
async fn a_decision_that_was_forged_in_a_persons_name_is_seen_by_the_checks() {
    for (end, event) in [(SUCCESS, "OPERATOR_VENDED"), (FAILURE, "OPERATOR_NOT_VENDED")] {
        let env = env().await;
        let merchant = env.merchant_with(50_000).await;
        let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
        let (id, server) = (order.id.0, Login::of(&env.database, "test_server").await);
        server.runs(&format!("UPDATE purchases SET {end} WHERE id = {id}")).await.unwrap();
        server.runs(&history(id, event)).await.unwrap();
        let [violation]: [Violation; 1] = violations(&env).await.try_into().unwrap();
        assert_eq!(
            (violation.invariant, violation.subject),
            (Invariant::EndsHaveEvidence, format!("purchase:{id}"))
        );
    }
}

#[tokio::test]
async fn a_forged_failure_is_seen_without_its_history_and_not_seen_with_it() {
    let env = env().await;
    let merchant = env.merchant_with(50_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    let (id, server) = (order.id.0, Login::of(&env.database, "test_server").await);
    server.runs(&format!("UPDATE purchases SET {FAILURE} WHERE id = {id}")).await.unwrap();
    let [violation]: [Violation; 1] = violations(&env).await.try_into().unwrap();
    assert_eq!(violation.finding, "its history does not tell of its end");
    server.runs(&history(id, "REFUSED")).await.unwrap();
    assert_eq!(violations(&env).await, [], "only the vendor's own list of sales shows it");
    assert_eq!(env.balances(merchant.wallet), "50000|0");
}
