//! The split of the vended amount, exact to the minor unit.

use money::{Money, MoneyError};
use vend::{Breakdown, Sale, Units};

use crate::amount::Amount;
use crate::reply::{Line, SaleReply, Transaction};
use crate::resource::measured;
use crate::rules::Rules;
use crate::settings::LineDescriptions;

/// The five parts, which must add up to exactly the ordered amount. `None` if they do not, if a part is negative or in
/// another currency, or if the tendered amount is not the ordered amount.
pub(crate) fn breakdown(reply: &SaleReply, sale: &Sale, rules: &Rules) -> Option<Breakdown> {
    let currency = sale.amount.currency();
    let nothing = Money::zero(currency);
    let mut parts =
        Breakdown { cost: nothing, vat: nothing, levy: nothing, regulatory_fee: nothing, charge: nothing };
    for transaction in &reply.transactions {
        add(&mut parts, transaction, sale, rules)?;
    }
    // The rounding difference that the customer paid and that no line contains.
    if let Some(rounding) = &reply.rounding {
        parts.charge = parts.charge.plus(rounding.in_currency(currency)?).ok()?;
    }
    let total = Money::sum(currency, parts.parts()).ok()?;
    let tendered =
        reply.tendered.as_ref().map_or(Some(sale.amount), |amount| amount.in_currency(currency))?;
    (total == sale.amount && tendered == sale.amount).then_some(parts)
}

/// Whether the reply states that exactly the ordered amount was paid, and states no other currency. Then only the
/// receipt is wrong if its lines do not add up. The vend and its token are valid.
pub(crate) fn is_tendered_exactly(reply: &SaleReply, sale: &Sale) -> bool {
    let currency = sale.amount.currency();
    let tendered = reply.tendered.as_ref().and_then(|amount| amount.in_currency(currency));
    let amounts = |line: &Transaction| {
        line.amount.may_be_in(currency) && line.taxes.iter().all(|tax| tax.may_be_in(currency))
    };
    tendered == Some(sale.amount) && reply.transactions.iter().all(amounts)
}

/// The quantity that the tokens are worth. Several issues in one unit are added. `None` if the reply does not state it.
pub(crate) fn units(reply: &SaleReply, sale: &Sale, rules: &Rules) -> Option<Units> {
    let mut total: Option<Units> = None;
    for (issue, _key_change) in reply.issues() {
        let Some(quantity) = issue.quantity else { continue };
        let unit = issue.unit.as_deref().unwrap_or_else(|| rules.unit(sale.product));
        let Units { quantity, unit } = measured(quantity, unit, sale.product)?;
        total = Some(match total {
            None => Units { quantity, unit },
            Some(sum) if sum.unit == unit => Units { quantity: sum.quantity.checked_add(quantity)?, unit },
            Some(_of_another_unit) => return None,
        });
    }
    total
}

fn add(parts: &mut Breakdown, transaction: &Transaction, sale: &Sale, rules: &Rules) -> Option<()> {
    let currency = sale.amount.currency();
    let tax = transaction
        .taxes
        .iter()
        .try_fold(Money::zero(currency), |sum, tax| sum.plus(tax.in_currency(currency)?).ok())?;
    let before_tax = before_tax(&transaction.amount, tax, rules)?;
    parts.vat = parts.vat.plus(tax).ok()?;
    let part = part(parts, &transaction.line, &rules.lines);
    *part = part.plus(before_tax).ok()?;
    Some(())
}

fn before_tax(amount: &Amount, tax: Money, rules: &Rules) -> Option<Money> {
    let amount = amount.in_currency(tax.currency())?;
    let before: Result<Money, MoneyError> = if rules.tax_included { amount.minus(tax) } else { Ok(amount) };
    before.ok().filter(|money| money.minor() >= 0)
}

fn part<'a>(parts: &'a mut Breakdown, line: &Line, lines: &LineDescriptions) -> &'a mut Money {
    let description = match line {
        Line::Credit { .. } => return &mut parts.cost,
        Line::Other { description } => description.as_deref().unwrap_or_default(),
    };
    let among = |listed: &[String]| listed.iter().any(|text| text.trim().eq_ignore_ascii_case(description));
    if among(&lines.vat) {
        &mut parts.vat
    } else if among(&lines.levy) {
        &mut parts.levy
    } else if among(&lines.regulatory_fee) {
        &mut parts.regulatory_fee
    } else {
        &mut parts.charge
    }
}
