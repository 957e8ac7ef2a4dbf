//! The lines of a report of the books: what was owed at the begin, what moved it, and what is owed at the end.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;
use money::{Currency, Money, MoneyError};
use purchase::OrganisationId;
use vend::Product;

use super::{BookCause, BookMove, BookPart, BookReport};

/// What the lines of a report are divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// The day in the seller's time zone.
    Day,
    /// Whose purchases, or whose wallet.
    Organisation,
    /// Which provider's.
    Provider,
    /// Of what.
    Product,
}

/// What a line is of. An absent part is added up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BookKey {
    /// The day.
    pub day: Option<NaiveDate>,
    /// The organisation.
    pub organisation: Option<OrganisationId>,
    /// The provider.
    pub provider_code: Option<String>,
    /// The product.
    pub product: Option<Product>,
    /// `STAGING` or `PRODUCTION`. Money of staging is not real, so they are never added up.
    pub environment: String,
    /// The currency. Currencies are never added up.
    pub currency: Currency,
}

/// What was owed and what moved it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookLine {
    /// What was owed at the begin. Absent where the lines are divided further than balances and payouts are.
    pub opening: Option<Money>,
    /// How many purchases were settled.
    pub count: i64,
    /// For purchases.
    pub sales: Money,
    /// For vends that were found after their purchase had ended.
    pub late_vends: Money,
    /// For vends without a purchase.
    pub unmatched_vends: Money,
    /// What operators corrected.
    pub corrected: Money,
    /// What was paid out. Negative.
    pub paid: Money,
}

impl BookReport {
    /// Adds the report up into lines. With days, each opens with the closing balance of the day before, also if nothing moved.
    ///
    /// # Errors
    /// [`MoneyError`] if a sum exceeds what an amount can hold.
    pub fn lines(&self, divisions: &[Division]) -> Result<BTreeMap<BookKey, BookLine>, MoneyError> {
        let has_balances = divisions.iter().all(|division| self.part.has_balances_by(*division));
        let mut lines: BTreeMap<BookKey, BookLine> = BTreeMap::new();
        if has_balances && let Some(first) = self.days.first() {
            for opening in &self.openings {
                let key = BookKey {
                    day: Some(*first),
                    organisation: opening.organisation,
                    provider_code: opening.provider_code.clone(),
                    product: None,
                    environment: opening.environment.clone(),
                    currency: opening.balance.currency(),
                };
                line(&mut lines, key.divided(divisions), has_balances).open(opening.balance)?;
            }
        }
        for moved in &self.moves {
            if has_balances || moved.cause.is_of_purchases() {
                line(&mut lines, BookKey::of(moved).divided(divisions), has_balances).add(moved)?;
            }
        }
        if has_balances && divisions.contains(&Division::Day) {
            carry(&mut lines, &self.days)?;
        }
        lines.retain(|_, line| !line.is_empty());
        Ok(lines)
    }
}

/// Opens each day with what was owed at the end of the day before it.
fn carry(lines: &mut BTreeMap<BookKey, BookLine>, days: &[NaiveDate]) -> Result<(), MoneyError> {
    let kinds: BTreeSet<BookKey> = lines.keys().map(|key| BookKey { day: None, ..key.clone() }).collect();
    for kind in kinds {
        let mut owed: Option<Money> = None;
        for day in days {
            let key = BookKey { day: Some(*day), ..kind.clone() };
            if let Some(before) = owed {
                line(lines, key.clone(), true).open(before)?;
            }
            if let Some(line) = lines.get(&key) {
                owed = line.closing()?;
            }
        }
    }
    Ok(())
}

fn line(lines: &mut BTreeMap<BookKey, BookLine>, key: BookKey, has_balances: bool) -> &mut BookLine {
    let currency = key.currency;
    lines.entry(key).or_insert_with(|| BookLine::nothing(currency, has_balances))
}

impl BookPart {
    /// Whether what is owed is known apart for each of these: a balance is of a provider or of an organisation's wallets.
    const fn has_balances_by(self, division: Division) -> bool {
        match division {
            Division::Day => true,
            Division::Provider => matches!(self, Self::Payable),
            Division::Organisation => matches!(self, Self::Commission),
            Division::Product => false,
        }
    }
}

impl BookCause {
    const fn is_of_purchases(self) -> bool {
        match self {
            Self::Sale | Self::LateVend | Self::UnmatchedVend => true,
            Self::Payout | Self::Correction => false,
        }
    }
}

impl BookKey {
    fn of(moved: &BookMove) -> Self {
        Self {
            day: Some(moved.date),
            organisation: moved.organisation,
            provider_code: moved.provider_code.clone(),
            product: moved.product,
            environment: moved.environment.clone(),
            currency: moved.amount.currency(),
        }
    }

    /// The key without the parts that are added up.
    fn divided(self, divisions: &[Division]) -> Self {
        let is_by = |division| divisions.contains(&division);
        Self {
            day: self.day.filter(|_| is_by(Division::Day)),
            organisation: self.organisation.filter(|_| is_by(Division::Organisation)),
            provider_code: self.provider_code.filter(|_| is_by(Division::Provider)),
            product: self.product.filter(|_| is_by(Division::Product)),
            environment: self.environment,
            currency: self.currency,
        }
    }
}

