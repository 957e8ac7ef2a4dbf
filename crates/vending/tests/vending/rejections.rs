//! What is refused before any money is touched: nothing is held, nothing is stored, nothing is sent.

use std::{pin::pin, time::Duration};

use directory::{Party, Status};
use ledger::AccountId;
use money::{Currency, Money};
use provider::scripted::{Latch, NextVend::VendsAndAnswersOnceOpened};
use purchase::{FormatError, PriceError, PurchaseRequest, Terms};
use vend::{Customer, Doubt, Product, Refusal, RefusalReason, Unanswered};
use vending::{ConfirmError, Rejection};

use crate::env::{METER, Merchant, TestEnv, act, assert_pending, meter, pula, terms, unchecked};

impl Merchant<'_> {
    /// Asserts that the request is rejected in this way, and that it had no effect.
    async fn is_rejected(&self, request: PurchaseRequest, expected: Rejection) {
        assert_eq!(self.confirms(request).await, Err(ConfirmError::Rejected(expected)));
        self.has("200.00", "0");
    }
}

impl TestEnv {
    fn nothing_came_of_it(&self) {
        assert_eq!((self.count("purchases"), self.count("attempts")), (0, 0));
        assert!(self.utility.vends().is_empty());
    }
}

#[tokio::test]
async fn what_the_catalogue_does_not_have_is_rejected_without_asking_the_provider() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let asked = merchant.request("100.00");
    let pounds = Currency::parse("GBP").unwrap();
    let commission = env.sql("SELECT id FROM accounts WHERE category = 'COMMISSION'");
    let commission = AccountId(commission.parse().unwrap());
    env.sql("DELETE FROM offers WHERE product = 'AIRTIME'; DELETE FROM removed_offers");

    let rejected = [
        (PurchaseRequest { debited_account: AccountId(999_999), ..asked.clone() }, Rejection::UnknownAccount),
        (PurchaseRequest { debited_account: commission, ..asked.clone() }, Rejection::AccountNotDebitable),
        (PurchaseRequest { product: Product::Airtime, ..asked.clone() }, Rejection::UnknownProduct),
        (PurchaseRequest { provider_code: "WUC".into(), ..asked.clone() }, Rejection::UnknownProvider),
        (
            PurchaseRequest { amount: Money::from_minor(10_000, pounds), ..asked.clone() },
            Rejection::OtherCurrency { account: pula("0").currency() },
        ),
        (
            PurchaseRequest { subscriber: meter("0425767046"), ..asked.clone() },
            Rejection::SubscriberFormat(FormatError::TooShort(11)),
        ),
        (
            PurchaseRequest { charges_on_top: false, amount: pula("1.50"), ..asked },
            Rejection::Price(PriceError::BelowCharges { entry: pula("1.50"), charge: pula("1.50") }),
        ),
    ];
    for (request, rejection) in rejected {
        merchant.is_rejected(request, rejection).await;
    }
    env.utility.saw([]);
    env.nothing_came_of_it();
    env.closes().await;
}

#[tokio::test]
async fn in_staging_no_provider_is_asked_about_a_subscriber_that_is_not_on_the_list() {
    let env = TestEnv::open().await;
    let (merchant, free) = (env.merchant_with("200.00").await, env.merchant_with("200.00").await);
    env.locks(merchant.authority.organisation, &[METER]).await;

    let for_another = PurchaseRequest { subscriber: meter("04257670466"), ..merchant.request("100.00") };
    merchant.is_rejected(for_another.clone(), Rejection::SubscriberNotAllowed).await;
    let quote = env.vending.quote(&merchant.authority, &for_another).await;
    assert_eq!(quote.unwrap_err(), Rejection::SubscriberNotAllowed);
    let malformed = PurchaseRequest { subscriber: meter("0425767046"), ..for_another.clone() };
    merchant.is_rejected(malformed, Rejection::SubscriberFormat(FormatError::TooShort(11))).await;
    let worthless = PurchaseRequest { charges_on_top: false, amount: pula("1.50"), ..for_another };
    merchant.is_rejected(worthless, Rejection::SubscriberNotAllowed).await;
    env.utility.saw([]);
    env.nothing_came_of_it();

    merchant.buys("100.00").await.unwrap();
    let in_production = PurchaseRequest { subscriber: meter("04257670466"), ..free.request("100.00") };
    free.confirms(in_production).await.unwrap();
    env.closes().await;
}

