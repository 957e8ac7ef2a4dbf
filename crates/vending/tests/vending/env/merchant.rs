//! An integrator: an organisation with a wallet, a user that is logged in, and one meter that it mostly buys
//! for.

use std::fmt::Debug;
use std::time::Duration;

use ledger::AccountId;
use purchase::{Authority, IdempotencyKey, NotificationFlags, PurchaseRequest, Record, SourceChannel};
use vend::{Product, SubscriberIdentifier};
use vending::{
    ConfirmError, Confirmed, Quote, Rejection, RequestTrace, RetryError, RetryQuestion, RetryScope, Vending,
};

use super::{PROVIDER, REST_AND_MORE, TestEnv, pula};

/// The meter that a merchant buys for.
pub const METER: &str = "04257670465";
/// The external reference of a merchant's purchase.
pub const REFERENCE: &str = "till-3/0001";

#[derive(Clone, Copy)]
pub struct Merchant<'env> {
    pub env: &'env TestEnv,
    pub authority: Authority,
    pub wallet: AccountId,
    /// The client secret that it logged in with.
    pub secret_id: i64,
}

impl Merchant<'_> {
    /// A request for electricity of this amount, charges on top, for the meter of these tests.
    pub fn request(&self, amount: &str) -> PurchaseRequest {
        PurchaseRequest {
            source_channel: SourceChannel::Pos,
            source_tag: None,
            language: "en".into(),
            product: Product::Electricity,
            provider_code: PROVIDER.into(),
            debited_account: self.wallet,
            beneficiary_phone_number: "26771234567".into(),
            subscriber: meter(METER),
            amount: pula(amount),
            charges_on_top: true,
            comment: Some("till 3".into()),
            external_reference: Some(REFERENCE.into()),
            notifications: NotificationFlags { requester_email: false, ..NotificationFlags::default() },
        }
    }

    /// Buys for this amount.
    pub async fn buys(&self, amount: &str) -> Result<Box<Record>, ConfirmError> {
        self.confirms(self.request(amount)).await
    }

    /// Buys under a reference about which a final answer was given, after the end of its rest.
    pub async fn buys_afresh(&self, amount: &str) -> Result<Box<Record>, ConfirmError> {
        self.env.time_passes(REST_AND_MORE);
        self.buys(amount).await
    }

    pub async fn confirms(&self, request: PurchaseRequest) -> Result<Box<Record>, ConfirmError> {
        self.confirms_from(Duration::ZERO, request).await
    }

    /// Confirms a request that arrived this long ago.
    pub async fn confirms_from(
        &self,
        ago: Duration,
        request: PurchaseRequest,
    ) -> Result<Box<Record>, ConfirmError> {
        self.env.vending.confirm(self.authority, request, self.env.arrival(ago)).await
    }

    /// Buys for this amount, once under this key.
    pub async fn buys_once(&self, key: &str, amount: &str) -> Result<Confirmed, ConfirmError> {
        self.confirms_once(key, self.request(amount)).await
    }

    pub async fn confirms_once(
        &self,
        key: &str,
        request: PurchaseRequest,
    ) -> Result<Confirmed, ConfirmError> {
        self.confirms_once_at(&self.env.vending, key, request).await
    }

    /// Confirms at another process.
    pub async fn confirms_once_at(
        &self,
        process: &Vending,
        key: &str,
        request: PurchaseRequest,
    ) -> Result<Confirmed, ConfirmError> {
        self.confirms_once_from(Duration::ZERO, process, key, request).await
    }

    /// Confirms under a key a request that arrived this long ago.
    pub async fn confirms_once_from(
        &self,
        ago: Duration,
        process: &Vending,
        key: &str,
        request: PurchaseRequest,
    ) -> Result<Confirmed, ConfirmError> {
        let key = IdempotencyKey::parse(key).unwrap();
        process.confirm_once(self.authority, key, request, self.env.arrival(ago)).await
    }

    /// Buys once under a key about which an answer was just given, and repeats it while it is told to come
    /// again. A confirm within a moment of that answer may be taken for one that began before it.
    pub async fn comes_again(&self, key: &str, amount: &str) -> Result<Confirmed, ConfirmError> {
        let asked = tokio::time::timeout(Duration::from_secs(30), async {
            loop {
                match self.buys_once(key, amount).await {
                    Err(ConfirmError::Rejected(Rejection::Pending(_) | Rejection::KeyClosed)) => {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                    outcome => return outcome,
                }
            }
        });
        asked.await.unwrap()
    }

    pub async fn quotes(&self, amount: &str) -> Result<Quote, Rejection> {
        self.env.vending.quote(&self.authority, &self.request(amount)).await
    }

    /// Has the provider go through the whole sale without money.
    pub async fn tries(&self, amount: &str) -> Result<Quote, Rejection> {
        self.env.vending.trial(&self.authority, &self.request(amount)).await
    }

    /// Asks for the outcome of its purchase.
    pub async fn retries(&self) -> Result<Box<Record>, RetryError> {
        self.retries_in(RetryScope::AnyProduct).await
    }

    pub async fn retries_in(&self, scope: RetryScope) -> Result<Box<Record>, RetryError> {
        self.env.vending.retry(self.authority, question(METER, scope), RequestTrace::off()).await
    }

    /// Asks another process.
    pub async fn retries_at(&self, process: &Vending) -> Result<Box<Record>, RetryError> {
        process.retry(self.authority, question(METER, RetryScope::AnyProduct), RequestTrace::off()).await
    }

    /// Asks about another meter.
    pub async fn retries_for(&self, number: &str) -> Result<Box<Record>, RetryError> {
        self.env
            .vending
            .retry(self.authority, question(number, RetryScope::AnyProduct), RequestTrace::off())
            .await
    }

    /// Buys for this amount, gets no outcome, and leaves the money held.
    pub async fn is_left_in_doubt(&self, amount: &str) {
        assert_unknown(&self.buys(amount).await);
        self.env.comes_to("IN_DOUBT").await;
    }

    /// Asserts what is posted to its wallet and how much of that is held.
    #[track_caller]
    pub fn has(&self, posted: &str, held: &str) {
        let wallet = format!("SELECT posted, held FROM accounts WHERE id = {}", self.wallet.0);
        let expected = format!("{}|{}", pula(posted).minor(), pula(held).minor());
        assert_eq!(self.env.sql(&wallet), expected, "posted and held");
    }

    /// Asserts how much commission it has earned.
    #[track_caller]
    pub fn has_earned(&self, commission: &str) {
        let own = format!("organisation_id = {} AND category = 'COMMISSION'", self.authority.organisation.0);
        let posted = self.env.sql(&format!("SELECT posted FROM accounts WHERE {own}"));
        assert_eq!(posted, pula(commission).minor().to_string(), "commission");
    }
}

