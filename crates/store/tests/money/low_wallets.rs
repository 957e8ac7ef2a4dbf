//! Wallets that are low against their own use.

use back_office::{LowWallet, list_low_wallets, top_up};
use ledger::AccountId;
use test_kit::database::WORKER;

use crate::env::{TestEnv, act, pula, vended};

/// The charge of an order here.
const CHARGE: i64 = 150;

impl TestEnv {
    /// The cut-off that the wallet had so long ago, when it had been paid into and nothing was sold.
    fn had_all_of_it(&self, wallet: AccountId, ago: &str) {
        self.sql(&format!(
            "INSERT INTO cutoffs (account_id, at, entry_id, balance)
             SELECT id, now() - interval '{ago}', (SELECT max(id) FROM journal_entries), posted FROM accounts WHERE id = {}",
            wallet.0
        ));
    }
}

#[tokio::test]
async fn a_wallet_is_low_when_it_has_less_than_it_uses_in_a_day() {
    let env = TestEnv::open().await;
    let (worker, shop) = (env.store_as(WORKER).await, env.merchant_with(100_000).await);
    let low = async || list_low_wallets(worker.database()).await.unwrap();
    env.had_all_of_it(shop.wallet, "2 days");
    assert_eq!(low().await, [], "it has used nothing");
    let (order, _) = env.reserved(&shop, "04000000001", 60_000 - CHARGE).await;
    env.records(&order, vended("V1", 60_000 - CHARGE)).await;
    assert_eq!(low().await, [], "400.00 are left, and 300.00 are used in a day");

    let (held, _) = env.reserved(&shop, "04000000002", 11_000 - CHARGE).await;
    let seen = LowWallet { account: shop.wallet, available: pula(29_000), used_in_a_day: pula(30_000) };
    assert_eq!(low().await, [seen], "what is held is not left");
    top_up(env.operator.database(), shop.wallet, pula(5_000), act()).await.unwrap();
    assert_eq!(low().await, [], "a payment is no use of it");
    env.records(&held, vended("V2", 11_000 - CHARGE)).await;
    assert_eq!(low().await.len(), 1, "34000 of 35500 a day");
}

#[tokio::test]
async fn a_wallet_of_today_and_a_suspended_one_are_not_called_low() {
    let env = TestEnv::open().await;
    let worker = env.store_as(WORKER).await;
    for ago in ["20 hours", "2 days"] {
        let shop = env.merchant_with(100_000).await;
        env.had_all_of_it(shop.wallet, ago);
        let meter = format!("0400000000{}", ago.len());
        let (order, _) = env.reserved(&shop, &meter, 99_000 - CHARGE).await;
        env.records(&order, vended(ago, 99_000 - CHARGE)).await;
    }
    let low = async || list_low_wallets(worker.database()).await.unwrap().len();
    assert_eq!(low().await, 1, "twenty hours do not say what a day is");
    env.sql("UPDATE accounts SET status = 'SUSPENDED' WHERE house IS NULL");
    assert_eq!(low().await, 0);
}