#[tokio::test]
async fn what_was_bought_before_a_lock_can_still_be_retried() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let bought = merchant.buys("100.00").await.unwrap();
    env.locks(merchant.authority.organisation, &[]).await;
    env.clock.advance(Duration::from_secs(6));
    let rejected = merchant.buys("50.00").await;
    assert_eq!(rejected, Err(ConfirmError::Rejected(Rejection::SubscriberNotAllowed)));
    assert_eq!(merchant.retries().await.unwrap().id, bought.id);
    env.closes().await;
}

#[tokio::test]
async fn the_catalogues_own_limits_are_kept() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let limited = Terms { minimum: Some(pula("10")), maximum: Some(pula("150")), ..terms() };
    env.offers(merchant.authority.organisation, Product::Electricity, limited).await;
    let (below, above) = (PriceError::BelowMinimum(pula("10.00")), PriceError::AboveMaximum(pula("150.00")));
    merchant.is_rejected(merchant.request("9.99"), Rejection::Price(below)).await;
    merchant.is_rejected(merchant.request("150.01"), Rejection::Price(above)).await;
    merchant.buys("150.00").await.unwrap();
    env.closes().await;
}

#[tokio::test]
async fn another_organisations_account_is_unknown() {
    let env = TestEnv::open().await;
    let (merchant, other) = (env.merchant_with("200.00").await, env.merchant_with("200.00").await);
    let foreign = PurchaseRequest { debited_account: other.wallet, ..merchant.request("100.00") };
    merchant.is_rejected(foreign, Rejection::UnknownAccount).await;
    other.has("200.00", "0");
    env.nothing_came_of_it();
    env.closes().await;
}

#[tokio::test]
async fn a_check_that_is_not_passed_or_cannot_be_made_rejects_the_purchase() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let unknown = Refusal::because(RefusalReason::UnknownSubscriber);
    for unanswered in [
        Unanswered::Refused(unknown),
        Unanswered::Unreachable,
        Unanswered::NoAnswer(Doubt::TimedOut),
        Unanswered::NoAnswer(Doubt::Unreadable),
    ] {
        env.utility.will_leave_unanswered([unanswered.clone()]);
        merchant.is_rejected(merchant.request("100.00"), unchecked(unanswered)).await;
    }
    env.utility.saw(["check"; 4]);
    env.nothing_came_of_it();
    env.closes().await;
}

#[tokio::test]
async fn a_barred_customer_is_rejected_and_asked_about_again_each_time() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let blocked = Refusal { reason: RefusalReason::Blocked, wording: Some("Debt unpaid".into()) };
    env.utility.knows(meter(METER), Customer { barred: Some(blocked.clone()), ..unrestricted() });
    for _ in 0..2 {
        let barred = unchecked(Unanswered::Refused(blocked.clone()));
        merchant.is_rejected(merchant.request("100.00"), barred).await;
    }
    env.utility.saw(["check", "check"]);
    env.utility.knows(meter(METER), unrestricted());
    merchant.buys("100.00").await.unwrap();
    env.closes().await;
}

#[tokio::test]
async fn an_amount_outside_the_customers_limits_is_rejected_and_names_the_limit() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let limited = Customer { minimum: Some(pula("20")), maximum: Some(pula("150")), ..unrestricted() };
    env.utility.knows(meter(METER), limited);
    let limit = |reason, limit| Rejection::Limit { reason, limit: pula(limit) };
    merchant.is_rejected(merchant.request("19.99"), limit(RefusalReason::BelowMinimum, "20.00")).await;
    merchant.is_rejected(merchant.request("150.01"), limit(RefusalReason::AboveMaximum, "150.00")).await;
    env.nothing_came_of_it();
    for amount in ["20.00", "150.00"] {
        merchant.buys(amount).await.unwrap();
    }
    env.closes().await;
}

