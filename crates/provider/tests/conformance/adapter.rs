//! An adapter to the small vendor that keeps every law, and that can be told to break one: then it is a mutant.

use std::time::Duration;

use async_trait::async_trait;
use meter_token::{DescribedToken, TokenSet};
use money::Money;
use provider::conformance::Law;
use provider::{Gate, Provider};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use vend::{
    Breakdown, CallId, Customer, Doubt, Enquiry, Product, ProviderReference, Quotation, RawReply, Refusal,
    RefusalReason, Sale, SubscriberIdentifier, Unanswered, Unclear, Vend, VendOrder, VendOutcome,
};

use crate::message::Message;

const VEND_TIMEOUT: Duration = Duration::from_secs(2);
const QUESTION_TIMEOUT: Duration = Duration::from_millis(1_500);
const NEVER: Duration = Duration::from_hours(1);
const REPLY_BYTES_MAX: usize = 1024 * 1024;

pub struct Adapter {
    address: String,
    pub breaks: Option<Law>,
}

/// Why there is no reply.
enum Lost {
    GateClosed,
    NeverSent,
    Cut,
    Halved,
    TimedOut,
    TooLarge,
}

struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
}

/// The laws about a success, of the answer to a vend or of one that an enquiry found.
struct Strictness {
    reference: Law,
    no_reference: Law,
    subscriber: Law,
    amount: Law,
    currency: Law,
    token: Law,
    dummy: Law,
}

const OF_A_VEND: Strictness = Strictness {
    reference: Law::ReferenceOfAnother,
    no_reference: Law::ReferenceMissing,
    subscriber: Law::SubscriberOfAnother,
    amount: Law::AmountOfAnother,
    currency: Law::CurrencyOfAnother,
    token: Law::TokenMissing,
    dummy: Law::TokenIsDummy,
};

const OF_AN_ENQUIRY: Strictness = Strictness {
    reference: Law::EnquiryReferenceOfAnother,
    no_reference: Law::EnquiryReferenceMissing,
    subscriber: Law::EnquirySubscriberOfAnother,
    amount: Law::EnquiryAmountOfAnother,
    currency: Law::EnquiryCurrencyOfAnother,
    token: Law::EnquiryTokenMissing,
    dummy: Law::EnquiryTokenIsDummy,
};

fn open() -> Gate {
    Gate::while_true(|| true)
}

fn refused(reason: RefusalReason) -> VendOutcome {
    VendOutcome::Refused(Refusal::because(reason))
}

impl Adapter {
    pub fn at(url: &str, breaks: Option<Law>) -> Self {
        Self { address: url.strip_prefix("http://").unwrap().to_owned(), breaks }
    }

    /// Whether this is the mutant that breaks this law.
    fn breaks(&self, law: Law) -> bool {
        self.breaks == Some(law)
    }

    /// A refusal by the mutant of this law, and doubt by every other adapter.
    fn doubt(&self, law: Law, doubt: impl Into<Unclear>) -> VendOutcome {
        if self.breaks(law) { refused(RefusalReason::Other) } else { VendOutcome::Unknown(doubt.into()) }
    }

