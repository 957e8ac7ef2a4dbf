//! The money rules exist twice: in `ledger`, which decides, and in the database, which derives. These tests
//! compare both, for every shape of a purchase and every way to its end.

use database::DatabaseError;
use ledger::{AccountId, JournalEntry, Settlement, SettlementAccounts, SystemAccount, Wallet};
use money::{Money, Rate};
use purchase::{Event, Price};
use store::ReserveError;

use crate::env::{FIRST, Merchant, PROVIDER, TestEnv, pula, vended};

const RICH: i64 = 100_000_000_000;

/// Net, charge and commission: zero, the smallest amount, typical amounts, and more than 32 bits.
fn amounts() -> impl Iterator<Item = (i64, i64, i64)> {
    let nets = [1, 99, 10_000, 5_000_000_007];
    nets.into_iter().flat_map(|net| {
        [0, 1, 150].into_iter().flat_map(move |charge| {
            [0, 1, net / 2, net].into_iter().map(move |commission| (net, charge, commission))
        })
    })
}

impl TestEnv {
    fn system_account(&self, role: SystemAccount) -> AccountId {
        let id = self.sql(&format!("SELECT id FROM accounts WHERE house = '{}'", role.as_str()));
        AccountId(id.parse().unwrap())
    }

    fn commission_account(&self, merchant: &Merchant) -> AccountId {
        let organisation = merchant.authority.organisation.0;
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
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(RICH).await;
    let accounts = SettlementAccounts {
        wallet: merchant.wallet,
        commission: env.commission_account(&merchant),
        provider_payable: env.system_account(SystemAccount::ProviderPayable),
        fee_income: env.system_account(SystemAccount::FeeIncome),
        commission_expense: env.system_account(SystemAccount::CommissionExpense),
    };
    let (mut wallet, mut earned) = (env.stored(merchant.wallet), env.stored(accounts.commission));
    for (number, (net, charge, commission)) in amounts().enumerate() {
        let what = (net, charge, commission);
        let (net, charge, commission) = (pula(net), pula(charge), pula(commission));
        let total = net.plus(charge).unwrap();
        let mut vended_one = env.order(&merchant, &format!("04{number:09}"), 1).await;
        vended_one.price = Price { entry: total, charge, net, total, commission };
        let mut failed_one = env.order(&merchant, &format!("05{number:09}"), 1).await;
        failed_one.price = vended_one.price;

        env.store.reserve(vended_one.clone()).await.unwrap();
        wallet = wallet.place_hold(total).unwrap();
        assert_eq!(env.stored(merchant.wallet), wallet, "{what:?}");
        env.store.reserve(failed_one.clone()).await.unwrap();
        env.records(&failed_one, Event::NeverSent { fence: FIRST }).await;
        wallet = wallet.place_hold(total).unwrap().release_hold(total).unwrap();
        assert_eq!(env.stored(merchant.wallet), wallet, "{what:?}");
        env.records(&vended_one, vended(&format!("V{number}"), net.minor())).await;
        wallet = wallet.capture_hold(total).unwrap();
        earned = if commission.is_zero() { earned } else { earned.credit(commission).unwrap() };
        assert_eq!(env.stored(merchant.wallet), wallet, "{what:?}");
        assert_eq!(env.stored(accounts.commission), earned, "{what:?}");

        let entry = Settlement { net, charge, commission }.entry(&accounts).unwrap();
        assert_eq!(env.postings(vended_one.id.0, "SETTLE"), moves_of(&entry), "{what:?}");
        assert_eq!(env.postings(failed_one.id.0, "SETTLE"), [], "{what:?}");
        env.records(&failed_one, vended(&format!("LATE{number}"), net.minor())).await;
        let suspense =
            [(env.system_account(SystemAccount::Suspense).0, accounts.provider_payable.0, net.minor())];
        assert_eq!(env.postings(failed_one.id.0, "INCIDENT"), suspense, "{what:?}");
        assert_eq!(env.stored(merchant.wallet), wallet, "{what:?}");
    }
}

#[tokio::test]
async fn a_commission_is_admitted_up_to_what_its_rate_makes_of_the_net() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(RICH).await;
    env.offers_to(merchant.authority.organisation);
    let mut number = 0;
    for rate in ["0", "0.000001", "0.005", "0.0125", "0.333333", "1"] {
        // Past the trigger that still accepts the previous rate for a short time.
        env.sql(&format!(
            "SET session_replication_role = replica; UPDATE offers SET commission_rate = {rate}"
        ));
        for net in [1, 49, 50, 99, 100, 12_345, 999_999_999] {
            let (net, rate) = (pula(net), Rate::parse(rate).unwrap());
            let granted: Money = net.at_rate(rate).unwrap();
            for (commission, is_admitted) in [(granted, true), (granted.plus(pula(1)).unwrap(), false)] {
                number += 1;
                let mut order = env.order(&merchant, &format!("04{number:09}"), 1).await;
                order.price = Price { entry: net, charge: pula(0), net, total: net, commission };
                match env.store.reserve(order).await {
                    Ok(_) => assert!(is_admitted, "{net} at {rate}: {commission}"),
                    Err(ReserveError::Failed(error)) => {
                        let DatabaseError::Rejected { constraint, .. } = &*error else { panic!("{error:?}") };
                        assert_eq!(constraint, "purchases_begin_as_reserved");
                        assert!(!is_admitted, "{net} at {rate}: {commission}");
                    }
                    Err(other) => panic!("{other:?}"),
                }
            }
        }
    }
    env.sql(&format!("DELETE FROM offers WHERE provider_code = '{PROVIDER}'"));
    let without_offer = env.order(&merchant, "04257670465", 1_000).await;
    assert!(env.store.reserve(without_offer).await.is_err());
}

#[tokio::test]
async fn what_a_record_frees_pays_for_a_reserve_of_the_same_group() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(1_150).await;
    for round in 0..8 {
        let (order, _) = env.reserved(&merchant, &format!("04{round:09}"), 1_000).await;
        let next = env.order(&merchant, &format!("05{round:09}"), 1_000).await;
        let (recorded, reserved) = tokio::join!(
            biased;
            env.records(&order, Event::NeverSent { fence: FIRST }),
            env.store.reserve(next.clone()),
        );
        assert_eq!(recorded.verdict, store::Verdict::Moved);
        reserved.unwrap();
        env.records(&next, Event::NeverSent { fence: FIRST }).await;
    }
    assert_eq!(env.balances(merchant.wallet), "1150|0");
}
