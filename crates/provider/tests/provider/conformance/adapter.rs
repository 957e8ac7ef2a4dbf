//! An adapter to the small vendor. It meets every requirement. As a mutant it violates exactly one.

use std::time::Duration;

use async_trait::async_trait;
use meter_token::{DescribedToken, TokenSet};
use money::Money;
use provider::conformance::Requirement;
use provider::{Gate, Provider};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use vend::{
    Breakdown, CallId, Customer, Doubt, Enquiry, Product, ProviderReference, Quotation, RawReply, Refusal,
    RefusalReason, Sale, SubscriberIdentifier, Unanswered, Unclear, Vend, VendOrder, VendOutcome,
};

use super::message::Message;

const VEND_TIMEOUT: Duration = Duration::from_millis(600);
const QUESTION_TIMEOUT: Duration = Duration::from_millis(400);
const NEVER: Duration = Duration::from_secs(60 * 60);
const REPLY_BYTES_MAX: usize = 1024 * 1024;

pub struct Adapter {
    address: String,
    pub breaks: Option<Requirement>,
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

/// The requirements about a success, either in the answer to a vend or in the answer to an enquiry.
struct Strictness {
    reference: Requirement,
    no_reference: Requirement,
    subscriber: Requirement,
    amount: Requirement,
    currency: Requirement,
    token: Requirement,
    dummy: Requirement,
}

const OF_A_VEND: Strictness = Strictness {
    reference: Requirement::ReferenceOfAnother,
    no_reference: Requirement::ReferenceMissing,
    subscriber: Requirement::SubscriberOfAnother,
    amount: Requirement::AmountOfAnother,
    currency: Requirement::CurrencyOfAnother,
    token: Requirement::TokenMissing,
    dummy: Requirement::TokenIsDummy,
};

const OF_AN_ENQUIRY: Strictness = Strictness {
    reference: Requirement::EnquiryReferenceOfAnother,
    no_reference: Requirement::EnquiryReferenceMissing,
    subscriber: Requirement::EnquirySubscriberOfAnother,
    amount: Requirement::EnquiryAmountOfAnother,
    currency: Requirement::EnquiryCurrencyOfAnother,
    token: Requirement::EnquiryTokenMissing,
    dummy: Requirement::EnquiryTokenIsDummy,
};

fn open() -> Gate {
    Gate::while_true(|| true)
}

fn refused(reason: RefusalReason) -> VendOutcome {
    VendOutcome::Refused(Refusal::because(reason))
}

impl Adapter {
    pub fn at(url: &str, breaks: Option<Requirement>) -> Self {
        Self { address: url.strip_prefix("http://").unwrap().to_owned(), breaks }
    }

    /// Whether this is the mutant that violates this requirement.
    fn breaks(&self, requirement: Requirement) -> bool {
        self.breaks == Some(requirement)
    }

    /// A refusal if this is the mutant of this requirement, else doubt.
    fn doubt(&self, requirement: Requirement, doubt: impl Into<Unclear>) -> VendOutcome {
        if self.breaks(requirement) {
            refused(RefusalReason::Other)
        } else {
            VendOutcome::Unknown(doubt.into())
        }
    }