    async fn exchange(
        &self,
        (address, path): (&str, &str),
        message: &Message,
        gate: &Gate,
        within: Duration,
    ) -> Result<Reply, Lost> {
        let exchange = async {
            let looks_early = self.breaks(Law::GateIsLookedAtLast);
            if looks_early && !gate.is_open() {
                return Err(Lost::GateClosed);
            }
            let mut stream = TcpStream::connect(address).await.map_err(|_refused| Lost::NeverSent)?;
            if !looks_early && !self.breaks(Law::ClosedGate) && !gate.is_open() {
                return Err(Lost::GateClosed);
            }
            let body = message.to_bytes();
            let head = format!("POST {path} HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len());
            let sent = stream.write_all(&[head.as_bytes(), &body].concat()).await;
            sent.map_err(|_broken| Lost::Cut)?;
            read(&mut stream).await
        };
        tokio::time::timeout(within, exchange).await.unwrap_or(Err(Lost::TimedOut))
    }

    async fn send(&self, order: &VendOrder, gate: &Gate) -> Result<Reply, Lost> {
        let message = Message::of("order")
            .with("reference", &order.reference)
            .with("subscriber", &order.sale.subscriber)
            .with("amount", &order.sale.amount);
        let within = if self.breaks(Law::KeepsDeadlines) { NEVER } else { VEND_TIMEOUT };
        let reply = self.exchange((&self.address, "/vend"), &message, gate, within).await?;
        if !(300..400).contains(&reply.status) || !self.breaks(Law::Redirect) {
            return Ok(reply);
        }
        let location = reply.head.split("http://").nth(1).and_then(|rest| rest.split('/').next());
        self.exchange((location.unwrap_or_default(), "/vend"), &message, gate, within).await
    }

    async fn ask(&self, path: &str, message: &Message) -> Result<Reply, Lost> {
        self.exchange((&self.address, path), message, &open(), QUESTION_TIMEOUT).await
    }

    /// What an answer to an order proves.
    fn judged(&self, reply: &Reply, order: &VendOrder) -> VendOutcome {
        let unclear = |doubt: Doubt| -> Unclear {
            if self.breaks(Law::UnclearIsKept) { doubt.into() } else { Unclear::said(doubt, &reply.body) }
        };
        let Some(message) = Message::read(&reply.body) else { return self.unreadable(reply) };
        match message.kind() {
            "vended" => match self.proven(&message, order, &OF_A_VEND, &reply.body) {
                Some(_) if reply.status >= 500 && self.breaks(Law::SuccessUnderError) => {
                    refused(RefusalReason::Other)
                }
                Some(_) if self.breaks(Law::VendIsTold) => VendOutcome::Unknown(unclear(Doubt::Mismatched)),
                Some(vend) => VendOutcome::Vended(Box::new(vend)),
                None => VendOutcome::Unknown(unclear(Doubt::Mismatched)),
            },
            "refused" => match message.get("reference") {
                Some(ours) if ours == order.reference.to_string() && !self.breaks(Law::RefusalIsTold) => {
                    refused(RefusalReason::Blocked)
                }
                Some(ours) if ours == order.reference.to_string() => {
                    VendOutcome::Unknown(unclear(Doubt::UnlistedFault))
                }
                Some(_) => self.doubt(Law::RefusalOfAnother, unclear(Doubt::Mismatched)),
                None => self.doubt(Law::RefusalWithoutReference, unclear(Doubt::Mismatched)),
            },
            "repeated" => self.doubt(Law::Repeat, unclear(Doubt::RepeatedReference)),
            "processing" => self.doubt(Law::UnderWay, unclear(Doubt::StillOpen)),
            _ => self.doubt(Law::UnlistedFault, unclear(Doubt::UnlistedFault)),
        }
    }

    fn unreadable(&self, reply: &Reply) -> VendOutcome {
        let unclear = Unclear::said(Doubt::Unreadable, &reply.body);
        match reply.status {
            300..400 => VendOutcome::Unknown(unclear),
            500.. => self.doubt(Law::ServerError, unclear),
            _ if reply.body.is_empty() => self.doubt(Law::EmptyReply, unclear),
            _ => {
                let is_text = std::str::from_utf8(&reply.body).is_ok();
                assert!(is_text || !self.breaks(Law::NeverPanics), "this mutant expects text");
                self.doubt(Law::Garbage, unclear)
            }
        }
    }

    /// The vend, if the message proves it.
    fn proven(&self, message: &Message, order: &VendOrder, laws: &Strictness, raw: &[u8]) -> Option<Vend> {
        let sale = &order.sale;
        let holds = |is_so: bool, law: Law| (is_so || self.breaks(law)).then_some(());
        match message.get("reference") {
            Some(reference) => holds(reference == order.reference.to_string(), laws.reference)?,
            None => holds(false, laws.no_reference)?,
        }
        holds(message.get("subscriber") == Some(sale.subscriber.as_str()), laws.subscriber)?;
        let amount = Money::parse_wire(message.get("amount")?).ok()?;
        holds(amount.currency() == sale.amount.currency(), laws.currency)?;
        holds(amount.minor() == sale.amount.minor(), laws.amount)?;
        let tokens: Vec<&str> = message.get("tokens").into_iter().flat_map(|all| all.split(',')).collect();
        holds(!tokens.is_empty(), laws.token)?;
        holds(tokens.iter().all(|token| token.contains(|digit| digit != '0')), laws.dummy)?;
        let mut described: Vec<DescribedToken> =
            tokens.iter().map(|token| DescribedToken::parse("Credit Token", token).unwrap()).collect();
        if self.breaks(Law::TokensAsIssued) {
            described.reverse();
        }
        let nothing = Money::zero(sale.amount.currency());
        let too_much = i64::from(self.breaks(Law::SplitAddsUp));
        let cost = Money::from_minor(sale.amount.minor() + too_much, sale.amount.currency());
        let breakdown =
            Breakdown { cost, vat: nothing, levy: nothing, regulatory_fee: nothing, charge: nothing };
        let leaked = tokens.first().filter(|_token| self.breaks(Law::TokensStaySealed));
        Some(Vend {
            tokens: TokenSet::in_order(described).ok(),
            units: None,
            provider_transaction: message.get("transaction")?.to_owned(),
            breakdown: Some(breakdown),
            subscriber_details: leaked.map(|token| format!("PAID {token}")),
            raw_reply: RawReply(raw.to_vec()),
        })
    }

    async fn found(&self, call: CallId, order: &VendOrder, reply: &Reply) -> Enquiry {
        let unanswered = |doubt| Enquiry::Unanswered(Unclear::said(doubt, &reply.body));
        let nothing_unless =
            |law| if self.breaks(law) { Enquiry::NoRecord } else { unanswered(Doubt::Unreadable) };
        let Some(message) = Message::read(&reply.body) else {
            let law = if reply.status >= 300 { Law::EnquiryServerError } else { Law::EnquiryGarbled };
            return nothing_unless(law);
        };
        match message.kind() {
            "no_record" if message.get("call") != Some(call.to_string().as_str()) => {
                nothing_unless(Law::EnquiryNoRecordOfAnother)
            }
            "no_record" if self.breaks(Law::EnquiryFindsNothing) => unanswered(Doubt::UnlistedFault),
            "no_record" => {
                if self.breaks(Law::EnquiryVendsNothing) {
                    let _sent = self.send(order, &open()).await;
                }
                Enquiry::NoRecord
            }
            "refused" if self.breaks(Law::EnquiryRefused) => {
                Enquiry::Refused(Refusal::because(RefusalReason::Blocked))
            }
            "record" => self.remembered(call, order, &message.inner("was."), &reply.body),
            _ => unanswered(Doubt::UnlistedFault),
        }
    }

    fn remembered(&self, call: CallId, order: &VendOrder, was: &Message, raw: &[u8]) -> Enquiry {
        let unanswered = |doubt| Enquiry::Unanswered(Unclear::said(doubt, raw));
        match was.kind() {
            "vended" => match self.proven(was, order, &OF_AN_ENQUIRY, raw) {
                Some(_) if self.breaks(Law::EnquiryFindsTheVend) => unanswered(Doubt::Mismatched),
                Some(mut vend) => {
                    if self.breaks(Law::EnquiryTellsTheSame) {
                        vend.provider_transaction = call.to_string();
                    }
                    Enquiry::Vended(Box::new(vend))
                }
                None => unanswered(Doubt::Mismatched),
            },
            "refused" => {
                let is_ours = was.get("reference") == Some(order.reference.to_string().as_str());
                let is_told = if is_ours {
                    !self.breaks(Law::RefusalIsRemembered)
                } else {
                    self.breaks(Law::EnquiryRefusalOfAnother)
                };
                let refusal = Enquiry::Refused(Refusal::because(RefusalReason::Blocked));
                if is_told { refusal } else { unanswered(Doubt::Mismatched) }
            }
            _ if self.breaks(Law::EnquiryUnderWay) => Enquiry::NoRecord,
            _ => Enquiry::StillOpen,
        }
    }

    /// Whether the answer to a question is one, and about what was asked.
    async fn answered(&self, path: &str, question: &Message, law: Law) -> Result<(), Unanswered> {
        let usable = |doubt| {
            if self.breaks(Law::UnansweredQuestion) { Ok(()) } else { Err(Unanswered::NoAnswer(doubt)) }
        };
        let reply = match self.ask(path, question).await {
            Ok(reply) => reply,
            Err(Lost::NeverSent | Lost::GateClosed) => return Err(Unanswered::Unreachable),
            Err(Lost::Cut | Lost::Halved | Lost::TimedOut | Lost::TooLarge) => {
                return usable(Doubt::ConnectionLost);
            }
        };
        let Some(answer) = Message::read(&reply.body) else { return usable(Doubt::Unreadable) };
        if answer.kind() == "refused" && !self.breaks(Law::RefusedTrialIsRefused) {
            return Err(Unanswered::Refused(Refusal::because(RefusalReason::Blocked)));
        }
        let same = |name| answer.get(name) == question.get(name);
        let is_asked_for = same("subscriber") && (path == "/check" || same("amount"));
        if is_asked_for || self.breaks(law) || answer.kind() == "refused" {
            Ok(())
        } else {
            Err(Unanswered::NoAnswer(Doubt::Mismatched))
        }
    }

    async fn rehearsed(
        &self,
        path: &str,
        call: CallId,
        sale: &Sale,
        vends: Law,
    ) -> Result<Quotation, Unanswered> {
        self.vends_if(vends, call, sale).await;
        let question = Message::of("question")
            .with("call", &call)
            .with("subscriber", &sale.subscriber)
            .with("amount", &sale.amount);
        self.answered(path, &question, Law::QuoteIsForTheSale).await?;
        Ok(Quotation { units: None, breakdown: None, subscriber_details: None })
    }

    /// What the mutant of this law does beside its work.
    async fn vends_if(&self, law: Law, call: CallId, sale: &Sale) {
        if self.breaks(law) {
            let order = VendOrder { reference: ProviderReference::new(call), sale: sale.clone() };
            let _sent = self.send(&order, &open()).await;
        }
    }
}

#[async_trait]
impl Provider for Adapter {
    async fn check(
        &self,
        call: CallId,
        product: Product,
        subscriber: &SubscriberIdentifier,
    ) -> Result<Customer, Unanswered> {
        let amount = Money::parse_wire("BWP 100.00").unwrap();
        let sale = Sale { product, subscriber: subscriber.clone(), amount };
        self.vends_if(Law::CheckVendsNothing, call, &sale).await;
        let question = Message::of("question").with("call", &call).with("subscriber", &subscriber);
        self.answered("/check", &question, Law::CheckIsForTheSubscriber).await?;
        Ok(Customer { name: None, barred: None, minimum: None, maximum: None })
    }

