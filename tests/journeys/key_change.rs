//! The meter that must change its key: three tokens in one field, entered in order.

use acceptance::surface::Surface;
use serde_json::json;
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};

use crate::{
    env::env,
    merchant::Merchant,
    receipts::{grouped, receipt},
    simulator::SimulatorClient,
};

/// The number of the meter. One test uses it at a time, and each buyer enters every token, because the next key
/// depends on the last.
pub async fn the_meter_that_changes_its_key() -> MappedMutexGuard<'static, &'static str> {
    static ONE: Mutex<&'static str> = Mutex::const_new("");
    let mut turn = ONE.lock().await;
    *turn = env().scenario("key_change");
    MutexGuard::map(turn, |number| number)
}

#[tokio::test]
async fn a_key_change_gives_three_tokens_that_the_meter_accepts_only_in_order() {
    let meter = the_meter_that_changes_its_key().await;
    for surface in Surface::ALL {
        changes_its_key(&env().open_merchant_on(surface).await, *meter).await;
    }
}

async fn changes_its_key(merchant: &Merchant, meter: &str) {
    let simulator = SimulatorClient::new();
    let bought = merchant.confirm(&merchant.order(meter).amount("1150.00")).await.expect(200);
    assert_eq!(bought.str("/product/token").matches('|').count(), 2);
    let tokens = bought.tokens();
    let names: Vec<Option<&str>> = tokens.iter().map(|(name, _)| *name).collect();
    // These are the utility's descriptions. XMLVend has one text for both halves of a key change.
    assert_eq!(names, [Some("Key Change"), Some("Key Change"), Some("Normal Sale")]);
    if merchant.surface == Surface::V1 {
        let printed = receipt(merchant, bought.id(), "").await.expect(200).text;
        let lines = (1..)
            .zip(&tokens)
            .map(|(number, (name, token))| format!("\n{number}. {}\n{}", name.unwrap(), grouped(token)));
        assert!(printed.contains(&lines.collect::<String>()), "{printed}");
    }
    let [first, second, credit] = [0, 1, 2].map(|index: usize| tokens[index].1);

    assert_eq!(simulator.enters(meter, credit).await, Err("wrong_key".to_owned()));
    assert_eq!(simulator.enters(meter, second).await, Err("out_of_order".to_owned()));
    assert_eq!(simulator.enters(meter, first).await, Ok("key_section".to_owned()));
    assert_eq!(simulator.enters(meter, credit).await, Err("wrong_key".to_owned()));
    assert_eq!(simulator.enters(meter, second).await, Ok("key_changed".to_owned()));
    assert_eq!(simulator.enters(meter, credit).await, Ok("credit".to_owned()));
    assert_eq!(simulator.enters(meter, credit).await, Err("already_used".to_owned()));
    merchant.has_spent(&[bought.str("/total")]).await;
}

#[tokio::test]
async fn descriptions_with_separators_in_them_leave_the_tokens_readable_on_both_surfaces() {
    let meter = the_meter_that_changes_its_key().await;
    for surface in Surface::ALL {
        let (merchant, simulator) = (env().open_merchant_on(surface).await, SimulatorClient::new());
        simulator.will(*meter, &json!({ "fault": "odd_descriptions" })).await;
        let bought = merchant.confirm(&merchant.order(*meter).amount("1150.00")).await.expect(200);
        let tokens = bought.tokens();
        let names: Vec<Option<&str>> = tokens.iter().map(|(name, _)| *name).collect();
        let key = Some("Key change; 1/2");
        assert_eq!(names, [key, key, Some("Sale; normal/prepaid")]);
        for (_, token) in tokens {
            simulator.enters(*meter, token).await.unwrap();
        }
    }
}

#[tokio::test]
async fn an_ordinary_token_is_20_digits_and_only_its_own_meter_accepts_it_once() {
    let (merchant, simulator) = (env().open_merchant().await, SimulatorClient::new());
    let (meter, neighbour) = (env().meter(), env().meter());
    let bought = merchant.confirm(&merchant.order(&meter)).await.expect(200);
    let token = bought.str("/product/token");
    assert!(token.len() == 20 && token.bytes().all(|byte| byte.is_ascii_digit()), "{token}");

    assert_eq!(simulator.enters(&neighbour, token).await, Err("wrong_key".to_owned()));
    assert_eq!(simulator.enters(&meter, token).await, Ok("credit".to_owned()));
    assert_eq!(simulator.enters(&meter, token).await, Err("already_used".to_owned()));
}
