//! Every error of a use case, as the integrator reads it.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Africa::Gaborone;
use error_codes::ErrorCode;
use messages::{Language, Messages};
use money::{Currency, Money};
use purchase::{FormatError, PriceError, Recovery};
use vend::{Doubt, Product, Refusal, RefusalReason, Unanswered};
use vending::{ConfirmError, PauseEnd, Rejection, RetryError, RetryScope};
use web::{ApiError, Asked, not_confirmed, not_resolved, rejected};

fn bwp(amount: &str) -> Money {
    Money::parse_wire(&format!("BWP {amount}")).unwrap()
}

fn noon() -> DateTime<Utc> {
    DateTime::from_timestamp(1_795_168_800, 0).unwrap()
}

/// Of a purchase about which the caller may ask again after 7.5 seconds.
fn recovery() -> Recovery {
    Recovery { at: noon(), not_before: noon() + TimeDelta::milliseconds(7_500), resolved_by: None }
}

fn told(error: &ApiError) -> (&'static str, Option<&str>, bool) {
    (error.code().as_str(), error.param(), error.is_retryable())
}

fn said(error: &ApiError) -> String {
    error.message(&Messages::new(), Language::English)
}

fn on_quote(rejection: &Rejection) -> ApiError {
    rejected(rejection, Product::Electricity, Asked::ForAQuote)
}

fn of_check(unanswered: Unanswered) -> Rejection {
    Rejection::Check { provider_code: "BPC".to_owned(), unanswered }
}

#[test]
fn every_rejection_has_its_code_and_names_its_field() {
    for (rejection, code, param) in [
        (Rejection::UnknownAccount, ErrorCode::ResourceNotFound, Some("debited_account_id")),
        (Rejection::AccountNotDebitable, ErrorCode::Forbidden, Some("debited_account_id")),
        (Rejection::Suspended, ErrorCode::Forbidden, None),
        (Rejection::Revoked, ErrorCode::InvalidCredentials, None),
        (Rejection::UnknownProduct, ErrorCode::InvalidArgument, Some("product_type")),
        (Rejection::UnknownProvider, ErrorCode::InvalidArgument, Some("provider_code")),
        (Rejection::NoDefaultProvider, ErrorCode::Forbidden, None),
        (Rejection::OfferRemoved { provider_code: "BPC".to_owned() }, ErrorCode::Forbidden, None),
        (
            Rejection::SubscriberFormat(FormatError::OtherForm),
            ErrorCode::InvalidMeterNumber,
            Some("subscriber_identifier"),
        ),
        (Rejection::KeyReused, ErrorCode::InvalidArgument, Some("idempotency_key")),
        (Rejection::SubscriberNotAllowed, ErrorCode::MeterNotAllowed, Some("subscriber_identifier")),
        (Rejection::Internal, ErrorCode::InternalError, None),
    ] {
        assert_eq!(told(&on_quote(&rejection)), (code.as_str(), param, false));
    }
}

#[test]
fn what_passes_by_itself_is_retryable() {
    for (rejection, code) in [
        (Rejection::Pending(recovery()), "transaction_pending"),
        (Rejection::KeyClosed, "transaction_pending"),
        (Rejection::ReferenceRests { wait: Duration::from_mins(1) }, "transaction_pending"),
        (Rejection::CallerGone, "transaction_pending"),
        (Rejection::Overloaded, "rate_limited"),
        (Rejection::TooLate, "provider_unavailable"),
        (Rejection::Paused { provider_code: "BPC".to_owned(), until: None }, "provider_unavailable"),
        (of_check(Unanswered::Unreachable), "provider_unavailable"),
    ] {
        assert_eq!(told(&on_quote(&rejection)), (code, None, true));
    }
}

#[test]
fn a_pause_is_told_with_its_end_in_every_language_if_it_is_known() {
    let at = "2026-11-20T12:00:00Z".parse::<DateTime<Utc>>().unwrap().with_timezone(&Gaborone);
    let told = |wait, language: Language| {
        let until = Some(PauseEnd { at, wait });
        let error = on_quote(&Rejection::Paused { provider_code: "BPC".to_owned(), until });
        (error.message(&Messages::new(), language), error.retry_after())
    };
    let hour = Duration::from_hours(1);
    let in_english = "Sales of BPC are paused until 2026-11-20 14:00:00 local time. Nothing was charged. Send the request again \
                after that.";
    assert_eq!(told(hour, Language::English), (in_english.to_owned(), Some(hour)));
    for language in Language::ALL {
        let (text, _) = told(hour, language);
        assert!(text.contains("2026-11-20 14:00:00") && text.contains("BPC"), "{text}");
    }
    assert_eq!(told(Duration::ZERO, Language::English).1, Some(Duration::from_secs(1)));
    let endless = on_quote(&Rejection::Paused { provider_code: "BPC".to_owned(), until: None });
    assert_eq!(endless.retry_after(), None);
    assert!(said(&endless).contains("until further notice"), "{}", said(&endless));
}

