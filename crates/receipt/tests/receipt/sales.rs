//! Sales to be printed.

use std::sync::LazyLock;

use messages::{Language, Messages};
use meter_token::TokenSet;
use money::{Currency, Money};
use receipt::{Receipt, Sale, Seller};
use rust_decimal::Decimal;
use vend::{Breakdown, Product, Units};

/// Parsed once, because that takes longest.
pub static MESSAGES: LazyLock<Messages> = LazyLock::new(Messages::new);

/// The texts of a sale, which come from other parties.
#[derive(Clone, Debug)]
pub struct Texts {
    pub seller: String,
    pub footer: String,
    pub provider: String,
    pub subscriber: String,
    pub customer: String,
    pub reference: String,
    pub unit: String,
}

impl Default for Texts {
    fn default() -> Self {
        Self {
            seller: "Comércio São João".to_owned(),
            footer: "Obrigado!\nTel. 71 234 567".to_owned(),
            provider: "Botswana Power Corporation".to_owned(),
            subscriber: "07000010012".to_owned(),
            customer: "KAGISO MODISE".to_owned(),
            reference: "SALE-2026-000187".to_owned(),
            unit: "kWh".to_owned(),
        }
    }
}

pub fn bwp(minor: i64) -> Money {
    Money::from_minor(minor, Currency::in_hundredths("BWP").unwrap())
}

/// A sale of BWP 100.00 with charges of BWP 1.50.
pub fn with_receipt<R>(
    texts: &Texts,
    tokens: Option<&TokenSet>,
    language: Language,
    read: impl FnOnce(&Receipt<'_>) -> R,
) -> R {
    let units = Units { quantity: Decimal::new(666, 1), unit: texts.unit.clone() };
    let breakdown = Breakdown {
        cost: bwp(8_572),
        vat: bwp(1_228),
        levy: bwp(200),
        regulatory_fee: bwp(0),
        charge: bwp(0),
    };
    read(&Receipt {
        messages: &MESSAGES,
        language,
        seller: Seller { name: &texts.seller, footer: Some(&texts.footer) },
        sale: Sale {
            product: Product::Electricity,
            product_name: None,
            provider: &texts.provider,
            subscriber: Some(&texts.subscriber),
            customer: Some(&texts.customer),
            sold_at: "2026-11-20 13:00 CAT",
            reference: "TOP/2026/11/0000004217",
            external_reference: Some(&texts.reference),
            provider_transaction: "20261120130001000187",
            tokens,
            units: Some(&units),
            breakdown: Some(breakdown),
            net: bwp(10_000),
            charge: bwp(150),
            total: bwp(10_150),
        },
    })
}

pub fn one_token() -> TokenSet {
    TokenSet::parse("07179199761502576865").unwrap()
}

pub fn key_change() -> TokenSet {
    let wire = "KeyChange Token1: 11112222333344445555|KeyChange Token2: 22223333444455556666|\
                Credit Token: 33334444555566667777";
    TokenSet::parse(wire).unwrap()
}
