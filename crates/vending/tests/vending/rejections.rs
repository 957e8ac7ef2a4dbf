//! What is refused before any money is touched: nothing is held, nothing is stored, nothing is sent.

use std::pin::pin;
use std::time::Duration;

use ledger::AccountId;
use money::{Currency, Money};
use provider::scripted::Latch;
use provider::scripted::NextVend::VendsAndAnswersOnceOpened;
use purchase::{FormatError, PriceError, PurchaseRequest, Terms};
use store::identity::{Party, Status};
use vend::{Customer, Doubt, Product, Refusal, RefusalReason, Unanswered};
use vending::{ConfirmError, Rejection};

use crate::town::{METER, Shop, Town, act, assert_pending, meter, pula, terms, unchecked};

impl Shop<'_> {
    /// Asserts that the request is rejected so, and that nothing came of it.
    async fn is_rejected(&self, request: PurchaseRequest, expected: Rejection) {
        assert_eq!(self.confirms(request).await, Err(ConfirmError::Rejected(expected)));
        self.has("200.00", "0");
    }
}

impl Town {
    fn nothing_came_of_it(&self) {
        assert_eq!((self.count("purchases"), self.count("attempts")), (0, 0));
        assert!(self.utility.vends().is_empty());
    }
}

#[tokio::test]
async fn what_the_catalogue_does_not_have_is_rejected_without_asking_the_provider() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let asked = shop.request("100.00");
    let pounds = Currency::parse("GBP").unwrap();
    let commission = town.sql("SELECT id FROM accounts WHERE category = 'COMMISSION'");
    let commission = AccountId(commission.parse().unwrap());
    town.sql("DELETE FROM offers WHERE product = 'AIRTIME'");

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
        shop.is_rejected(request, rejection).await;
    }
    town.utility.saw([]);
    town.nothing_came_of_it();
    town.closes().await;
}

#[tokio::test]
async fn in_staging_nobody_is_asked_about_a_subscriber_who_is_not_on_the_list() {
    let town = Town::open().await;
    let (shop, free) = (town.shop_with("200.00").await, town.shop_with("200.00").await);
    town.locks(shop.authority.organisation, &[METER]).await;

    let for_another = PurchaseRequest { subscriber: meter("04257670466"), ..shop.request("100.00") };
    shop.is_rejected(for_another.clone(), Rejection::SubscriberNotAllowed).await;
    let quote = town.vending.quote(&shop.authority, &for_another).await;
    assert_eq!(quote.unwrap_err(), Rejection::SubscriberNotAllowed);
    let malformed = PurchaseRequest { subscriber: meter("0425767046"), ..for_another.clone() };
    shop.is_rejected(malformed, Rejection::SubscriberFormat(FormatError::TooShort(11))).await;
    let worthless = PurchaseRequest { charges_on_top: false, amount: pula("1.50"), ..for_another };
    shop.is_rejected(worthless, Rejection::SubscriberNotAllowed).await;
    town.utility.saw([]);
    town.nothing_came_of_it();

    shop.buys("100.00").await.unwrap();
    let in_production = PurchaseRequest { subscriber: meter("04257670466"), ..free.request("100.00") };
    free.confirms(in_production).await.unwrap();
    town.closes().await;
}

#[tokio::test]
async fn what_was_bought_before_a_lock_can_still_be_retried() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let bought = shop.buys("100.00").await.unwrap();
    town.locks(shop.authority.organisation, &[]).await;
    town.clock.advance(Duration::from_secs(6));
    let rejected = shop.buys("50.00").await;
    assert_eq!(rejected, Err(ConfirmError::Rejected(Rejection::SubscriberNotAllowed)));
    assert_eq!(shop.retries().await.unwrap().id, bought.id);
    town.closes().await;
}

#[tokio::test]
async fn the_catalogues_own_limits_are_kept() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let limited = Terms { minimum: Some(pula("10")), maximum: Some(pula("150")), ..terms() };
    town.offers(shop.authority.organisation, Product::Electricity, limited).await;
    let (below, above) = (PriceError::BelowMinimum(pula("10.00")), PriceError::AboveMaximum(pula("150.00")));
    shop.is_rejected(shop.request("9.99"), Rejection::Price(below)).await;
    shop.is_rejected(shop.request("150.01"), Rejection::Price(above)).await;
    shop.buys("150.00").await.unwrap();
    town.closes().await;
}

#[tokio::test]
async fn another_organisations_account_is_unknown() {
    let town = Town::open().await;
    let (shop, other) = (town.shop_with("200.00").await, town.shop_with("200.00").await);
    let foreign = PurchaseRequest { debited_account: other.wallet, ..shop.request("100.00") };
    shop.is_rejected(foreign, Rejection::UnknownAccount).await;
    other.has("200.00", "0");
    town.nothing_came_of_it();
    town.closes().await;
}

#[tokio::test]
async fn a_check_that_is_not_passed_or_cannot_be_made_rejects_the_purchase() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let unknown = Refusal::because(RefusalReason::UnknownSubscriber);
    for unanswered in [
        Unanswered::Refused(unknown),
        Unanswered::Unreachable,
        Unanswered::NoAnswer(Doubt::TimedOut),
        Unanswered::NoAnswer(Doubt::Unreadable),
    ] {
        town.utility.will_leave_unanswered([unanswered.clone()]);
        shop.is_rejected(shop.request("100.00"), unchecked(unanswered)).await;
    }
    town.utility.saw(["check"; 4]);
    town.nothing_came_of_it();
    town.closes().await;
}

