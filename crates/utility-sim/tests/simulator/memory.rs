//! A simulator whose memory settings are changed while it serves.

use serde_json::json;

use crate::counter::{Counter, meter};

#[tokio::test]
async fn a_seller_that_forgets_everything_knows_no_transaction_and_vends_again() {
    let counter = Counter::open();
    let active = meter("active_11_digit");
    counter.vend_as(7, active, "10.00").await;
    assert!(counter.enquire(7).await.says("b:lastResponse"), "it is remembered");
    counter.forgets().await;
    assert!(!counter.enquire(7).await.says("b:lastResponse"));
    counter.vend_as(7, active, "10.00").await;
    assert_eq!(counter.vends(active).await.len(), 2);
}

#[tokio::test]
async fn habits_change_while_it_serves() {
    let counter = Counter::open();
    let active = meter("active_11_digit");
    counter.vend_as(7, active, "10.00").await;
    assert_eq!(counter.remembers("vends", "vend_again").await, 204);
    counter.vend_as(7, active, "10.00").await;
    assert_eq!(counter.vends(active).await.len(), 2);
    assert_eq!(counter.remembers("everything", "replay").await, 204);
    let replayed = counter.vend_as(7, active, "10.00").await;
    assert_eq!(replayed.status, 200, "{}", replayed.text);
    assert_eq!(counter.vends(active).await.len(), 2);
    assert_eq!(counter.remembers("now and then", "replay").await, 400);
}

impl Counter {
    async fn remembers(&self, remembers: &str, on_repeat: &str) -> u16 {
        let habits = json!({ "remembers": remembers, "on_repeat": on_repeat }).to_string();
        let url = format!("{}/memory", self.simulator.url());
        self.http.put(url).body(habits).send().await.unwrap().status().as_u16()
    }

    async fn forgets(&self) {
        let url = format!("{}/memory", self.simulator.url());
        assert_eq!(self.http.delete(url).send().await.unwrap().status().as_u16(), 204);
    }
}
