//! What stands on a receipt, in words: the same in every format.

use messages::{Messages, ReceiptText};
use meter_token::MeterToken;
use money::Money;
use vend::{Breakdown, Product};

use crate::{Receipt, amount::written, charset::Charset, plain::one_line};

/// Longest name or reference of another party, in characters.
const FOREIGN_MAX: usize = 80;
/// Longest line of a footer, in characters.
const FOOTER_LINE_MAX: usize = 120;
/// The maximum number of lines of a footer.
const FOOTER_LINES_MAX: usize = 8;

/// The words of a receipt, with only those characters that its format can show.
pub(crate) struct Content {
    /// The language tag.
    pub(crate) language: &'static str,
    pub(crate) seller: String,
    pub(crate) title: String,
    pub(crate) facts: Vec<Fact>,
    pub(crate) tokens: Tokens,
    pub(crate) units: Option<Fact>,
    pub(crate) amounts_heading: String,
    pub(crate) amounts: Vec<Fact>,
    pub(crate) total: Fact,
    pub(crate) footer: Vec<String>,
}

/// A label and its value.
pub(crate) struct Fact {
    pub(crate) label: String,
    pub(crate) value: String,
}

/// The tokens, or why there are none.
pub(crate) enum Tokens {
    None {
        because: String,
    },
    One(TokenEntry),
    /// In the order of entry.
    Several {
        instruction: String,
        entries: Vec<TokenEntry>,
    },
}

/// A token with its label, in groups of four.
pub(crate) struct TokenEntry {
    pub(crate) label: String,
    pub(crate) groups: String,
}

/// Makes the words of one receipt.
struct Wording<'a> {
    receipt: &'a Receipt<'a>,
    charset: Charset,
}

impl Content {
    pub(crate) fn of(receipt: &Receipt<'_>, charset: Charset) -> Self {
        let wording = Wording { receipt, charset };
        let sale = &receipt.sale;
        let units = sale.units.map(|units| wording.fact(ReceiptText::Units, &units.to_string()));
        Self {
            language: receipt.language.as_str(),
            seller: wording.foreign(receipt.seller.name),
            title: wording.say(ReceiptText::Title),
            facts: wording.facts(),
            tokens: wording.tokens(),
            units,
            amounts_heading: wording.say(ReceiptText::Amounts),
            amounts: wording.amounts(),
            total: wording.fact(ReceiptText::Total, &written(sale.total)),
            footer: wording.footer(),
        }
    }
}

