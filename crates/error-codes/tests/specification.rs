//! The table must match the specification: sections 7.2 and 7.3 as data, compared row by row.

use std::collections::BTreeSet;

use error_codes::{Action, ErrorCode, ErrorType, Money, MoneyCall, Reference, Reply, Retryable};

const TYPES: [(&str, u16); 11] = [
    ("authentication_error", 401),
    ("permission_error", 403),
    ("validation_error", 400),
    ("not_found_error", 404),
    ("conflict_error", 409),
    ("insufficient_funds_error", 402),
    ("rate_limit_error", 429),
    ("provider_error", 422),
    ("provider_timeout", 504),
    ("provider_unavailable", 502),
    ("internal_error", 500),
];

const CODES: [(&str, &str, &str); 29] = [
    ("invalid_credentials", "authentication_error", "false"),
    ("missing_permission", "permission_error", "false"),
    ("forbidden", "permission_error", "false"),
    ("meter_not_allowed", "permission_error", "false"),
    ("retries_disabled", "permission_error", "false"),
    ("missing_field", "validation_error", "false"),
    ("invalid_argument", "validation_error", "false"),
    ("invalid_msisdn", "validation_error", "false"),
    ("invalid_meter_number", "validation_error", "false"),
    ("invalid_amount", "validation_error", "false"),
    ("amount_below_minimum", "validation_error", "false"),
    ("amount_above_maximum", "validation_error", "false"),
    ("amount_below_charges", "validation_error", "false"),
    ("method_not_allowed", "validation_error", "false"),
    ("resource_not_found", "not_found_error", "false"),
    ("meter_not_found", "not_found_error", "false"),
    ("transaction_not_found", "not_found_error", "false"),
    ("insufficient_balance", "insufficient_funds_error", "false"),
    ("duplicate_request", "conflict_error", "false"),
    ("transaction_pending", "conflict_error", "true"),
    ("meter_blocked", "provider_error", "false"),
    ("meter_unsupported", "validation_error", "false"),
    ("merchant_credit_exhausted", "provider_unavailable", "false"),
    ("provider_busy", "provider_error", "true"),
    ("provider_error", "provider_error", "varies"),
    ("provider_timeout", "provider_timeout", "true"),
    ("provider_unavailable", "provider_unavailable", "true"),
    ("upstream_error", "provider_error", "false"),
    ("internal_error", "internal_error", "false"),
];

/// The fields that section 7.3 names, and `amount` for the codes that can concern nothing else.
const FIELDS: [(&str, &str); 7] = [
    ("meter_not_allowed", "subscriber_identifier"),
    ("invalid_msisdn", "beneficiary_phone_number"),
    ("invalid_meter_number", "subscriber_identifier"),
    ("invalid_amount", "amount"),
    ("amount_below_minimum", "amount"),
    ("amount_above_maximum", "amount"),
    ("amount_below_charges", "amount"),
];

fn flag(retryable: Retryable) -> &'static str {
    match retryable {
        Retryable::Always => "true",
        Retryable::Never => "false",
        Retryable::WhenProviderHinted => "varies",
    }
}

#[test]
fn the_types_and_their_statuses_are_the_specifications() {
    let ours: Vec<_> = ErrorType::ALL.into_iter().map(|kind| (kind.as_str(), kind.status())).collect();
    assert_eq!(ours, TYPES);
}

#[test]
fn the_codes_are_the_specifications_and_two_more() {
    let ours: Vec<_> = ErrorCode::ALL
        .into_iter()
        .map(|code| (code.as_str(), code.error_type().as_str(), flag(code.retryable())))
        .collect();
    let mut expected = CODES.to_vec();
    expected.push(("rate_limited", "rate_limit_error", "true"));
    expected.push(("certificates_disabled", "permission_error", "false"));
    assert_eq!(ours, expected);
}

#[test]
fn the_status_of_a_code_is_that_of_its_type() {
    for (name, kind, _) in CODES {
        let status = TYPES.iter().find(|(of, _)| *of == kind).unwrap().1;
        assert_eq!(ErrorCode::parse(name).unwrap().status(), status, "{name}");
    }
}

