//! What the spans of a trace say, in words of the programs: codes of providers, kinds of events, outcomes. Never a number of a meter or
//! a phone, a name, a token or a provider's text.

use purchase::{EventKind, Fence, PurchaseRequest, Recorded, ResolveAnswer, Verdict};
use store::RecordError;
use traces::{Attribute, SpanEnd};
use vend::{Enquiry, VendOutcome};

use crate::measures::Sending;

/// A purchase has begun.
pub(crate) fn purchase(request: &PurchaseRequest) -> SpanEnd {
    let provider = Attribute::Provider(request.provider_code.clone());
    SpanEnd::of([provider, Attribute::Product(request.product.as_str())])
}

/// A provider was asked.
pub(crate) fn provider(code: &str) -> SpanEnd {
    SpanEnd::of([Attribute::Provider(code.to_owned())])
}

/// An order was sent, or a gate was closed. A span that ends in doubt counts as failed.
pub(crate) fn sent(code: &str, sending: Sending, outcome: &VendOutcome) -> SpanEnd {
    let order = Attribute::Order(sending.as_str());
    answered(code, order, outcome.in_words()).failed_if(outcome.doubt().is_some())
}

/// A provider was asked about an order.
pub(crate) fn enquired(code: &str, enquiry: &Enquiry) -> SpanEnd {
    let (outcome, reason) = enquiry.in_words();
    let mut attributes = vec![Attribute::Provider(code.to_owned()), Attribute::Outcome(outcome)];
    attributes.extend(reason_of(reason));
    SpanEnd::of(attributes).failed_if(enquiry.doubt().is_some())
}

fn answered(code: &str, order: Attribute, (outcome, reason): (&'static str, &'static str)) -> SpanEnd {
    let mut attributes = vec![Attribute::Provider(code.to_owned()), order, Attribute::Outcome(outcome)];
    attributes.extend(reason_of(reason));
    SpanEnd::of(attributes)
}

fn reason_of(word: &'static str) -> Option<Attribute> {
    (!word.is_empty()).then_some(Attribute::Reason(word))
}

/// What the span of a record tells.
pub(crate) fn recorded(event: EventKind, result: Result<&Recorded, &RecordError>) -> SpanEnd {
    let event = Attribute::Event(event.as_str());
    match result {
        Ok(recorded) => {
            let outcome = match recorded.verdict {
                Verdict::Moved => "moved",
                Verdict::AlreadyThere => "already_there",
                Verdict::Illegal(_) => "illegal",
            };
            let fence = Attribute::Fence(recorded.lifecycle.fence.0);
            SpanEnd::of([event, Attribute::Outcome(outcome), fence])
        }
        Err(_unacknowledged) => SpanEnd::of([event, Attribute::Outcome("not_acknowledged")]).failed_if(true),
    }
}

/// What the span of a worker's look at a purchase tells.
pub(crate) fn looked(fence: Fence, answer: ResolveAnswer) -> SpanEnd {
    let outcome = match answer {
        ResolveAnswer::Final => "final",
        ResolveAnswer::Pending => "pending",
        ResolveAnswer::Unreachable => "unreachable",
    };
    SpanEnd::of([Attribute::Fence(fence.0), Attribute::Outcome(outcome)])
}