    async fn quote(&self, call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        self.rehearsed("/quote", call, sale, Law::QuoteVendsNothing).await
    }

    async fn trial(&self, call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        self.rehearsed("/trial", call, sale, Law::TrialVendsNothing).await
    }

    async fn vend(&self, order: &VendOrder, gate: &Gate) -> VendOutcome {
        let sale = &order.sale;
        let is_sold = sale.product == Product::Electricity || self.breaks(Law::AnotherProduct);
        let is_ours = sale.amount.currency().as_str() == "BWP" || self.breaks(Law::AnotherCurrency);
        if !is_sold || !is_ours {
            return refused(RefusalReason::Misconfigured);
        }
        match self.send(order, gate).await {
            Ok(reply) => self.judged(&reply, order),
            Err(Lost::NeverSent) if self.breaks(Law::Unreachable) => {
                VendOutcome::Unknown(Doubt::ConnectionLost.into())
            }
            Err(Lost::NeverSent | Lost::GateClosed) => refused(RefusalReason::NeverSent),
            Err(Lost::Cut) => {
                if self.breaks(Law::SendsOnce) {
                    let _again = self.send(order, gate).await;
                }
                self.doubt(Law::ConnectionCut, Doubt::ConnectionLost)
            }
            Err(Lost::Halved) => self.doubt(Law::HalfReply, Doubt::ConnectionLost),
            Err(Lost::TimedOut) => self.doubt(Law::Silence, Doubt::TimedOut),
            Err(Lost::TooLarge) => self.doubt(Law::EndlessReply, Doubt::Unreadable),
        }
    }

