//! The money rules are stated twice: by `ledger`, which decides, and by the database, which derives. Here each statement is
//! held against the other, for every shape of a purchase and every way to its end.

use ledger::{AccountId, HouseAccount, JournalEntry, Settlement, SettlementAccounts, Wallet};
use money::{Money, Rate};
use purchase::{Fact, Price};
use store::{ReserveError, StoreError};

use crate::town::{FIRST, PROVIDER, Shop, Town, pula, vended};

const RICH: i64 = 100_000_000_000;

/// Net, charge and commission: nothing, the least, something, and more than 32 bits.
fn amounts() -> impl Iterator<Item = (i64, i64, i64)> {
    let nets = [1, 99, 10_000, 5_000_000_007];
    nets.into_iter().flat_map(|net| {
        [0, 1, 150].into_iter().flat_map(move |charge| {
            [0, 1, net / 2, net].into_iter().map(move |commission| (net, charge, commission))
        })
    })
}

impl Town {
    fn house(&self, role: HouseAccount) -> AccountId {
        let id = self.sql(&format!("SELECT id FROM accounts WHERE house = '{}'", role.as_str()));
        AccountId(id.parse().unwrap())
    }

    fn commission_account(&self, shop: &Shop) -> AccountId {
        let organisation = shop.authority.organisation.0;
        let id = format!(
            "SELECT id FROM accounts WHERE category = 'COMMISSION' AND organisation_id = {organisation}"
        );
        AccountId(self.sql(&id).parse().unwrap())
    }

    fn stored(&self, account: AccountId) -> Wallet {
        let balances = self.balances(account);
        let (posted, held) = balances.split_once('|').unwrap();
        let [posted, held] = [posted, held].map(|minor| pula(minor.parse().unwrap()));
        Wallet::new(account, posted, held).unwrap()
    }

    /// Debit, credit and amount of each posting about a purchase.
    fn postings(&self, purchase: i64, kind: &str) -> Vec<(i64, i64, i64)> {
        let rows = self.sql(&format!(
            "SELECT p.debit_account_id, p.credit_account_id, p.amount FROM journal_entries e JOIN postings p ON p.entry_id = e.id
             WHERE e.purchase_id = {purchase} AND e.kind = '{kind}' ORDER BY 1, 2, 3"
        ));
        let fields = rows.lines().map(|row| row.split('|').map(|field| field.parse().unwrap()).collect());
        fields.map(|fields: Vec<i64>| (fields[0], fields[1], fields[2])).collect()
    }
}

fn moves_of(entry: &JournalEntry) -> Vec<(i64, i64, i64)> {
    let mut moves: Vec<_> =
        entry.postings().iter().map(|p| (p.debit().0, p.credit().0, p.amount().minor())).collect();
    moves.sort_unstable();
    moves
}

