//! The adapter to Lumo, a fictitious vendor with a JSON interface. The tutorial shows these lines.

// shown: use
use std::time::Duration;

use async_trait::async_trait;
use meter_token::{DescribedToken, TokenSet};
use money::{Currency, Money};
use provider::{Gate, Provider};
use provider_http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use provider_http::{HttpReply, NoReply, Outgoing, Transport, Url, below};
use serde::Deserialize;
use serde_json::{Value, json};
use vend::{
    CallId, Customer, Doubt, Enquiry, Product, Quotation, RawReply, Refusal, RefusalReason, Sale,
    SubscriberIdentifier, Unanswered, Unclear, Vend, VendOrder, VendOutcome,
};
// end

// shown: answer
/// What an answer of Lumo may have. Whatever is missing is empty, and the rules below decide what that proves.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer {
    status: String,
    call: String,
    reference: String,
    meter: String,
    amount: String,
    tokens: Vec<String>,
    receipt: String,
    reason: String,
    order: Option<Box<Answer>>,
}

fn read(reply: &HttpReply) -> Result<Answer, Unclear> {
    serde_json::from_slice(&reply.body).map_err(|_no_answer| Unclear::said(Doubt::Unreadable, &reply.body))
}
// end

// shown: outcome
/// What an answer proves about an order. A vend and a refusal need our own reference. All else is doubt.
fn outcome(order: &VendOrder, answer: &Answer, raw: &[u8]) -> VendOutcome {
    let is_ours = answer.reference == order.reference.to_string();
    let doubt = match answer.status.as_str() {
        "delivered" => match proven(order, answer, raw) {
            Some(vend) if is_ours => return VendOutcome::Vended(Box::new(vend)),
            Some(_) | None => Doubt::Mismatched,
        },
        "declined" if is_ours => return VendOutcome::Refused(refusal(&answer.reason)),
        "declined" => Doubt::Mismatched,
        "duplicate" => Doubt::RepeatedReference,
        "processing" => Doubt::StillOpen,
        _ => Doubt::UnlistedFault,
    };
    VendOutcome::Unknown(Unclear::said(doubt, raw))
}

/// The vend, if the answer is about this meter and this amount and has real tokens.
fn proven(order: &VendOrder, answer: &Answer, raw: &[u8]) -> Option<Vend> {
    let amount: Money = answer.amount.parse().ok()?;
    if answer.meter != order.sale.subscriber.as_str() || amount != order.sale.amount {
        return None;
    }
    let is_dummy = |token: &String| token.chars().all(|digit| digit == '0');
    if answer.tokens.is_empty() || answer.tokens.iter().any(is_dummy) {
        return None;
    }
    let tokens = answer.tokens.iter().map(|token| DescribedToken::parse("Credit Token", token));
    let tokens = TokenSet::in_order(tokens.collect::<Result<Vec<_>, _>>().ok()?).ok()?;
    Some(Vend {
        tokens: Some(tokens),
        units: None,
        provider_transaction: answer.receipt.clone(),
        breakdown: None,
        subscriber_details: None,
        raw_reply: RawReply(raw.to_vec()),
    })
}

/// The reasons of Lumo's interface description.
fn refusal(reason: &str) -> Refusal {
    Refusal::because(match reason {
        "unknown_meter" => RefusalReason::UnknownSubscriber,
        "blocked" => RefusalReason::Blocked,
        "try_later" => RefusalReason::Busy,
        _ => RefusalReason::Other,
    })
}
// end

// shown: adapter
/// A connection to Lumo.
pub struct Lumo {
    pub transport: Transport,
    /// The address below which the paths are, as `provider_http::base_url` reads it from a setting.
    pub base: Url,
    /// The one currency that this connection sells in.
    pub currency: Currency,
    pub vend_within: Duration,
    pub answer_within: Duration,
}

impl Lumo {
    async fn post(
        &self,
        path: &str,
        body: &Value,
        gate: &Gate,
        within: Duration,
    ) -> Result<HttpReply, NoReply> {
        // Not `Url::join`: it would replace the last segment of a base address that has no final slash.
        let url = below(&self.base, path.split('/'));
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let outgoing = Outgoing { url, headers, body: body.to_string().into_bytes() };
        self.transport.post(outgoing, gate, within).await
    }

    /// Lumo sells electricity in one currency. Anything else is refused before it is sent.
    fn sells(&self, sale: &Sale) -> Result<(), Refusal> {
        if sale.product == Product::Electricity && sale.amount.currency() == self.currency {
            Ok(())
        } else {
            Err(Refusal::because(RefusalReason::Misconfigured))
        }
    }
}
// end