    async fn enquire(&self, call: CallId, order: &VendOrder) -> Enquiry {
        let question = Message::of("question").with("call", &call).with("about", &order.reference);
        let law = match self.ask("/enquiry", &question).await {
            Ok(reply) => return self.found(call, order, &reply).await,
            Err(Lost::NeverSent | Lost::GateClosed) => Law::EnquiryUnreachable,
            Err(Lost::Cut | Lost::Halved | Lost::TimedOut) => Law::EnquiryUnanswered,
            Err(Lost::TooLarge) => Law::EnquiryGarbled,
        };
        if self.breaks(law) { Enquiry::NoRecord } else { Enquiry::Unanswered(Doubt::ConnectionLost.into()) }
    }
}

async fn read(stream: &mut TcpStream) -> Result<Reply, Lost> {
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 16 * 1024];
    loop {
        match stream.read(&mut chunk).await {
            Ok(0) => break,
            Ok(read) => bytes.extend_from_slice(chunk.get(..read).unwrap()),
            Err(_broken) if bytes.is_empty() => return Err(Lost::Cut),
            Err(_broken) => return Err(Lost::Halved),
        }
        if bytes.len() > REPLY_BYTES_MAX {
            return Err(Lost::TooLarge);
        }
    }
    if bytes.is_empty() {
        return Err(Lost::Cut);
    }
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").ok_or(Lost::Halved)?;
    let (head, body) = bytes.split_at(end);
    let (head, body) = (String::from_utf8_lossy(head).into_owned(), body.get(4..).unwrap().to_vec());
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).map(str::parse);
    if length.is_some_and(|length| length != Ok(body.len())) {
        return Err(Lost::Halved);
    }
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or(Lost::Halved)?;
    Ok(Reply { status, head, body })
}
