//! A statement as an ISO 20022 message, `BankToCustomerStatement` in the version camt.053.001.08.
//!
//! Each page is one message with its number. A page that is not the only one has balances of the kind `INTM`: those
//! between the pages.

use std::io;

use chrono::{DateTime, SecondsFormat, Utc};
use chrono_tz::Tz;
use money::Money;
use quick_xml::{
    Writer,
    events::{BytesDecl, BytesText, Event},
};

use purchase::{MovementKind, MovementPart, StatedPurchase, StatementLine, StatementPage};
use web::SharedState;

use crate::requests::Days;

const NAMESPACE: &str = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08";

/// The longest identifier that the message can hold.
const MAX_35: usize = 35;

/// A page, and where it stands in its statement.
#[derive(Debug)]
pub struct Camt053<'a> {
    /// The page.
    pub page: &'a StatementPage,
    /// The days of the statement.
    pub days: &'a Days,
    /// The number of the page, from 1.
    pub number: u32,
    /// When the message is made.
    pub at: DateTime<Utc>,
}

type Xml = Writer<Vec<u8>>;

impl Camt053<'_> {
    /// The message in UTF-8.
    pub fn to_xml(&self, shared: &SharedState) -> io::Result<Vec<u8>> {
        let zone = shared.zone();
        let mut xml = Writer::new(Vec::new());
        xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        xml.create_element("Document").with_attribute(("xmlns", NAMESPACE)).write_inner_content(|xml| {
            within(xml, "BkToCstmrStmt", |xml| {
                within(xml, "GrpHdr", |xml| {
                    text(xml, "MsgId", &format!("{}-{}", self.id(), self.number))?;
                    text(xml, "CreDtTm", &moment(self.at, zone))
                })?;
                within(xml, "Stmt", |xml| self.write_statement(xml, zone))
            })
        })?;
        Ok(xml.into_inner())
    }

    /// Names the statement: the account and its days.
    fn id(&self) -> String {
        let Days { first, last } = self.days;
        format!("{}-{}-{}", self.page.statement.account.0, first.format("%y%m%d"), last.format("%y%m%d"))
    }

    fn write_statement(&self, xml: &mut Xml, zone: Tz) -> io::Result<()> {
        let statement = &self.page.statement;
        let period = self.days.period(&zone);
        text(xml, "Id", &self.id())?;
        within(xml, "StmtPgntn", |xml| {
            text(xml, "PgNb", &self.number.to_string())?;
            text(xml, "LastPgInd", if self.is_last() { "true" } else { "false" })
        })?;
        text(xml, "CreDtTm", &moment(self.at, zone))?;
        within(xml, "FrToDt", |xml| {
            text(xml, "FrDtTm", &moment(period.from, zone))?;
            text(xml, "ToDtTm", &moment(statement.extent.as_of, zone))
        })?;
        within(xml, "Acct", |xml| {
            within(xml, "Id", |xml| {
                within(xml, "Othr", |xml| text(xml, "Id", &statement.account.0.to_string()))
            })?;
            text(xml, "Ccy", &statement.currency.to_string())?;
            text(xml, "Nm", &cut(&statement.name, 70))
        })?;
        self.write_balances(xml, zone)?;
        for line in &self.page.lines {
            within(xml, "Ntry", |xml| write_entry(xml, line, zone))?;
        }
        Ok(())
    }

    fn is_last(&self) -> bool {
        self.page.next.is_none()
    }

    fn write_balances(&self, xml: &mut Xml, zone: Tz) -> io::Result<()> {
        let extent = &self.page.statement.extent;
        let closing = self.page.lines.last().map_or(self.page.opening, |line| line.balance);
        let begun = self.days.period(&zone).from;
        let reached =
            self.page.lines.last().filter(|_| !self.is_last()).map_or(extent.as_of, |line| line.posted_at);
        write_balance(xml, "OPBD", self.number > 1, self.page.opening, &moment(begun, zone))?;
        // What is booked up to now is not a closing balance.
        let code = if extent.is_complete { "CLBD" } else { "ITBD" };
        write_balance(xml, code, !self.is_last(), closing, &moment(reached, zone))
    }
}

fn write_balance(
    xml: &mut Xml,
    code: &str,
    is_intermediate: bool,
    balance: Money,
    at: &str,
) -> io::Result<()> {
    within(xml, "Bal", |xml| {
        within(xml, "Tp", |xml| {
            within(xml, "CdOrPrtry", |xml| text(xml, "Cd", code))?;
            if is_intermediate { within(xml, "SubTp", |xml| text(xml, "Cd", "INTM")) } else { Ok(()) }
        })?;
        write_amount(xml, balance)?;
        within(xml, "Dt", |xml| text(xml, "DtTm", at))
    })
}