    async fn exchange(
        &self,
        (address, path): (&str, &str),
        message: &Message,
        gate: &Gate,
        within: Duration,
    ) -> Result<Reply, Lost> {
        let exchange = async {
            let looks_early = self.breaks(Requirement::GateIsLookedAtLast);
            if looks_early && !gate.is_open() {
                return Err(Lost::GateClosed);
            }
            let mut stream = TcpStream::connect(address).await.map_err(|_refused| Lost::NeverSent)?;
            if !looks_early && !self.breaks(Requirement::ClosedGate) && !gate.is_open() {
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
        let within = if self.breaks(Requirement::KeepsDeadlines) { NEVER } else { VEND_TIMEOUT };
        let reply = self.exchange((&self.address, "/vend"), &message, gate, within).await?;
        if !(300..400).contains(&reply.status) || !self.breaks(Requirement::Redirect) {
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
            if self.breaks(Requirement::UnclearIsKept) {
                doubt.into()
            } else {
                Unclear::said(doubt, &reply.body)
            }
        };
        let Some(message) = Message::read(&reply.body) else { return self.unreadable(reply) };
        match message.kind() {
            "vended" => match self.proven(&message, order, &OF_A_VEND, &reply.body) {
                Some(_) if reply.status >= 500 && self.breaks(Requirement::SuccessUnderError) => {
                    refused(RefusalReason::Other)
                }
                Some(_) if self.breaks(Requirement::VendIsTold) => {
                    VendOutcome::Unknown(unclear(Doubt::Mismatched))
                }
                Some(vend) => VendOutcome::Vended(Box::new(vend)),
                None => VendOutcome::Unknown(unclear(Doubt::Mismatched)),
            },
            "refused" => match message.get("reference") {
                Some(ours)
                    if ours == order.reference.to_string() && !self.breaks(Requirement::RefusalIsTold) =>
                {
                    refused(RefusalReason::Blocked)
                }
                Some(ours) if ours == order.reference.to_string() => {
                    VendOutcome::Unknown(unclear(Doubt::UnlistedFault))
                }
                Some(_) => self.doubt(Requirement::RefusalOfAnother, unclear(Doubt::Mismatched)),
                None => self.doubt(Requirement::RefusalWithoutReference, unclear(Doubt::Mismatched)),
            },
            "repeated" => self.doubt(Requirement::Repeat, unclear(Doubt::RepeatedReference)),
            "processing" => self.doubt(Requirement::UnderWay, unclear(Doubt::StillOpen)),
            _ => self.doubt(Requirement::UnlistedFault, unclear(Doubt::UnlistedFault)),
        }
    }

    fn unreadable(&self, reply: &Reply) -> VendOutcome {
        let unclear = Unclear::said(Doubt::Unreadable, &reply.body);
        match reply.status {
            300..400 => VendOutcome::Unknown(unclear),
            500.. => self.doubt(Requirement::ServerError, unclear),
            _ if reply.body.is_empty() => self.doubt(Requirement::EmptyReply, unclear),
            _ => {
                let is_text = std::str::from_utf8(&reply.body).is_ok();
                assert!(is_text || !self.breaks(Requirement::NeverPanics), "this mutant panics on bytes");
                self.doubt(Requirement::Garbage, unclear)
            }
        }
    }

    /// The vend, if the message proves it.
    fn proven(
        &self,
        message: &Message,
        order: &VendOrder,
        requirements: &Strictness,
        raw: &[u8],
    ) -> Option<Vend> {
        let sale = &order.sale;
        let holds = |is_so: bool, requirement: Requirement| (is_so || self.breaks(requirement)).then_some(());
        match message.get("reference") {
            Some(reference) => holds(reference == order.reference.to_string(), requirements.reference)?,
            None => holds(false, requirements.no_reference)?,
        }
        holds(message.get("subscriber") == Some(sale.subscriber.as_str()), requirements.subscriber)?;
        let amount = Money::parse_wire(message.get("amount")?).ok()?;
        holds(amount.currency() == sale.amount.currency(), requirements.currency)?;
        holds(amount.minor() == sale.amount.minor(), requirements.amount)?;
        let tokens: Vec<&str> = message.get("tokens").into_iter().flat_map(|all| all.split(',')).collect();
        holds(!tokens.is_empty(), requirements.token)?;
        holds(tokens.iter().all(|token| token.contains(|digit| digit != '0')), requirements.dummy)?;
        let mut described: Vec<DescribedToken> =
            tokens.iter().map(|token| DescribedToken::parse("Credit Token", token).unwrap()).collect();
        if self.breaks(Requirement::TokensAsIssued) {
            described.reverse();
        }
        let nothing = Money::zero(sale.amount.currency());
        let too_much = i64::from(self.breaks(Requirement::SplitAddsUp));
        let cost = Money::from_minor(sale.amount.minor() + too_much, sale.amount.currency());
        let breakdown =
            Breakdown { cost, vat: nothing, levy: nothing, regulatory_fee: nothing, charge: nothing };
        let leaked = tokens.first().filter(|_token| self.breaks(Requirement::TokensStaySealed));
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
        let nothing_unless = |requirement| {
            if self.breaks(requirement) { Enquiry::NoRecord } else { unanswered(Doubt::Unreadable) }
        };
        let Some(message) = Message::read(&reply.body) else {
            let requirement = if reply.status >= 300 {
                Requirement::EnquiryServerError
            } else {
                Requirement::EnquiryGarbled
            };
            return nothing_unless(requirement);
        };
        match message.kind() {
            "no_record" if message.get("call") != Some(call.to_string().as_str()) => {
                nothing_unless(Requirement::EnquiryNoRecordOfAnother)
            }
            "no_record" if self.breaks(Requirement::EnquiryFindsNothing) => unanswered(Doubt::UnlistedFault),
            "no_record" => {
                if self.breaks(Requirement::EnquiryVendsNothing) {
                    let _sent = self.send(order, &open()).await;
                }
                Enquiry::NoRecord
            }
            "refused" if self.breaks(Requirement::EnquiryRefused) => {
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
                Some(_) if self.breaks(Requirement::EnquiryFindsTheVend) => unanswered(Doubt::Mismatched),
                Some(mut vend) => {
                    if self.breaks(Requirement::EnquiryTellsTheSame) {
                        vend.provider_transaction = call.to_string();
                    }
                    Enquiry::Vended(Box::new(vend))
                }
                None => unanswered(Doubt::Mismatched),
            },
            "refused" => {
                let is_ours = was.get("reference") == Some(order.reference.to_string().as_str());
                let is_reported = if is_ours {
                    !self.breaks(Requirement::RefusalIsRemembered)
                } else {
                    self.breaks(Requirement::EnquiryRefusalOfAnother)
                };
                let refusal = Enquiry::Refused(Refusal::because(RefusalReason::Blocked));
                if is_reported { refusal } else { unanswered(Doubt::Mismatched) }
            }
            _ if self.breaks(Requirement::EnquiryUnderWay) => Enquiry::NoRecord,
            _ => Enquiry::StillOpen,
        }
    }

    /// Succeeds if the question got a usable answer about the subject of the question.
    async fn answered(
        &self,
        path: &str,
        question: &Message,
        requirement: Requirement,
    ) -> Result<(), Unanswered> {
        let usable = |doubt| {
            if self.breaks(Requirement::UnansweredQuestion) {
                Ok(())
            } else {
                Err(Unanswered::NoAnswer(doubt))
            }
        };
        let reply = match self.ask(path, question).await {
            Ok(reply) => reply,
            Err(Lost::NeverSent | Lost::GateClosed) => return Err(Unanswered::Unreachable),
            Err(Lost::Cut | Lost::Halved | Lost::TimedOut | Lost::TooLarge) => {
                return usable(Doubt::ConnectionLost);
            }
        };
        let Some(answer) = Message::read(&reply.body) else { return usable(Doubt::Unreadable) };
        if answer.kind() == "refused" && !self.breaks(Requirement::RefusedTrialIsRefused) {
            return Err(Unanswered::Refused(Refusal::because(RefusalReason::Blocked)));
        }
        let same = |name| answer.get(name) == question.get(name);
        let is_asked_for = same("subscriber") && (path == "/check" || same("amount"));
        if is_asked_for || self.breaks(requirement) || answer.kind() == "refused" {
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
        vends: Requirement,
    ) -> Result<Quotation, Unanswered> {
        self.vends_if(vends, call, sale).await;
        let question = Message::of("question")
            .with("call", &call)
            .with("subscriber", &sale.subscriber)
            .with("amount", &sale.amount);
        self.answered(path, &question, Requirement::QuoteIsForTheSale).await?;
        Ok(Quotation { units: None, breakdown: None, subscriber_details: None })
    }

    /// Sends an order if this is the mutant of this requirement.
    async fn vends_if(&self, requirement: Requirement, call: CallId, sale: &Sale) {
        if self.breaks(requirement) {
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
        self.vends_if(Requirement::CheckVendsNothing, call, &sale).await;
        let question = Message::of("question").with("call", &call).with("subscriber", &subscriber);
        self.answered("/check", &question, Requirement::CheckIsForTheSubscriber).await?;
        Ok(Customer { name: None, barred: None, minimum: None, maximum: None })
    }

    async fn quote(&self, call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        self.rehearsed("/quote", call, sale, Requirement::QuoteVendsNothing).await
    }

    async fn trial(&self, call: CallId, sale: &Sale) -> Result<Quotation, Unanswered> {
        self.rehearsed("/trial", call, sale, Requirement::TrialVendsNothing).await
    }

    async fn float(&self, call: CallId) -> Result<Option<Money>, Unanswered> {
        let amount = Money::parse_wire("BWP 100.00").unwrap();
        let subscriber = SubscriberIdentifier::parse("04257670465").unwrap();
        let sale = Sale { product: Product::Electricity, subscriber, amount };
        self.vends_if(Requirement::FloatVendsNothing, call, &sale).await;
        Ok(Some(amount))
    }

    async fn vend(&self, order: &VendOrder, gate: &Gate) -> VendOutcome {
        let sale = &order.sale;
        let is_sold = sale.product == Product::Electricity || self.breaks(Requirement::AnotherProduct);
        let is_ours = sale.amount.currency().as_str() == "BWP" || self.breaks(Requirement::AnotherCurrency);
        if !is_sold || !is_ours {
            return refused(RefusalReason::Misconfigured);
        }
        match self.send(order, gate).await {
            Ok(reply) => self.judged(&reply, order),
            Err(Lost::NeverSent) if self.breaks(Requirement::Unreachable) => {
                VendOutcome::Unknown(Doubt::ConnectionLost.into())
            }
            Err(Lost::NeverSent | Lost::GateClosed) => refused(RefusalReason::NeverSent),
            Err(Lost::Cut) => {
                if self.breaks(Requirement::SendsOnce) {
                    let _again = self.send(order, gate).await;
                }
                self.doubt(Requirement::ConnectionCut, Doubt::ConnectionLost)
            }
            Err(Lost::Halved) => self.doubt(Requirement::HalfReply, Doubt::ConnectionLost),
            Err(Lost::TimedOut) => self.doubt(Requirement::Silence, Doubt::TimedOut),
            Err(Lost::TooLarge) => self.doubt(Requirement::EndlessReply, Doubt::Unreadable),
        }
    }

    async fn enquire(&self, call: CallId, order: &VendOrder) -> Enquiry {
        let question = Message::of("question").with("call", &call).with("about", &order.reference);
        let requirement = match self.ask("/enquiry", &question).await {
            Ok(reply) => return self.found(call, order, &reply).await,
            Err(Lost::NeverSent | Lost::GateClosed) => Requirement::EnquiryUnreachable,
            Err(Lost::Cut | Lost::Halved | Lost::TimedOut) => Requirement::EnquiryUnanswered,
            Err(Lost::TooLarge) => Requirement::EnquiryGarbled,
        };
        if self.breaks(requirement) {
            Enquiry::NoRecord
        } else {
            Enquiry::Unanswered(Doubt::ConnectionLost.into())
        }
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