#[tokio::test]
async fn a_balance_that_is_too_low_names_the_gap() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let gap = |gap| Rejection::Insufficient { gap: pula(gap) };
    merchant.is_rejected(merchant.request("200.00"), gap("1.50")).await;
    env.nothing_came_of_it();
    merchant.buys("198.50").await.unwrap();
    merchant.has("0", "0");
    assert_eq!(merchant.buys("0.01").await, Err(ConfirmError::Rejected(gap("1.51"))));
    env.closes().await;
}

#[tokio::test]
async fn a_caller_that_is_suspended_or_revoked_after_its_login_buys_nothing() {
    let env = TestEnv::open().await;
    for (number, rejection) in
        [Rejection::Suspended, Rejection::Revoked, Rejection::Revoked, Rejection::Revoked]
            .into_iter()
            .enumerate()
    {
        let merchant = env.merchant_with("200.00").await;
        let authority = merchant.authority;
        let party = match number {
            0 => Some(Party::Organisation(authority.organisation.0)),
            1 => Some(Party::Client(authority.client.0)),
            2 => Some(Party::User(authority.user.0)),
            _ => None,
        };
        match party {
            Some(party) => env.onboarding.set_status(party, Status::Suspended, act()).await.unwrap(),
            None => env.onboarding.revoke_secret(merchant.secret_id, act()).await.unwrap(),
        }
        merchant.is_rejected(merchant.request("100.00"), rejection).await;
    }
    env.nothing_came_of_it();
    env.closes().await;
}

#[tokio::test]
async fn an_account_that_is_suspended_while_its_catalogue_is_remembered_is_not_debited() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    merchant.quotes("100.00").await.unwrap();
    env.sql(&format!("UPDATE accounts SET status = 'SUSPENDED' WHERE id = {}", merchant.wallet.0));
    merchant.is_rejected(merchant.request("100.00"), Rejection::AccountNotDebitable).await;
    env.nothing_came_of_it();
    env.closes().await;
}

#[tokio::test]
async fn of_two_confirms_for_one_subscriber_at_once_one_is_told_that_the_other_is_pending() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("500.00").await;
    let answer = Latch::closed();
    env.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let (first_told, told_later) =
        Box::pin(both_told(merchant.buys("100.00"), merchant.buys("100.00"), || answer.open())).await;
    assert_pending(&first_told);
    assert!(told_later.is_ok());
    assert_eq!(env.count("purchases"), 1);
    merchant.has("398.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn other_products_and_other_subscribers_do_not_wait_for_one_that_is_open() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("500.00").await;
    env.utility.will([provider::scripted::NextVend::NeverArrives]);
    merchant.is_left_in_doubt("100.00").await;
    let asked = merchant.request("100.00");
    for request in [
        PurchaseRequest { product: Product::Water, ..asked.clone() },
        PurchaseRequest { subscriber: meter("04257670466"), ..asked },
    ] {
        merchant.confirms(request).await.unwrap();
    }
    assert_eq!(env.states(), "IN_DOUBT SUCCESSFUL SUCCESSFUL");
    merchant.has("297.00", "101.50");
    env.closes().await;
}

/// The answers to two concurrent calls, in the order in which they are given. `meanwhile` runs between the
/// two.
async fn both_told<T>(
    one: impl Future<Output = T>,
    other: impl Future<Output = T>,
    meanwhile: impl Fn(),
) -> (T, T) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    tokio::select! {
        told = &mut one => {
            meanwhile();
            (told, other.await)
        }
        told = &mut other => {
            meanwhile();
            (told, one.await)
        }
    }
}

/// A customer that may buy anything.
fn unrestricted() -> Customer {
    Customer { name: Some("K. MOLEFE".into()), barred: None, minimum: None, maximum: None }
}