/// The amount without its sign, and the side on which it is.
fn write_amount(xml: &mut Xml, amount: Money) -> io::Result<()> {
    let currency = amount.currency();
    let side = if amount.minor() < 0 { "DBIT" } else { "CRDT" };
    let amount = Money::from_minor(amount.minor().saturating_abs(), currency).amount().to_string();
    xml.create_element("Amt")
        .with_attribute(("Ccy", currency.to_string().as_str()))
        .write_text_content(BytesText::new(&amount))?;
    text(xml, "CdtDbtInd", side)
}

fn write_entry(xml: &mut Xml, line: &StatementLine, zone: Tz) -> io::Result<()> {
    text(xml, "NtryRef", &line.entry.to_string())?;
    write_amount(xml, line.amount)?;
    within(xml, "Sts", |xml| text(xml, "Cd", "BOOK"))?;
    within(xml, "BookgDt", |xml| text(xml, "DtTm", &moment(line.posted_at, zone)))?;
    within(xml, "BkTxCd", |xml| write_code(xml, line))?;
    if line.purchase.is_some() || line.reference.is_some() {
        within(xml, "NtryDtls", |xml| within(xml, "TxDtls", |xml| write_details(xml, line)))?;
    }
    Ok(())
}

/// Our own code and the nearest one of the external list of bank transaction codes.
fn write_code(xml: &mut Xml, line: &StatementLine) -> io::Result<()> {
    let (family, sub_family) = match (line.kind, line.part) {
        (MovementKind::Purchase, MovementPart::Charge) => ("MDOP", "CHRG"),
        (MovementKind::Purchase, MovementPart::Commission) => ("MCOP", "COMM"),
        (MovementKind::Purchase, MovementPart::Net | MovementPart::Payment) => ("ICDT", "OTHR"),
        (MovementKind::TopUp, _) => ("RCDT", "OTHR"),
        (MovementKind::Adjustment, _) if line.amount.minor() < 0 => ("MDOP", "ADJT"),
        (MovementKind::Adjustment, _) => ("MCOP", "ADJT"),
    };
    within(xml, "Domn", |xml| {
        text(xml, "Cd", "PMNT")?;
        within(xml, "Fmly", |xml| {
            text(xml, "Cd", family)?;
            text(xml, "SubFmlyCd", sub_family)
        })
    })?;
    within(xml, "Prtry", |xml| text(xml, "Cd", &format!("{}-{}", line.kind.as_str(), line.part.as_str())))
}

/// References that fit have their own elements. A longer one follows as remittance information, so none is cut.
fn write_details(xml: &mut Xml, line: &StatementLine) -> io::Result<()> {
    let external = line.purchase.as_ref().and_then(|purchase| purchase.external_reference.as_deref());
    let fits = |reference: &&str| reference.chars().count() <= MAX_35;
    within(xml, "Refs", |xml| {
        if let Some(reference) = line.reference.as_deref().filter(fits) {
            text(xml, "AcctSvcrRef", reference)?;
        }
        if let Some(reference) = external.filter(fits) {
            text(xml, "EndToEndId", reference)?;
        }
        if let Some(purchase) = &line.purchase {
            write_purchase(xml, purchase)?;
        }
        Ok(())
    })?;
    let long =
        [line.reference.as_deref(), external].into_iter().flatten().filter(|reference| !fits(reference));
    let long: Vec<&str> = long.collect();
    if long.is_empty() {
        return Ok(());
    }
    within(xml, "RmtInf", |xml| long.iter().try_for_each(|reference| text(xml, "Ustrd", reference)))
}

fn write_purchase(xml: &mut Xml, purchase: &StatedPurchase) -> io::Result<()> {
    text(xml, "TxId", &purchase.id.0.to_string())?;
    let references = [
        ("SUBSCRIBER", cut(&purchase.subscriber, MAX_35)),
        ("PRODUCT", purchase.product.as_str().to_owned()),
        ("PROVIDER", cut(&purchase.provider_code, MAX_35)),
    ];
    references.iter().try_for_each(|(kind, reference)| {
        within(xml, "Prtry", |xml| {
            text(xml, "Tp", kind)?;
            text(xml, "Ref", reference)
        })
    })
}

fn within(xml: &mut Xml, name: &str, inner: impl FnOnce(&mut Xml) -> io::Result<()>) -> io::Result<()> {
    xml.create_element(name).write_inner_content(inner)?;
    Ok(())
}

fn text(xml: &mut Xml, name: &str, content: &str) -> io::Result<()> {
    xml.create_element(name).write_text_content(BytesText::new(content))?;
    Ok(())
}

/// The first characters of a text for people.
fn cut(text: &str, max: usize) -> String {
    text.chars().take(max).collect()
}

fn moment(at: DateTime<Utc>, zone: Tz) -> String {
    at.with_timezone(&zone).to_rfc3339_opts(SecondsFormat::Millis, false)
}
