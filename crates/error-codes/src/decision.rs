//! What happened to the money, and what to do now, after each answer of confirm and of retry.
//!
//! The guide, the page of each code and the OpenAPI document print these values, so that they cannot contradict each
//! other.

use crate::{ErrorCode, table::row};

/// A call that is about money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoneyCall {
    /// `POST /public/v1/purchases/confirm`
    Confirm,
    /// `POST /public/v1/purchases/retry`
    Retry,
}

/// An answer of one of these calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// 200 with status `SUCCESSFUL`.
    Bought,
    /// 200 with status `PENDING`. Only confirm answers it, and only for a managed account.
    Pending,
    /// The error envelope with this code.
    Error(ErrorCode),
    /// No answer, or one without the error envelope: it is not known who wrote it.
    Silence,
}

/// What happened to the money of the sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Money {
    /// Paid once.
    Charged,
    /// Nothing was charged, and nothing is held for this request.
    NotCharged,
    /// Held until the outcome is proven.
    Held,
    /// As [`Money::Held`], or charged once if the message says so.
    HeldOrCharged,
    /// This request did nothing, but an earlier purchase for the subscriber still holds money. It may be this sale.
    HeldEarlier,
    /// The answer says nothing about the purchase.
    Unsaid,
}

/// What the integrator does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Give the token to the customer.
    Deliver,
    /// Call retry.
    CallRetry,
    /// Send the same request again.
    SendAgain,
    /// [`Action::SendAgain`] if `retryable` is true, else [`Action::RemoveReason`].
    SendAgainIfRetryable,
    /// Buy under a new reference.
    BuyAnew,
    /// [`Action::BuyAnew`] if `failure.buy_again` is true, else [`Action::RemoveReason`].
    BuyAnewIfAllowed,
    /// Remove the reason of the refusal, then buy under a new reference.
    RemoveReason,
    /// Correct the request, then send it again.
    FixRequest,
    /// Tell the operator.
    CallOperator,
    /// Read the purchase until it is settled.
    ReadPurchase,
}

/// Which `external_reference` the next request has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// The same as before.
    Same,
    /// One that no sale has had.
    New,
    /// The same if the same request is sent again, else a new one.
    SameOrNew,
    /// The sale is over.
    None,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What happened to the money.
    pub money: Money,
    /// What to do now.
    pub action: Action,
}

impl Decision {
    pub(crate) const fn new(money: Money, action: Action) -> Self {
        Self { money, action }
    }

    /// The `external_reference` of the next request.
    pub const fn reference(self) -> Reference {
        match (self.action, self.money) {
            (Action::Deliver, _) => Reference::None,
            (Action::BuyAnew | Action::BuyAnewIfAllowed | Action::RemoveReason, _)
            | (Action::CallOperator, Money::NotCharged) => Reference::New,
            (Action::SendAgainIfRetryable, _) => Reference::SameOrNew,
            (
                Action::CallRetry
                | Action::SendAgain
                | Action::FixRequest
                | Action::ReadPurchase
                | Action::CallOperator,
                _,
            ) => Reference::Same,
        }
    }
}

impl MoneyCall {
    /// Both calls.
    pub const ALL: [Self; 2] = [Self::Confirm, Self::Retry];

    /// What an answer of this call means. `None` if the call never gives this answer.
    pub const fn decision(self, reply: Reply) -> Option<Decision> {
        match (self, reply) {
            (Self::Confirm | Self::Retry, Reply::Bought) => {
                Some(Decision::new(Money::Charged, Action::Deliver))
            }
            (Self::Confirm, Reply::Pending) => Some(Decision::new(Money::Held, Action::CallRetry)),
            (Self::Retry, Reply::Pending) => None,
            (Self::Confirm, Reply::Error(code)) => row(code).confirm,
            (Self::Retry, Reply::Error(code)) => row(code).retry,
            (Self::Confirm | Self::Retry, Reply::Silence) => {
                Some(Decision::new(Money::Unsaid, Action::CallRetry))
            }
        }
    }

    /// Every answer of this call with its meaning: the successes, the codes in the order of the error table, no answer.
    pub fn decisions(self) -> Vec<(Reply, Decision)> {
        let codes = ErrorCode::ALL.into_iter().map(Reply::Error);
        [Reply::Bought, Reply::Pending]
            .into_iter()
            .chain(codes)
            .chain([Reply::Silence])
            .filter_map(|reply| Some((reply, self.decision(reply)?)))
            .collect()
    }
}

impl Money {
    /// A stable name for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Charged => "charged",
            Self::NotCharged => "not_charged",
            Self::Held => "held",
            Self::HeldOrCharged => "held_or_charged",
            Self::HeldEarlier => "held_earlier",
            Self::Unsaid => "unsaid",
        }
    }

    /// A sentence for the integrator, in Markdown.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Charged => "Charged, once.",
            Self::NotCharged => "Nothing was charged, and nothing is held.",
            Self::Held => "Held until the outcome is proven.",
            Self::HeldOrCharged => {
                "Held until the outcome is proven. If `message` says that the purchase succeeded: charged, once."
            }
            Self::HeldEarlier => {
                "This request did nothing. An earlier purchase for the subscriber, perhaps of this sale, may still hold money."
            }
            Self::Unsaid => "This answer does not say. What was held stays held until the outcome is proven.",
        }
    }
}

impl Action {
    /// A stable name for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deliver => "deliver",
            Self::CallRetry => "call_retry",
            Self::SendAgain => "send_again",
            Self::SendAgainIfRetryable => "send_again_if_retryable",
            Self::BuyAnew => "buy_anew",
            Self::BuyAnewIfAllowed => "buy_anew_if_allowed",
            Self::RemoveReason => "remove_reason",
            Self::FixRequest => "fix_request",
            Self::CallOperator => "call_operator",
            Self::ReadPurchase => "read_purchase",
        }
    }

    /// A sentence for the integrator, in Markdown.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Deliver => "Give the token to the customer.",
            Self::CallRetry => {
                "Call retry after `Retry-After` seconds, or after a pause that you double each time."
            }
            Self::SendAgain => {
                "Send the same request again after `Retry-After` seconds, or after a pause that you double each time."
            }
            Self::SendAgainIfRetryable => {
                "If `retryable` is true, send the same request again after a pause. If not, the reason in `message` must be removed first; then buy under a new reference."
            }
            Self::BuyAnew => "Buy under a new reference, at once if the customer still wants it.",
            Self::BuyAnewIfAllowed => {
                "If `failure.buy_again` is true, buy under a new reference. If not, the reason in `message` must be removed first."
            }
            Self::RemoveReason => {
                "Show `message` to the customer. When its reason is removed, buy under a new reference."
            }
            Self::FixRequest => "Fix the request as `message` and `param` say, and send it again.",
            Self::CallOperator => {
                "Tell the operator the `request_id`. Sending it again now gets the same answer."
            }
            Self::ReadPurchase => {
                "Wait: the service settles the purchase by itself. Read it with `GET /public/v1/purchases`, or ask the operator."
            }
        }
    }
}

impl Reference {
    /// A word for a table.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Same => "the same",
            Self::New => "new",
            Self::SameOrNew => "the same if it is sent again, else new",
            Self::None => "—",
        }
    }
}