fn question(number: &str, scope: RetryScope) -> RetryQuestion {
    RetryQuestion { subscriber: meter(number), external_reference: REFERENCE.into(), scope }
}

pub fn meter(number: &str) -> SubscriberIdentifier {
    SubscriberIdentifier::parse(number).unwrap()
}

/// Asserts that the caller was answered that the outcome is not known.
#[track_caller]
pub fn assert_unknown<T: Debug>(told: &Result<T, ConfirmError>) {
    assert!(matches!(told, Err(ConfirmError::Unknown(_))), "{told:?}");
}

/// Asserts that the caller was answered that an earlier purchase is open.
#[track_caller]
pub fn assert_pending<T: Debug>(told: &Result<T, ConfirmError>) {
    assert!(matches!(told, Err(ConfirmError::Rejected(Rejection::Pending(_)))), "{told:?}");
}

/// Asserts that a confirm was refused because of the answer to a retry.
#[track_caller]
pub fn assert_rests<T: Debug>(told: &Result<T, ConfirmError>) {
    assert!(matches!(told, Err(ConfirmError::Rejected(Rejection::ReferenceRests { .. }))), "{told:?}");
}

/// Asserts that a retry could not reach the provider.
#[track_caller]
pub fn assert_unreachable<T: Debug>(told: &Result<T, RetryError>) {
    assert!(matches!(told, Err(RetryError::Unreachable(_))), "{told:?}");
}