#[test]
fn figures_are_told_where_they_help() {
    let currency = Currency::parse("BWP").unwrap();
    for (rejection, code, param, message) in [
        (
            Rejection::Insufficient { gap: bwp("42.50") },
            "insufficient_balance",
            None,
            "The balance is short by BWP 42.50. Top up the account or buy for less.",
        ),
        (
            Rejection::OtherCurrency { account: currency },
            "invalid_argument",
            Some("currency"),
            "The account is kept in BWP. Send that in currency, or choose another account.",
        ),
        (
            Rejection::Limit { reason: RefusalReason::AboveMaximum, limit: bwp("100000.00") },
            "amount_above_maximum",
            Some("amount"),
            "The value of amount cannot exceed BWP 100000.00. Buy for at most that.",
        ),
        (
            Rejection::Limit { reason: RefusalReason::BelowMinimum, limit: bwp("1000.01") },
            "amount_below_minimum",
            Some("amount"),
            "The value of amount is below the minimum of BWP 1000.01. Buy for at least that.",
        ),
        (
            Rejection::Price(PriceError::BelowCharges { entry: bwp("1.00"), charge: bwp("2.00") }),
            "amount_below_charges",
            Some("amount"),
            "The charges of BWP 2.00 take up all of the value of amount, and nothing is left to buy. Buy for more.",
        ),
    ] {
        let error = on_quote(&rejection);
        assert_eq!((told(&error), said(&error)), ((code, param, false), message.to_owned()));
    }
}

#[test]
fn a_refused_check_speaks_with_the_providers_words() {
    let refusal = Refusal { reason: RefusalReason::Blocked, wording: Some("Debt of P40".to_owned()) };
    let error = on_quote(&of_check(Unanswered::Refused(refusal)));
    assert_eq!(told(&error), ("meter_blocked", None, false));
    assert!(said(&error).ends_with("The provider says: Debt of P40"));
}

#[test]
fn a_refused_check_without_wording_names_the_provider() {
    let error = on_quote(&of_check(Unanswered::Refused(Refusal::because(RefusalReason::Blocked))));
    assert!(said(&error).ends_with("This is a refusal of BPC, which gave no reason."), "{}", said(&error));
}

#[test]
fn a_phone_outside_of_the_allow_list_is_called_a_phone() {
    let error = rejected(&Rejection::SubscriberNotAllowed, Product::Airtime, Asked::ForAQuote);
    assert_eq!(told(&error), ("meter_not_allowed", Some("subscriber_identifier"), false));
    assert!(said(&error).contains("test phone numbers"), "{}", said(&error));
}

#[test]
fn an_unknown_outcome_sends_the_integrator_to_retry_and_a_silent_quote_does_not() {
    let unknown = not_confirmed(&ConfirmError::Unknown(recovery()), Product::Electricity);
    assert_eq!(told(&unknown), ("provider_timeout", None, true));
    assert!(said(&unknown).contains("Do not buy again"));
    let quote = on_quote(&of_check(Unanswered::NoAnswer(Doubt::TimedOut)));
    assert_eq!(told(&quote), ("provider_timeout", None, true));
    assert!(said(&quote).contains("Nothing was charged"));
    let check = ConfirmError::Rejected(of_check(Unanswered::NoAnswer(Doubt::TimedOut)));
    assert_eq!(told(&not_confirmed(&check, Product::Electricity)), ("provider_unavailable", None, true));
}

#[test]
fn an_answer_that_is_not_final_says_when_to_come_again_and_never_a_moment_too_early() {
    let (pending, unknown) = (RetryError::Pending(recovery()), RetryError::Unreachable(recovery()));
    for error in [
        on_quote(&Rejection::Pending(recovery())),
        not_confirmed(&ConfirmError::Unknown(recovery()), Product::Electricity),
        not_resolved(&pending, RetryScope::AnyProduct),
        not_resolved(&unknown, RetryScope::AnyProduct),
    ] {
        assert_eq!(error.recovery(), Some(&recovery()));
        assert_eq!(error.retry_after(), Some(Duration::from_millis(7_500)));
    }
    let rests = on_quote(&Rejection::ReferenceRests { wait: Duration::from_secs(42) });
    assert_eq!((rests.retry_after(), rests.recovery()), (Some(Duration::from_secs(42)), None));
    assert!(said(&rests).contains("use a new reference"), "{}", said(&rests));
}

#[test]
fn a_retry_never_answers_an_internal_error() {
    for (error, code, retryable) in [
        (RetryError::NotFound, "transaction_not_found", false),
        (RetryError::Disabled, "retries_disabled", false),
        (RetryError::Pending(recovery()), "transaction_pending", true),
        (RetryError::Unreachable(recovery()), "provider_timeout", true),
        (RetryError::TokenUnreadable(recovery()), "provider_timeout", true),
        (RetryError::Overloaded, "rate_limited", true),
    ] {
        for among in [RetryScope::AnyProduct, RetryScope::ElectricityOnly] {
            assert_eq!(told(&not_resolved(&error, among)), (code, None, retryable));
        }
    }
}

#[test]
fn a_search_among_electricity_only_says_nothing_about_other_products() {
    let among =
        |scope| not_resolved(&RetryError::NotFound, scope).message(&Messages::new(), Language::English);
    assert!(among(RetryScope::AnyProduct).contains("nothing was charged"));
    assert!(among(RetryScope::ElectricityOnly).contains("no electricity was charged"));
}
