//! The table itself. The match is exhaustive, so a new code does not compile without its row.

use crate::{
    Action::{
        self, BuyAnew, BuyAnewIfAllowed, CallOperator, CallRetry, FixRequest, ReadPurchase, RemoveReason,
        SendAgain, SendAgainIfRetryable,
    },
    Decision, ErrorCode, ErrorType,
    Money::{self, Held, HeldEarlier, HeldOrCharged, NotCharged, Unsaid},
    Retryable::{self, Always, Never, WhenProviderHinted},
};

/// One row: everything that is fixed about a code.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) error_type: ErrorType,
    pub(crate) retryable: Retryable,
    pub(crate) param: Option<&'static str>,
    /// After a confirm. `None` if confirm never answers the code.
    pub(crate) confirm: Option<Decision>,
    /// After a retry. `None` if retry never answers the code.
    pub(crate) retry: Option<Decision>,
    pub(crate) meaning: &'static str,
    pub(crate) remedy: &'static str,
}

const fn says(money: Money, action: Action) -> Decision {
    Decision::new(money, action)
}

#[expect(clippy::too_many_lines, reason = "one table, one row per code")]
pub(crate) const fn row(code: ErrorCode) -> Row {
    match code {
        ErrorCode::InvalidCredentials => Row {
            name: "invalid_credentials",
            error_type: ErrorType::Authentication,
            retryable: Never,
            param: None,
            confirm: Some(says(NotCharged, FixRequest)),
            retry: Some(says(Unsaid, FixRequest)),
            meaning: "The access token is missing, malformed, expired or revoked, or the credentials \
                 of a login or refresh were not accepted.",
            remedy: "Log in again, or refresh the token before its lifetime in access_in ends, and \
                 send it as Authorization: Bearer. If a login fails, check all six credentials \
                 and that they belong to this environment.",
        },
        ErrorCode::MissingPermission => Row {
            name: "missing_permission",
            error_type: ErrorType::Permission,
            retryable: Never,
            param: None,
            confirm: Some(says(NotCharged, CallOperator)),
            retry: Some(says(Unsaid, CallOperator)),
            meaning: "The role of the integration user does not include the permission that this \
                 operation needs.",
            remedy: "Use a user whose role has it, or ask the operator to extend the role. GET \
                 /public/v1/auth/me lists the permissions that the user has.",
        },
        ErrorCode::Forbidden => Row {
            name: "forbidden",
            error_type: ErrorType::Permission,
            retryable: Never,
            param: None,
            confirm: Some(says(NotCharged, FixRequest)),
            retry: Some(says(Unsaid, CallOperator)),
            meaning: "The caller is known, but this operation is not allowed in the present state: the \
                 organisation is suspended, the account cannot be debited, or the operator has ended the offer.",
            remedy: "Choose an account of category CURRENT or TOPUP, and a provider of the list of products. If the \
                 organisation is suspended, contact the operator.",
        },
        ErrorCode::MeterNotAllowed => Row {
            name: "meter_not_allowed",
            error_type: ErrorType::Permission,
            retryable: Never,
            param: Some("subscriber_identifier"),
            confirm: Some(says(NotCharged, FixRequest)),
            retry: None,
            meaning: "The meter is not on the list that the organisation is locked to. In staging \
                 every organisation is locked to its test meters.",
            remedy: "Use one of the test meters handed out with the staging credentials. In \
                 production the lock is lifted.",
        },
        ErrorCode::RetriesDisabled => Row {
            name: "retries_disabled",
            error_type: ErrorType::Permission,
            retryable: Never,
            param: None,
            confirm: None,
            retry: Some(says(Held, ReadPurchase)),
            meaning: "Retries are switched off for the account or the provider of this transaction, so \
                 its outcome cannot be resolved through the retry endpoint.",
            remedy: "Wait for the service to settle the transaction, or ask the operator to enable \
                 retries.",
        },
        ErrorCode::MissingField => Row {
            name: "missing_field",
            error_type: ErrorType::Validation,
            retryable: Never,
            param: None,
            confirm: Some(says(NotCharged, FixRequest)),
            retry: Some(says(Unsaid, FixRequest)),
            meaning: "A required field is absent or null. param names it.",
            remedy: "Add the field and send the request again.",
        },
        ErrorCode::InvalidArgument => Row {
            name: "invalid_argument",
            error_type: ErrorType::Validation,
            retryable: Never,
            param: None,
            confirm: Some(says(NotCharged, FixRequest)),
            retry: Some(says(Unsaid, FixRequest)),
            meaning: "A field, a query parameter or the Idempotency-Key has the wrong type, an unknown \
                 value, a forbidden character or too many characters, or the body as a whole is not acceptable JSON. param names the field \
                 where one is to blame.",
            remedy: "Correct the field as the message says. A body is one JSON object of at most 16 \
                 KiB without repeated keys.",
        },
        ErrorCode::InvalidMsisdn => Row {
            name: "invalid_msisdn",
            error_type: ErrorType::Validation,
            retryable: Never,
            param: Some("beneficiary_phone_number"),
            confirm: Some(says(NotCharged, FixRequest)),
            retry: None,
            meaning: "The phone number of the beneficiary is not a number that can exist.",
            remedy: "Send the digits of the E.164 form, country code first, for example 26771234567.",
        },
        ErrorCode::InvalidMeterNumber => Row {
            name: "invalid_meter_number",
            error_type: ErrorType::Validation,
            retryable: Never,
            param: Some("subscriber_identifier"),
            confirm: Some(says(NotCharged, RemoveReason)),
            retry: Some(says(NotCharged, RemoveReason)),
            meaning: "The meter number cannot be a number of this provider: its length, form or check \
                 digit is wrong.",
            remedy: "Read the number on the meter again. GET /public/v1/vas-products gives length and \
                 pattern.",
        },
        ErrorCode::InvalidAmount => Row {
            name: "invalid_amount",
            error_type: ErrorType::Validation,
            retryable: Never,
            param: Some("amount"),
            confirm: Some(says(NotCharged, FixRequest)),
            retry: None,
            meaning: "The amount is not a positive number whose value has at most two decimals and \
                 twelve digits before the point.",
            remedy: "Send amount as a JSON number such as 100 or 100.50: no quotes and no sign.",
        },
        ErrorCode::AmountBelowMinimum => Row {
            name: "amount_below_minimum",
            error_type: ErrorType::Validation,
            retryable: Never,
            param: Some("amount"),
            confirm: Some(says(NotCharged, RemoveReason)),
            retry: Some(says(NotCharged, RemoveReason)),
            meaning: "The amount is below the least that can be bought for this subscriber. Fixed \
                 charges due at the provider can raise that minimum.",
            remedy: "Buy for a larger amount.",
        },
        ErrorCode::AmountAboveMaximum => Row {
            name: "amount_above_maximum",
            error_type: ErrorType::Validation,
            retryable: Never,
            param: Some("amount"),
            confirm: Some(says(NotCharged, RemoveReason)),
            retry: Some(says(NotCharged, RemoveReason)),
            meaning: "The amount is above the most that can be bought for this subscriber at once.",
            remedy: "Buy for a smaller amount.",
        },
        ErrorCode::AmountBelowCharges => Row {
            name: "amount_below_charges",
            error_type: ErrorType::Validation,
            retryable: Never,
            param: Some("amount"),
            confirm: Some(says(NotCharged, FixRequest)),
            retry: None,
            meaning: "The charges are to be deducted from the amount, and nothing would be left to \
                 buy.",
            remedy: "Buy for a larger amount, or let charges_on_top_flag be true.",
        },
        ErrorCode::MethodNotAllowed => Row {
            name: "method_not_allowed",
            error_type: ErrorType::Validation,
            retryable: Never,
            param: None,
            confirm: Some(says(NotCharged, FixRequest)),
            retry: Some(says(Unsaid, FixRequest)),
            meaning: "The path exists, but not for this HTTP method. The Allow header lists the \
                 methods that it has.",
            remedy: "Use one of the methods in the Allow header.",
        },
        ErrorCode::ResourceNotFound => Row {
            name: "resource_not_found",
            error_type: ErrorType::NotFound,
            retryable: Never,
            param: None,
            confirm: Some(says(NotCharged, FixRequest)),
            retry: None,
            meaning: "There is nothing at this path, or nothing of this id that belongs to the caller.",
            remedy: "Check the path and the id. Ids of other organisations are answered like ids that \
                 do not exist.",
        },
        ErrorCode::MeterNotFound => Row {
            name: "meter_not_found",
            error_type: ErrorType::NotFound,
            retryable: Never,
            param: None,
            confirm: Some(says(NotCharged, RemoveReason)),
            retry: Some(says(NotCharged, RemoveReason)),
            meaning: "The provider does not know the meter, phone number or customer, or has disconnected the meter. \
                 The message says which.",
            remedy: "Check the number with the consumer.",
        },
        ErrorCode::TransactionNotFound => Row {
            name: "transaction_not_found",
            error_type: ErrorType::NotFound,
            retryable: Never,
            param: None,
            confirm: None,
            retry: Some(says(NotCharged, BuyAnew)),
            meaning: "No earlier transaction has this subscriber_identifier and external_reference, so \
                 there is nothing to retry and nothing was charged under them.",
            remedy: "Check both values. If they are right, the confirm never took effect. Buy under a new \
                 external_reference: the old one rests for a minute.",
        },
        ErrorCode::InsufficientBalance => Row {
            name: "insufficient_balance",
            error_type: ErrorType::InsufficientFunds,
            retryable: Never,
            param: None,
            confirm: Some(says(NotCharged, FixRequest)),
            retry: None,
            meaning: "The available balance of the debited account does not cover the total. The \
                 message names the gap.",
            remedy: "Top up the account or buy for less. Money set aside for purchases under way is \
                 not available.",
        },
        ErrorCode::DuplicateRequest => Row {
            name: "duplicate_request",
            error_type: ErrorType::Conflict,
            retryable: Never,
            param: None,
            confirm: Some(says(NotCharged, RemoveReason)),
            retry: Some(says(NotCharged, RemoveReason)),
            meaning: "The provider regards this purchase as a repetition of one that it has just made \
                 and refused it.",
            remedy: "Check whether the earlier purchase is the one you wanted; otherwise wait a few \
                 minutes or change the amount.",
        },
        ErrorCode::TransactionPending => Row {
            name: "transaction_pending",
            error_type: ErrorType::Conflict,
            retryable: Always,
            param: None,
            confirm: Some(says(HeldEarlier, CallRetry)),
            retry: Some(says(Held, CallRetry)),
            meaning: "An earlier transaction for the same subscriber is still being settled, or retry \
                 has just told that nothing was bought under this external_reference. A confirm that is \
                 answered with this bought nothing.",
            remedy: "Call POST /public/v1/purchases/retry after the seconds in the Retry-After header, with the \
                 same subscriber_identifier and external_reference. It tells whether this sale is the open one, \
                 and never charges twice.",
        },
        ErrorCode::MeterBlocked => Row {
            name: "meter_blocked",
            error_type: ErrorType::Provider,
            retryable: Never,
            param: None,
            confirm: Some(says(NotCharged, RemoveReason)),
            retry: Some(says(NotCharged, RemoveReason)),
            meaning: "The provider has barred the meter or its customer from buying, for example \
                 because of a debt.",
            remedy: "The consumer has to settle this with the provider.",
        },
        ErrorCode::MeterUnsupported => Row {
            name: "meter_unsupported",
            error_type: ErrorType::Validation,
            retryable: Never,
            param: None,
            confirm: Some(says(NotCharged, RemoveReason)),
            retry: Some(says(NotCharged, RemoveReason)),
            meaning: "The provider cannot issue a token for a meter of this type or with this data.",
            remedy: "The consumer has to ask the provider to correct the data of the meter.",
        },
        ErrorCode::MerchantCreditExhausted => Row {
            name: "merchant_credit_exhausted",
            error_type: ErrorType::ProviderUnavailable,
            retryable: Never,
            param: None,
            confirm: Some(says(NotCharged, CallOperator)),
            retry: Some(says(NotCharged, CallOperator)),
            meaning: "The credit that this service holds with the provider is used up. Nothing was \
                 charged.",
            remedy: "Only the operator of the service can solve this, and has been alerted. Until then \
                 the answer is the same.",
        },
        ErrorCode::ProviderBusy => Row {
            name: "provider_busy",
            error_type: ErrorType::Provider,
            retryable: Always,
            param: None,
            confirm: Some(says(NotCharged, SendAgain)),
            retry: Some(says(NotCharged, BuyAnew)),
            meaning: "The provider refused for a reason that passes. Nothing was charged.",
            remedy: "Try again after a pause; double the pause each time.",
        },
        ErrorCode::ProviderError => Row {
            name: "provider_error",
            error_type: ErrorType::Provider,
            retryable: WhenProviderHinted,
            param: None,
            confirm: Some(says(NotCharged, SendAgainIfRetryable)),
            retry: Some(says(NotCharged, BuyAnewIfAllowed)),
            meaning: "The provider refused for a reason that has no code of its own. The message \
                 carries its wording. Nothing was charged.",
            remedy: "Act on the wording. The reason passes by itself where retryable, or failure.buy_again, is true.",
        },
        ErrorCode::ProviderTimeout => Row {
            name: "provider_timeout",
            error_type: ErrorType::ProviderTimeout,
            retryable: Always,
            param: None,
            confirm: Some(says(HeldOrCharged, CallRetry)),
            retry: Some(says(HeldOrCharged, CallRetry)),
            meaning: "The provider did not answer in time. After a confirm the outcome is unknown: the \
                 money is set aside, and the token may have been issued. Where a purchase has succeeded \
                 but its token cannot be read at present, the message says so, to confirm under a key, \
                 retry and GET /public/v1/purchases/{id} alike.",
            remedy: "After a confirm, call POST /public/v1/purchases/retry with the same \
                 subscriber_identifier and external_reference until it answers definitely. Never \
                 send the confirm again. A validate or a retry may be repeated as it is.",
        },
        ErrorCode::ProviderUnavailable => Row {
            name: "provider_unavailable",
            error_type: ErrorType::ProviderUnavailable,
            retryable: Always,
            param: None,
            confirm: Some(says(NotCharged, SendAgain)),
            retry: Some(says(NotCharged, BuyAnew)),
            meaning: "The provider cannot be reached, the order did not reach it, or the operator has paused the provider's \
                 sales. Nothing was vended and nothing was charged.",
            remedy: "Try again after the seconds in the Retry-After header, if there is one. Otherwise try again after a \
                 pause; double the pause each time.",
        },
        ErrorCode::UpstreamError => Row {
            name: "upstream_error",
            error_type: ErrorType::Provider,
            retryable: Never,
            param: None,
            confirm: Some(says(NotCharged, CallOperator)),
            retry: Some(says(NotCharged, CallOperator)),
            meaning: "The provider did not accept the call of this service, or answered with something \
                 that is no answer. Nothing was charged.",
            remedy: "The operator has been alerted. Try again later; if it persists, report the \
                 request_id.",
        },
        ErrorCode::InternalError => Row {
            name: "internal_error",
            error_type: ErrorType::Internal,
            retryable: Never,
            param: None,
            confirm: Some(says(NotCharged, CallOperator)),
            retry: Some(says(Unsaid, CallRetry)),
            meaning: "This service failed before it did anything. A confirm is never answered with this once \
                 money may have moved, and a retry that is answered with this says nothing about its purchase.",
            remedy: "Report the request_id to the operator.",
        },
        ErrorCode::RateLimited => Row {
            name: "rate_limited",
            error_type: ErrorType::RateLimit,
            retryable: Always,
            param: None,
            confirm: Some(says(NotCharged, SendAgain)),
            retry: Some(says(Unsaid, CallRetry)),
            meaning: "Too many requests arrived in a short time, or the service is momentarily full. \
                 This request did nothing and charged nothing.",
            remedy: "Wait for the seconds in the Retry-After header, then send the same request again.",
        },
        ErrorCode::CertificatesDisabled => Row {
            name: "certificates_disabled",
            error_type: ErrorType::Permission,
            retryable: Never,
            param: None,
            confirm: None,
            retry: None,
            meaning: "This server has no key that signs certificates of outcomes, and none was issued for this purchase \
                 before.",
            remedy: "Read the purchase: its status is as final as a certificate would say. If you need the proof, ask the operator \
                 for certificates.",
        },
    }
}
