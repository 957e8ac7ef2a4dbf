//! Whether a line of a statement and the books agree. No I/O.

use store::SealingKeys;

use crate::{
    booked::{Booked, Found},
    coverage::StatementPeriod,
    listed::ListedVend,
};

/// What can differ between a statement and the books.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aspect {
    /// The purchase has failed here.
    End,
    /// The provider's name for the vend.
    Transaction,
    /// The product.
    Product,
    /// The meter, or the phone number of airtime.
    Subscriber,
    /// The amount.
    Amount,
    /// The currency.
    Currency,
    /// The last token.
    Token,
    /// The time, by more than the tolerance.
    Time,
    /// The statement lists it more than once.
    Repeated,
}

impl Aspect {
    /// A stable name, as it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Transaction => "transaction",
            Self::Product => "product",
            Self::Subscriber => "subscriber",
            Self::Amount => "amount",
            Self::Currency => "currency",
            Self::Token => "token",
            Self::Time => "time",
            Self::Repeated => "repeated",
        }
    }
}

/// What a line of a statement is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Matched,
    /// The purchase has not ended: the worker asks the provider, or a person decides. What was ordered agrees.
    Open,
    OnlyTheirs,
    /// In the order of [`Aspect`].
    Different(Vec<Aspect>),
}

/// Compares a line with the books. Without `sealing`, tokens are not compared.
pub(crate) fn judge(
    listed: &ListedVend,
    found: &Found,
    period: &StatementPeriod,
    sealing: Option<&SealingKeys>,
) -> Verdict {
    let booked = match found {
        Found::Nothing | Found::Entered(_) => return Verdict::OnlyTheirs,
        Found::Booked(booked) => booked,
    };
    // What has not ended can differ only in what was ordered.
    let is_open = booked.state.is_open();
    let mut aspects = if is_open { Vec::new() } else { of_the_end(listed, booked, period, sealing) };
    aspects.extend(of_the_order(listed, booked));
    aspects.sort_unstable();
    match (aspects.is_empty(), is_open) {
        (true, true) => Verdict::Open,
        (true, false) => Verdict::Matched,
        (false, _) => Verdict::Different(aspects),
    }
}

/// What was ordered is the same for each vend of a purchase.
fn of_the_order(listed: &ListedVend, booked: &Booked) -> Vec<Aspect> {
    let subscriber = booked.subscriber_identifier.as_ref();
    [
        (listed.product != booked.product, Aspect::Product),
        (subscriber.is_some_and(|ours| *ours != listed.subscriber_identifier), Aspect::Subscriber),
        (listed.net.minor() != booked.net.minor(), Aspect::Amount),
        (listed.net.currency() != booked.net.currency(), Aspect::Currency),
    ]
    .into_iter()
    .filter_map(|(differs, aspect)| differs.then_some(aspect))
    .collect()
}

/// A vend that came too late has a transaction and a time of its own. Its token is in the incident.
fn of_the_end(
    listed: &ListedVend,
    booked: &Booked,
    period: &StatementPeriod,
    sealing: Option<&SealingKeys>,
) -> Vec<Aspect> {
    let is_incident = booked.incident_at.is_some();
    let Some(transaction) = booked.provider_transaction.as_ref().filter(|_ours| !is_incident) else {
        return if is_incident { Vec::new() } else { vec![Aspect::End] };
    };
    let is_in_time = booked.span().is_some_and(|span| period.agrees(listed.vended_at, span));
    let theirs = listed.token.digest();
    let ours = sealing.filter(|_keys| theirs.is_some()).and_then(|keys| booked.token_digest(keys));
    [
        (*transaction != listed.provider_transaction, Aspect::Transaction),
        (ours.is_some() && ours != theirs, Aspect::Token),
        (!is_in_time, Aspect::Time),
    ]
    .into_iter()
    .filter_map(|(differs, aspect)| differs.then_some(aspect))
    .collect()
}