// shown: questions
impl Lumo {
    /// A question that moves no money. The answer has to be to this call, about this meter and this amount.
    async fn ask(
        &self,
        path: &str,
        call: CallId,
        meter: &str,
        amount: Option<Money>,
    ) -> Result<(), Unanswered> {
        let amount = amount.map(|amount| amount.to_string()).unwrap_or_default();
        let question = json!({ "call": call.to_string(), "meter": meter, "amount": amount });
        let gate = Gate::while_true(|| true);
        let reply =
            self.post(path, &question, &gate, self.answer_within).await.map_err(NoReply::unanswered)?;
        let answer = read(&reply).map_err(|unclear| Unanswered::NoAnswer(unclear.doubt))?;
        if answer.call != call.to_string() {
            return Err(Unanswered::NoAnswer(Doubt::Mismatched));
        }
        match answer.status.as_str() {
            "ok" if answer.meter == meter && answer.amount == amount => Ok(()),
            "ok" => Err(Unanswered::NoAnswer(Doubt::Mismatched)),
            "declined" => Err(Unanswered::Refused(refusal(&answer.reason))),
            _ => Err(Unanswered::NoAnswer(Doubt::UnlistedFault)),
        }
    }

    async fn rehearse(&self, path: &str, call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        self.sells(sale).map_err(Unanswered::Refused)?;
        self.ask(path, call, sale.subscriber.as_str(), Some(sale.amount)).await?;
        Ok(Quotation { units: None, breakdown: None, subscriber_details: None })
    }
}
// end

// shown: provider
#[async_trait]
impl Provider for Lumo {
    async fn vend(&self, order: &VendOrder, gate: &Gate) -> VendOutcome {
        if let Err(refusal) = self.sells(&order.sale) {
            return VendOutcome::Refused(refusal);
        }
        let body = json!({
            "reference": order.reference.to_string(),
            "meter": order.sale.subscriber.as_str(),
            "amount": order.sale.amount.to_string(),
        });
        match self.post("orders", &body, gate, self.vend_within).await {
            Ok(reply) => match read(&reply) {
                Ok(answer) => outcome(order, &answer, &reply.body),
                Err(unclear) => VendOutcome::Unknown(unclear),
            },
            // Only `NeverSent` is a refusal. A timeout or a lost connection is doubt.
            Err(no_reply) => no_reply.outcome(),
        }
    }

    async fn enquire(&self, call: CallId, order: &VendOrder) -> Enquiry {
        let body = json!({ "call": call.to_string(), "reference": order.reference.to_string() });
        let gate = Gate::while_true(|| true);
        let reply = match self.post("orders/find", &body, &gate, self.answer_within).await {
            Ok(reply) => reply,
            Err(no_reply) => return Enquiry::Unanswered(no_reply.doubt().into()),
        };
        let answer = match read(&reply) {
            Ok(answer) => answer,
            Err(unclear) => return Enquiry::Unanswered(unclear),
        };
        let unanswered = |doubt| Enquiry::Unanswered(Unclear::said(doubt, &reply.body));
        match (answer.status.as_str(), &answer.order) {
            _ if answer.call != call.to_string() => unanswered(Doubt::Mismatched),
            ("found", Some(found)) => match outcome(order, found, &reply.body) {
                VendOutcome::Vended(vend) => Enquiry::Vended(vend),
                VendOutcome::Refused(refusal) => Enquiry::Refused(refusal),
                VendOutcome::Unknown(unclear) if unclear.doubt == Doubt::StillOpen => Enquiry::StillOpen,
                VendOutcome::Unknown(unclear) => Enquiry::Unanswered(unclear),
            },
            ("no_such_order", None) if reply.status == 200 => Enquiry::NoRecord,
            _ => unanswered(Doubt::UnlistedFault),
        }
    }

    async fn check(
        &self,
        call: CallId,
        product: Product,
        subscriber: &SubscriberIdentifier,
    ) -> Result<Customer, Unanswered> {
        if product != Product::Electricity {
            return Err(Unanswered::Refused(Refusal::because(RefusalReason::Misconfigured)));
        }
        self.ask("meters/check", call, subscriber.as_str(), None).await?;
        Ok(Customer { name: None, barred: None, minimum: None, maximum: None })
    }

    async fn quote(&self, call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        self.rehearse("quotes", call, sale).await
    }

    async fn trial(&self, call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        self.rehearse("rehearsals", call, sale).await
    }
}
// end