impl Wording<'_> {
    fn facts(&self) -> Vec<Fact> {
        let sale = &self.receipt.sale;
        let optional = |label, value: Option<&str>| value.map(|value| self.fact(label, value));
        let product = Fact { label: self.product(), value: self.shown(&written(sale.net)) };
        let subscriber = sale
            .subscriber
            .map(|subscriber| Fact { label: self.subscriber_label(), value: self.foreign(subscriber) });
        [
            Some(product),
            Some(self.fact(ReceiptText::Provider, sale.provider)),
            subscriber,
            optional(ReceiptText::Customer, sale.customer),
            Some(self.fact(ReceiptText::SoldAt, sale.sold_at)),
            Some(self.fact(ReceiptText::Reference, sale.reference)),
            optional(ReceiptText::ExternalReference, sale.external_reference),
            Some(self.fact(ReceiptText::ProviderTransaction, sale.provider_transaction)),
        ]
        .into_iter()
        .flatten()
        .filter(|fact| !fact.value.is_empty())
        .collect()
    }

    fn product(&self) -> String {
        let Receipt { language, sale, .. } = *self.receipt;
        let usual = || self.messages().product_name(language, sale.product.as_str());
        let own = sale.product_name.map(ToOwned::to_owned);
        self.foreign(&own.or_else(usual).unwrap_or_else(|| sale.product.as_str().to_owned()))
    }

    fn subscriber_label(&self) -> String {
        let Receipt { language, sale, .. } = *self.receipt;
        let label = self.messages().subscriber_label(language, sale.product.as_str());
        self.shown(&label.unwrap_or_default())
    }

    fn tokens(&self) -> Tokens {
        let Some(tokens) = self.receipt.sale.tokens else { return self.without_tokens() };
        let described = tokens.described();
        if let [(_, only)] = described.as_slice() {
            return Tokens::One(self.entry(ReceiptText::Token.into(), only));
        }
        Tokens::Several {
            instruction: self.say(ReceiptText::TokensInOrder),
            entries: described
                .into_iter()
                .map(|(description, token)| self.entry(Label::of(description.unwrap_or_default()), token))
                .collect(),
        }
    }

    fn without_tokens(&self) -> Tokens {
        let because = match self.receipt.sale.product {
            Product::Electricity => ReceiptText::TokenErased,
            Product::Airtime | Product::Water => ReceiptText::NoToken,
        };
        Tokens::None { because: self.say(because) }
    }

    fn entry(&self, label: Label<'_>, token: &MeterToken) -> TokenEntry {
        let label = match label {
            Label::Ours(text) => self.say(text),
            Label::Theirs(description) => self.foreign(description),
        };
        TokenEntry { label, groups: token.grouped() }
    }

    fn amounts(&self) -> Vec<Fact> {
        let sale = &self.receipt.sale;
        let mut amounts = sale.breakdown.map(|breakdown| self.breakdown(breakdown)).unwrap_or_default();
        amounts.push(self.amount(ReceiptText::Amount, sale.net));
        if !sale.charge.is_zero() {
            amounts.push(self.amount(ReceiptText::Charge, sale.charge));
        }
        amounts
    }

    /// The tax is always shown, also where it is zero. Of the other parts those that are not zero.
    fn breakdown(&self, breakdown: Breakdown) -> Vec<Fact> {
        let Breakdown { cost, vat, levy, regulatory_fee, charge } = breakdown;
        let others = [
            (ReceiptText::Levy, levy),
            (ReceiptText::RegulatoryFee, regulatory_fee),
            (ReceiptText::ProviderCharge, charge),
        ];
        let others = others.into_iter().filter(|(_, part)| !part.is_zero());
        [(ReceiptText::Cost, cost), (ReceiptText::Vat, vat)]
            .into_iter()
            .chain(others)
            .map(|(label, part)| self.amount(label, part))
            .collect()
    }

    fn footer(&self) -> Vec<String> {
        let lines = self.receipt.seller.footer.unwrap_or_default().lines();
        let lines = lines.map(|line| self.shown(&one_line(line, FOOTER_LINE_MAX)));
        lines.take(FOOTER_LINES_MAX).filter(|line| !line.is_empty()).collect()
    }

    fn amount(&self, label: ReceiptText, amount: Money) -> Fact {
        self.fact(label, &written(amount))
    }

    fn fact(&self, label: ReceiptText, value: &str) -> Fact {
        Fact { label: self.say(label), value: self.foreign(value) }
    }

    fn say(&self, text: ReceiptText) -> String {
        self.shown(&self.messages().receipt(self.receipt.language, text))
    }

    fn foreign(&self, text: &str) -> String {
        self.shown(&one_line(text, FOREIGN_MAX))
    }

    fn shown(&self, text: &str) -> String {
        self.charset.fit(text)
    }

    const fn messages(&self) -> &Messages {
        self.receipt.messages
    }
}

/// The label of one of several tokens.
#[derive(Clone, Copy)]
enum Label<'a> {
    Ours(ReceiptText),
    Theirs(&'a str),
}

impl<'a> Label<'a> {
    /// The labels that this service gives are translated. Others are the provider's own.
    fn of(description: &'a str) -> Self {
        if description.starts_with("KeyChange Token") {
            Self::Ours(ReceiptText::KeyChangeToken)
        } else if description == "Credit Token" {
            Self::Ours(ReceiptText::CreditToken)
        } else {
            Self::Theirs(description)
        }
    }
}

impl From<ReceiptText> for Label<'_> {
    fn from(text: ReceiptText) -> Self {
        Self::Ours(text)
    }
}
