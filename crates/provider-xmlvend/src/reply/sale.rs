//! The answer to a vend or a trial vend: a receipt with lines. One of the lines has the token.

use meter_token::MeterToken;
use rust_decimal::Decimal;
use vend::one_line;

use crate::amount::{Amount, decimal};
use crate::reply::MessageId;
use crate::reply::customer::{customer_name, meter_number};
use crate::tree::{Element, Malformed};

/// `creditVendResp`, `trialCreditVendResp`, or a `lastResponse` of that type.
pub(crate) struct SaleReply {
    pub(crate) request: Option<MessageId>,
    pub(crate) customer: Option<String>,
    pub(crate) receipt: Option<String>,
    pub(crate) transactions: Vec<Transaction>,
    pub(crate) tendered: Option<Amount>,
    pub(crate) rounding: Option<Amount>,
    /// Our credit at the gateway when it wrote the answer, if it says so.
    pub(crate) credit: Option<Amount>,
}

/// One line of the receipt.
pub(crate) struct Transaction {
    pub(crate) amount: Amount,
    pub(crate) taxes: Vec<Amount>,
    pub(crate) line: Line,
}

/// The purpose of a line.
pub(crate) enum Line {
    /// The part that paid for units.
    Credit { issue: CreditIssue, key_change: Option<Box<KeyChange>> },
    /// A charge, a debt, a tax.
    Other { description: Option<String> },
}

/// What was issued for the part that paid for units.
#[derive(Default)]
pub(crate) struct CreditIssue {
    /// The gateway's description of the token.
    pub(crate) description: Option<String>,
    pub(crate) meter: Option<String>,
    pub(crate) token: Option<MeterToken>,
    pub(crate) quantity: Option<Decimal>,
    pub(crate) unit: Option<String>,
    /// The local part of the resource's type, if the gateway states it.
    pub(crate) resource: Option<String>,
}

/// The two tokens that give the meter a new key. Both are entered before the credit token.
pub(crate) struct KeyChange {
    /// The gateway's description of both tokens.
    pub(crate) description: Option<String>,
    pub(crate) meter: Option<String>,
    pub(crate) first: Option<MeterToken>,
    pub(crate) second: Option<MeterToken>,
}

impl SaleReply {
    pub(super) fn read(message: &Element<'_>) -> Result<Self, Malformed> {
        let receipt = message.only("creditVendReceipt")?.ok_or(Malformed::Missing("receipt"))?;
        let lines = receipt.only("transactions")?.ok_or(Malformed::Missing("transactions"))?;
        Ok(Self {
            request: MessageId::read(message, "reqMsgID")?,
            customer: customer_name(message)?,
            receipt: receipt_number(receipt, lines),
            transactions: lines.all("tx").map(Transaction::read).collect::<Result<_, _>>()?,
            tendered: lines.only("tenderAmt")?.map(Amount::read).transpose()?,
            rounding: lines.only("lessRound")?.map(Amount::read).transpose()?,
            credit: credit(message),
        })
    }

    /// The issues of all lines.
    pub(crate) fn issues(&self) -> impl Iterator<Item = (&CreditIssue, Option<&KeyChange>)> {
        self.transactions.iter().filter_map(|transaction| match &transaction.line {
            Line::Credit { issue, key_change } => Some((issue, key_change.as_deref())),
            Line::Other { .. } => None,
        })
    }
}

/// It says nothing about the sale, so one that cannot be read must not put the sale in doubt.
fn credit(message: &Element<'_>) -> Option<Amount> {
    let status = message.only("clientStatus").ok()??;
    Amount::read(status.only("availCredit").ok()??).ok()
}

impl Transaction {
    fn read(tx: &Element<'_>) -> Result<Self, Malformed> {
        let amount = tx.only("amt")?.ok_or(Malformed::Missing("amount"))?;
        let taxes = tx.all("tax").map(tax).collect::<Result<_, _>>()?;
        let issue = tx.only("creditTokenIssue")?;
        let key_change = tx.only("kcTokenIssue")?;
        let line = if tx.kind() == Some("CreditVendTx") || issue.is_some() || key_change.is_some() {
            Line::Credit {
                issue: issue.map(CreditIssue::read).transpose()?.unwrap_or_default(),
                key_change: key_change.map(KeyChange::read).transpose()?.map(Box::new),
            }
        } else {
            let description = tx.only("accDesc")?.and_then(Element::text).and_then(one_line);
            Line::Other { description }
        };
        Ok(Self { amount: Amount::read(amount)?, taxes, line })
    }
}

impl CreditIssue {
    fn read(issue: &Element<'_>) -> Result<Self, Malformed> {
        let units = issue.only("units")?;
        let quantity = units.and_then(|units| units.attribute("value"));
        let token = issue.only("token")?;
        let resource = issue.only("resource")?;
        Ok(Self {
            description: description(issue),
            meter: meter_number(issue)?,
            token: token.map(cipher).transpose()?.flatten(),
            quantity: quantity.map(|text| decimal(text).ok_or(Malformed::BadValue("units"))).transpose()?,
            unit: units.and_then(|units| units.attribute("siUnit")).and_then(one_line),
            resource: resource.and_then(Element::kind).map(str::to_owned),
        })
    }
}

impl KeyChange {
    fn read(issue: &Element<'_>) -> Result<Self, Malformed> {
        let token = issue.only("token")?.ok_or(Malformed::Missing("key-change token"))?;
        // The standard has two elements. Some meters need more tokens, and the meter is unusable if one is missing.
        if token.children().len() > 2 {
            return Err(Malformed::BadValue("key change"));
        }
        let slot = |name| token.only(name)?.map(cipher).transpose().map(Option::flatten);
        Ok(Self {
            description: description(issue),
            meter: meter_number(issue)?,
            first: slot("set1stMeterKey")?,
            second: slot("set2ndMeterKey")?,
        })
    }
}

/// The first description that is not blank. An unusual description never causes an error, so the token is not lost.
fn description(issue: &Element<'_>) -> Option<String> {
    issue.all("desc").find_map(Element::text).map(str::to_owned)
}

fn cipher(holder: &Element<'_>) -> Result<Option<MeterToken>, Malformed> {
    let text = holder.only("stsCipher")?.and_then(Element::text);
    text.map(MeterToken::parse).transpose().map_err(|_not_a_token| Malformed::BadValue("token"))
}

fn tax(tax: &Element<'_>) -> Result<Amount, Malformed> {
    Amount::read(tax.only("amt")?.ok_or(Malformed::Missing("tax amount"))?)
}

/// The receipt number: of the receipt, as in the standard, or else of the first line that has one.
fn receipt_number(receipt: &Element<'_>, lines: &Element<'_>) -> Option<String> {
    let on_lines = || lines.all("tx").find_map(|tx| tx.attribute("receiptNo"));
    receipt.attribute("receiptNo").or_else(on_lines).and_then(one_line)
}