impl BookLine {
    fn nothing(currency: Currency, has_balance: bool) -> Self {
        let zero = Money::zero(currency);
        Self {
            opening: has_balance.then_some(zero),
            count: 0,
            sales: zero,
            late_vends: zero,
            unmatched_vends: zero,
            corrected: zero,
            paid: zero,
        }
    }

    /// What is owed at the end, where it is known what was owed at the begin.
    ///
    /// # Errors
    /// [`MoneyError`] if the sum exceeds what an amount can hold.
    pub fn closing(&self) -> Result<Option<Money>, MoneyError> {
        let close = |opening: Money| self.moves().into_iter().try_fold(opening, Money::plus);
        self.opening.map(close).transpose()
    }

    const fn moves(&self) -> [Money; 5] {
        [self.sales, self.late_vends, self.unmatched_vends, self.corrected, self.paid]
    }

    fn is_empty(&self) -> bool {
        self.moves().into_iter().all(Money::is_zero) && self.opening.is_none_or(Money::is_zero)
    }

    fn open(&mut self, owed: Money) -> Result<(), MoneyError> {
        self.opening = Some(self.opening.map_or(Ok(owed), |before| before.plus(owed))?);
        Ok(())
    }

    fn add(&mut self, moved: &BookMove) -> Result<(), MoneyError> {
        let sum = match moved.cause {
            BookCause::Sale => &mut self.sales,
            BookCause::LateVend => &mut self.late_vends,
            BookCause::UnmatchedVend => &mut self.unmatched_vends,
            BookCause::Payout => &mut self.paid,
            BookCause::Correction => &mut self.corrected,
        };
        *sum = sum.plus(moved.amount)?;
        if moved.cause == BookCause::Sale {
            self.count += moved.count;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::books::BookOpening;

    const PRODUCTION: &str = "PRODUCTION";

    fn day(number: u32) -> NaiveDate {
        NaiveDate::from_ymd_opt(2026, 11, number).unwrap()
    }

    fn pula(minor: i64) -> Money {
        Money::from_minor(minor, Currency::parse("BWP").unwrap())
    }

    fn moved(date: NaiveDate, cause: BookCause, provider: &str, minor: i64) -> BookMove {
        BookMove {
            date,
            cause,
            organisation: Some(OrganisationId(1)),
            provider_code: Some(provider.to_owned()),
            product: Some(Product::Electricity),
            environment: PRODUCTION.to_owned(),
            count: 1,
            amount: pula(minor),
        }
    }

    fn report() -> BookReport {
        let opening = BookOpening {
            organisation: None,
            provider_code: Some("BPC".to_owned()),
            environment: PRODUCTION.to_owned(),
            balance: pula(500),
        };
        BookReport {
            part: BookPart::Payable,
            days: vec![day(1), day(2), day(3)],
            openings: vec![opening],
            moves: vec![
                moved(day(1), BookCause::Sale, "BPC", 100),
                moved(day(1), BookCause::Sale, "WUC", 30),
                moved(day(3), BookCause::LateVend, "BPC", 20),
                moved(day(3), BookCause::Payout, "BPC", -600),
            ],
            is_complete: true,
        }
    }

    #[test]
    fn each_day_opens_with_the_closing_balance_of_the_day_before() {
        let lines = report().lines(&[Division::Day, Division::Provider]).unwrap();
        let balances: Vec<_> = lines
            .iter()
            .filter(|(key, _)| key.provider_code.as_deref() == Some("BPC"))
            .map(|(key, line)| (key.day.unwrap(), line.opening.unwrap(), line.closing().unwrap().unwrap()))
            .collect();
        let of = |number, opening, closing| (day(number), pula(opening), pula(closing));
        assert_eq!(balances, [of(1, 500, 600), of(2, 600, 600), of(3, 600, 20)]);
    }

    #[test]
    fn the_whole_period_closes_as_its_last_day_does() {
        let lines = report().lines(&[Division::Provider]).unwrap();
        let closings: Vec<_> = lines.values().map(|line| line.closing().unwrap().unwrap()).collect();
        assert_eq!(closings, [pula(20), pula(30)]);
    }

    #[test]
    fn what_is_owed_by_tests_is_never_added_to_what_is_owed() {
        let mut report = report();
        let of_a_test =
            BookMove { environment: "STAGING".to_owned(), ..moved(day(2), BookCause::Sale, "BPC", 7_000) };
        report.moves.push(of_a_test);
        let lines = report.lines(&[]).unwrap();
        let closings: Vec<_> = lines
            .iter()
            .map(|(key, line)| (key.environment.as_str(), line.closing().unwrap().unwrap()))
            .collect();
        assert_eq!(closings, [(PRODUCTION, pula(50)), ("STAGING", pula(7_000))]);
    }

    #[test]
    fn where_balances_are_not_known_apart_a_line_has_neither_balance_nor_payout() {
        let lines = report().lines(&[Division::Product]).unwrap();
        let line = lines.values().next().unwrap();
        assert_eq!((line.opening, line.closing().unwrap(), line.paid), (None, None, pula(0)));
        assert_eq!((line.sales, line.late_vends, line.count), (pula(130), pula(20), 2));
    }
}