#[tokio::test]
async fn the_database_moves_what_the_ledger_says_for_every_shape_of_a_purchase() {
    let town = Town::open().await;
    let shop = town.shop_with(RICH).await;
    let accounts = SettlementAccounts {
        wallet: shop.wallet,
        commission: town.commission_account(&shop),
        provider_payable: town.house(HouseAccount::ProviderPayable),
        fee_income: town.house(HouseAccount::FeeIncome),
        commission_expense: town.house(HouseAccount::CommissionExpense),
    };
    let (mut wallet, mut earned) = (town.stored(shop.wallet), town.stored(accounts.commission));
    for (number, (net, charge, commission)) in amounts().enumerate() {
        let what = (net, charge, commission);
        let (net, charge, commission) = (pula(net), pula(charge), pula(commission));
        let total = net.plus(charge).unwrap();
        let mut vended_one = town.order(&shop, &format!("04{number:09}"), 1).await;
        vended_one.price = Price { entry: total, charge, net, total, commission };
        let mut failed_one = town.order(&shop, &format!("05{number:09}"), 1).await;
        failed_one.price = vended_one.price;

        town.store.reserve(vended_one.clone()).await.unwrap();
        wallet = wallet.place_hold(total).unwrap();
        assert_eq!(town.stored(shop.wallet), wallet, "{what:?}");
        town.store.reserve(failed_one.clone()).await.unwrap();
        town.records(&failed_one, Fact::NeverSent { fence: FIRST }).await;
        wallet = wallet.place_hold(total).unwrap().release_hold(total).unwrap();
        assert_eq!(town.stored(shop.wallet), wallet, "{what:?}");
        town.records(&vended_one, vended(&format!("V{number}"), net.minor())).await;
        wallet = wallet.capture_hold(total).unwrap();
        earned = if commission.is_zero() { earned } else { earned.credit(commission).unwrap() };
        assert_eq!(town.stored(shop.wallet), wallet, "{what:?}");
        assert_eq!(town.stored(accounts.commission), earned, "{what:?}");

        let entry = Settlement { net, charge, commission }.entry(&accounts).unwrap();
        assert_eq!(town.postings(vended_one.id.0, "SETTLE"), moves_of(&entry), "{what:?}");
        assert_eq!(town.postings(failed_one.id.0, "SETTLE"), [], "{what:?}");
        town.records(&failed_one, vended(&format!("LATE{number}"), net.minor())).await;
        let suspense = [(town.house(HouseAccount::Suspense).0, accounts.provider_payable.0, net.minor())];
        assert_eq!(town.postings(failed_one.id.0, "INCIDENT"), suspense, "{what:?}");
        assert_eq!(town.stored(shop.wallet), wallet, "{what:?}");
    }
}

#[tokio::test]
async fn a_commission_is_admitted_up_to_what_its_rate_makes_of_the_net() {
    let town = Town::open().await;
    let shop = town.shop_with(RICH).await;
    town.offers_to(shop.authority.organisation);
    let mut number = 0;
    for rate in ["0", "0.000001", "0.005", "0.0125", "0.333333", "1"] {
        // Past the trigger that lets the rate before count a little longer.
        town.sql(&format!(
            "SET session_replication_role = replica; UPDATE offers SET commission_rate = {rate}"
        ));
        for net in [1, 49, 50, 99, 100, 12_345, 999_999_999] {
            let (net, rate) = (pula(net), Rate::parse(rate).unwrap());
            let granted: Money = net.at_rate(rate).unwrap();
            for (commission, is_admitted) in [(granted, true), (granted.plus(pula(1)).unwrap(), false)] {
                number += 1;
                let mut order = town.order(&shop, &format!("04{number:09}"), 1).await;
                order.price = Price { entry: net, charge: pula(0), net, total: net, commission };
                match town.store.reserve(order).await {
                    Ok(_) => assert!(is_admitted, "{net} at {rate}: {commission}"),
                    Err(ReserveError::Failed(error)) => {
                        let StoreError::Rejected { constraint, .. } = &*error else { panic!("{error:?}") };
                        assert_eq!(constraint, "purchases_begin_as_reserved");
                        assert!(!is_admitted, "{net} at {rate}: {commission}");
                    }
                    Err(other) => panic!("{other:?}"),
                }
            }
        }
    }
    town.sql(&format!("DELETE FROM offers WHERE provider_code = '{PROVIDER}'"));
    let without_offer = town.order(&shop, "04257670465", 1_000).await;
    assert!(town.store.reserve(without_offer).await.is_err());
}

#[tokio::test]
async fn what_a_record_frees_pays_for_a_reserve_of_the_same_group() {
    let town = Town::open().await;
    let shop = town.shop_with(1_150).await;
    for round in 0..8 {
        let (order, _) = town.reserved(&shop, &format!("04{round:09}"), 1_000).await;
        let next = town.order(&shop, &format!("05{round:09}"), 1_000).await;
        let (recorded, reserved) = tokio::join!(
            biased;
            town.records(&order, Fact::NeverSent { fence: FIRST }),
            town.store.reserve(next.clone()),
        );
        assert_eq!(recorded.verdict, store::Verdict::Moved);
        reserved.unwrap();
        town.records(&next, Fact::NeverSent { fence: FIRST }).await;
    }
    assert_eq!(town.balances(shop.wallet), "1150|0");
}
