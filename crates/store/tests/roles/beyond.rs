//! What no database can refuse, because it cannot know what a vendor did: an end that was forged as the servers write ends. The
//! standing checks see a forged success. They cannot see a forged failure that comes with its history.

use store::{Breach, Law, Rounds};

use crate::forging::{FAILURE, SUCCESS};
use crate::installation::{Login, town};
use crate::town::{Town, connect, settings};

async fn breaches(town: &Town) -> Vec<Breach> {
    let mut as_worker = settings(&town.database);
    as_worker.database_url = town.database.url_as("test_worker", "test_worker").into();
    connect(as_worker).await.check_books(&mut Rounds::default()).await.unwrap()
}

fn history(id: i64, fact: &str) -> String {
    format!(
        "INSERT INTO purchase_events (purchase_id, at, fact, state, fence, attempt)
         SELECT id, ended_at, '{fact}', state, fence, attempt FROM purchases WHERE id = {id}"
    )
}

#[tokio::test]
async fn a_success_that_was_forged_with_all_that_a_server_can_write_is_seen_by_the_checks() {
    let town = town().await;
    let shop = town.shop_with(50_000).await;
    let (order, _) = town.reserved(&shop, "04257670465", 1_000).await;
    let (id, server) = (order.id.0, Login::of(&town.database, "test_server").await);
    server.runs(&format!("UPDATE purchases SET {SUCCESS} WHERE id = {id}")).await.unwrap();
    server.runs(&history(id, "VENDED")).await.unwrap();
    let reply = format!(
        "INSERT INTO provider_replies (purchase_id, attempt, at, key_id, sealed_reply)
         SELECT id, attempt, ended_at, 1, 'a reply' FROM purchases WHERE id = {id}"
    );
    server.runs(&reply).await.unwrap();
    let [breach]: [Breach; 1] = breaches(&town).await.try_into().unwrap();
    assert_eq!((breach.law, breach.subject), (Law::EndsHaveEvidence, format!("purchase:{id}")));
    assert_eq!(breach.finding, "it is successful, and nothing that our keys have sealed shows it");
}

#[tokio::test]
async fn a_decision_that_was_forged_in_a_persons_name_is_seen_by_the_checks() {
    for (end, fact) in [(SUCCESS, "OPERATOR_VENDED"), (FAILURE, "OPERATOR_NOT_VENDED")] {
        let town = town().await;
        let shop = town.shop_with(50_000).await;
        let (order, _) = town.reserved(&shop, "04257670465", 1_000).await;
        let (id, server) = (order.id.0, Login::of(&town.database, "test_server").await);
        server.runs(&format!("UPDATE purchases SET {end} WHERE id = {id}")).await.unwrap();
        server.runs(&history(id, fact)).await.unwrap();
        let [breach]: [Breach; 1] = breaches(&town).await.try_into().unwrap();
        assert_eq!((breach.law, breach.subject), (Law::EndsHaveEvidence, format!("purchase:{id}")));
    }
}

#[tokio::test]
async fn a_forged_failure_is_seen_without_its_history_and_not_seen_with_it() {
    let town = town().await;
    let shop = town.shop_with(50_000).await;
    let (order, _) = town.reserved(&shop, "04257670465", 1_000).await;
    let (id, server) = (order.id.0, Login::of(&town.database, "test_server").await);
    server.runs(&format!("UPDATE purchases SET {FAILURE} WHERE id = {id}")).await.unwrap();
    let [breach]: [Breach; 1] = breaches(&town).await.try_into().unwrap();
    assert_eq!(breach.finding, "its history does not tell of its end");
    server.runs(&history(id, "REFUSED")).await.unwrap();
    assert_eq!(breaches(&town).await, [], "only the vendor's own list of sales tells");
    assert_eq!(town.balances(shop.wallet), "50000|0");
}