#[test]
fn a_code_names_the_field_that_it_is_about() {
    let ours: Vec<_> = ErrorCode::ALL
        .into_iter()
        .filter_map(|code| code.usual_param().map(|param| (code.as_str(), param)))
        .collect();
    assert_eq!(ours, FIELDS);
}

#[test]
fn every_code_is_listed_once_and_found_by_its_name() {
    let distinct: BTreeSet<_> = ErrorCode::ALL.into_iter().collect();
    assert_eq!(distinct.len(), ErrorCode::ALL.len());
    for code in ErrorCode::ALL {
        assert_eq!(ErrorCode::parse(code.as_str()), Some(code));
    }
    assert_eq!(ErrorCode::parse("no_such_code"), None);
}

#[test]
fn every_code_is_documented_with_a_meaning_and_a_remedy() {
    for code in ErrorCode::ALL {
        for text in [code.meaning(), code.remedy()] {
            assert!(text.len() > 20 && text.ends_with('.') && !text.contains("  "), "{code}: {text}");
        }
    }
}

#[test]
fn a_provider_error_is_retryable_only_where_the_provider_hinted_so() {
    assert!(ErrorCode::ProviderError.retryable().given(true));
    assert!(!ErrorCode::ProviderError.retryable().given(false));
    assert!(!ErrorCode::MeterBlocked.retryable().given(true));
    assert!(ErrorCode::ProviderBusy.retryable().given(false));
}

/// Whether the action may lead to another purchase.
fn leads_to_a_new_purchase(action: Action) -> bool {
    match action {
        Action::SendAgain
        | Action::SendAgainIfRetryable
        | Action::BuyAnew
        | Action::BuyAnewIfAllowed
        | Action::RemoveReason => true,
        Action::Deliver
        | Action::CallRetry
        | Action::FixRequest
        | Action::CallOperator
        | Action::ReadPurchase => false,
    }
}

#[test]
fn another_purchase_is_advised_only_where_nothing_was_charged() {
    for call in MoneyCall::ALL {
        for (reply, decision) in call.decisions() {
            let may_buy = leads_to_a_new_purchase(decision.action);
            assert!(!may_buy || decision.money == Money::NotCharged, "{call:?} {reply:?} {decision:?}");
        }
    }
    for (reply, decision) in MoneyCall::Confirm.decisions() {
        let fixes = decision.action == Action::FixRequest;
        assert!(!fixes || decision.money == Money::NotCharged, "{reply:?} {decision:?}");
    }
}

#[test]
fn money_that_may_be_held_is_asked_about_under_the_same_reference() {
    for call in MoneyCall::ALL {
        for (reply, decision) in call.decisions() {
            if !matches!(decision.money, Money::Charged | Money::NotCharged) {
                assert_eq!(decision.reference(), Reference::Same, "{call:?} {reply:?}");
            }
        }
    }
}

#[test]
fn a_confirm_that_is_not_retryable_is_never_to_be_sent_again_as_it_is() {
    for (reply, decision) in MoneyCall::Confirm.decisions() {
        let Reply::Error(code) = reply else { continue };
        let again = match code.retryable() {
            Retryable::Always => vec![Action::SendAgain, Action::CallRetry],
            Retryable::WhenProviderHinted => vec![Action::SendAgainIfRetryable],
            Retryable::Never => vec![Action::RemoveReason, Action::FixRequest, Action::CallOperator],
        };
        assert!(again.contains(&decision.action), "{code} {decision:?}");
    }
}

#[test]
fn a_code_that_says_that_nothing_was_charged_decides_the_same() {
    for call in MoneyCall::ALL {
        for (reply, decision) in call.decisions() {
            let Reply::Error(code) = reply else { continue };
            let denies = code.meaning().contains("othing was charged");
            assert!(!denies || decision.money == Money::NotCharged, "{call:?} {code}");
        }
    }
}