#[tokio::test]
async fn a_barred_customer_is_rejected_and_asked_about_again_each_time() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let blocked = Refusal { reason: RefusalReason::Blocked, wording: Some("Debt unpaid".into()) };
    town.utility.knows(meter(METER), Customer { barred: Some(blocked.clone()), ..anybody() });
    for _ in 0..2 {
        let barred = unchecked(Unanswered::Refused(blocked.clone()));
        shop.is_rejected(shop.request("100.00"), barred).await;
    }
    town.utility.saw(["check", "check"]);
    town.utility.knows(meter(METER), anybody());
    shop.buys("100.00").await.unwrap();
    town.closes().await;
}

#[tokio::test]
async fn an_amount_outside_the_customers_limits_is_rejected_and_names_the_limit() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let limited = Customer { minimum: Some(pula("20")), maximum: Some(pula("150")), ..anybody() };
    town.utility.knows(meter(METER), limited);
    let limit = |reason, limit| Rejection::Limit { reason, limit: pula(limit) };
    shop.is_rejected(shop.request("19.99"), limit(RefusalReason::BelowMinimum, "20.00")).await;
    shop.is_rejected(shop.request("150.01"), limit(RefusalReason::AboveMaximum, "150.00")).await;
    town.nothing_came_of_it();
    for amount in ["20.00", "150.00"] {
        shop.buys(amount).await.unwrap();
    }
    town.closes().await;
}

#[tokio::test]
async fn a_balance_that_is_too_low_names_the_gap() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let gap = |gap| Rejection::Insufficient { gap: pula(gap) };
    shop.is_rejected(shop.request("200.00"), gap("1.50")).await;
    town.nothing_came_of_it();
    shop.buys("198.50").await.unwrap();
    shop.has("0", "0");
    assert_eq!(shop.buys("0.01").await, Err(ConfirmError::Rejected(gap("1.51"))));
    town.closes().await;
}

#[tokio::test]
async fn who_is_suspended_or_revoked_after_being_let_in_buys_nothing() {
    let town = Town::open().await;
    for (number, rejection) in
        [Rejection::Suspended, Rejection::Revoked, Rejection::Revoked, Rejection::Revoked]
            .into_iter()
            .enumerate()
    {
        let shop = town.shop_with("200.00").await;
        let authority = shop.authority;
        let party = match number {
            0 => Some(Party::Organisation(authority.organisation.0)),
            1 => Some(Party::Client(authority.client.0)),
            2 => Some(Party::User(authority.user.0)),
            _ => None,
        };
        match party {
            Some(party) => town.onboarding.set_status(party, Status::Suspended, act()).await.unwrap(),
            None => town.onboarding.revoke_secret(shop.secret_id, act()).await.unwrap(),
        }
        shop.is_rejected(shop.request("100.00"), rejection).await;
    }
    town.nothing_came_of_it();
    town.closes().await;
}

#[tokio::test]
async fn an_account_that_is_suspended_while_its_catalogue_is_remembered_is_not_debited() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    shop.quotes("100.00").await.unwrap();
    town.sql(&format!("UPDATE accounts SET status = 'SUSPENDED' WHERE id = {}", shop.wallet.0));
    shop.is_rejected(shop.request("100.00"), Rejection::AccountNotDebitable).await;
    town.nothing_came_of_it();
    town.closes().await;
}

#[tokio::test]
async fn of_two_confirms_for_one_subscriber_at_once_one_is_told_that_the_other_is_pending() {
    let town = Town::open().await;
    let shop = town.shop_with("500.00").await;
    let answer = Latch::closed();
    town.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let (first_told, told_later) =
        Box::pin(both_told(shop.buys("100.00"), shop.buys("100.00"), || answer.open())).await;
    assert_pending(&first_told);
    assert!(told_later.is_ok());
    assert_eq!(town.count("purchases"), 1);
    shop.has("398.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn other_products_and_other_subscribers_do_not_wait_for_one_that_is_open() {
    let town = Town::open().await;
    let shop = town.shop_with("500.00").await;
    town.utility.will([provider::scripted::NextVend::NeverArrives]);
    shop.is_left_in_doubt("100.00").await;
    let asked = shop.request("100.00");
    for request in [
        PurchaseRequest { product: Product::Water, ..asked.clone() },
        PurchaseRequest { subscriber: meter("04257670466"), ..asked },
    ] {
        shop.confirms(request).await.unwrap();
    }
    assert_eq!(town.states(), "IN_DOUBT SUCCESSFUL SUCCESSFUL");
    shop.has("297.00", "101.50");
    town.closes().await;
}

/// What two are told who ask at once, in the order in which they are told; between the two, `meanwhile`.
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

/// A customer who may buy anything.
fn anybody() -> Customer {
    Customer { name: Some("K. MOLEFE".into()), barred: None, minimum: None, maximum: None }
}
