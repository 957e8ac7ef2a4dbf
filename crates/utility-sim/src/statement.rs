//! A provider's statement: the vends of a period as a CSV file, with differences planted in it.

use std::{fmt::Write as _, str::FromStr};

use chrono::{DateTime, FixedOffset, TimeDelta};

use crate::vend_log::{VendRecord, VendResult};

/// What is wrong with a planted line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Difference {
    Missing,
    Invented,
    Repeated,
    Amount,
    Currency,
    Meter,
    Token,
    Time,
}

/// A difference in the newest vend of a subscriber.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Plant {
    difference: Difference,
    subscriber: String,
}

/// The differences to plant, as `KIND:SUBSCRIBER`, separated by commas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plants(Vec<Plant>);

impl FromStr for Plants {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split(',').filter(|one| !one.is_empty()).map(Plant::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl Plant {
    fn parse(text: &str) -> Result<Self, String> {
        let (kind, subscriber) = text.split_once(':').ok_or("write a difference like amount:04257670467")?;
        let difference = match kind {
            "missing" => Difference::Missing,
            "invented" => Difference::Invented,
            "repeated" => Difference::Repeated,
            "amount" => Difference::Amount,
            "currency" => Difference::Currency,
            "meter" => Difference::Meter,
            "token" => Difference::Token,
            "time" => Difference::Time,
            _ => {
                return Err(format!(
                    "{kind} is no difference; plant missing, invented, repeated, amount, currency, meter, token or time"
                ));
            }
        };
        Ok(Self { difference, subscriber: subscriber.to_owned() })
    }
}

/// The statement of what was vended of a product, or of all products, from the first moment and before the second one. It has the
/// last token of each vend, which carries the credit.
pub(crate) fn statement(
    log: Vec<VendRecord>,
    product: Option<&str>,
    (from, until): (Option<DateTime<FixedOffset>>, Option<DateTime<FixedOffset>>),
    plants: &Plants,
) -> String {
    let in_it = |vend: &VendRecord| {
        let at = DateTime::parse_from_rfc3339(&vend.at).ok();
        vend.outcome == VendResult::Vended
            && product.is_none_or(|product| vend.product_type == product)
            && at.is_some_and(|at| from.is_none_or(|from| at >= from) && until.is_none_or(|until| at < until))
    };
    let mut vends: Vec<VendRecord> = log.into_iter().filter(in_it).collect();
    for plant in &plants.0 {
        plant.plant(&mut vends);
    }
    let mut text = "reference,transaction,time,product,subscriber,amount,currency,token\n".to_owned();
    for vend in &vends {
        let VendRecord { reference, transaction, at, product_type, subscriber, amount, currency, .. } = vend;
        let token = vend.tokens.last().map(String::as_str).unwrap_or_default();
        // A text grows without failing.
        let _grown = writeln!(
            text,
            "{reference},{transaction},{at},{product_type},{subscriber},{amount},{currency},{token}"
        );
    }
    text
}

impl Plant {
    fn plant(&self, vends: &mut Vec<VendRecord>) {
        let Some(place) = vends.iter().rposition(|vend| vend.subscriber == self.subscriber) else { return };
        if self.difference == Difference::Missing {
            vends.remove(place);
            return;
        }
        let Some(vend) = vends.get_mut(place) else { return };
        match self.difference {
            Difference::Missing => {}
            Difference::Repeated => {
                let copy = vend.clone();
                vends.push(copy);
            }
            Difference::Invented => {
                let reference = format!("{}-invented", vend.reference);
                let transaction = format!("{}-invented", vend.transaction);
                let invented = VendRecord { reference, transaction, ..vend.clone() };
                vends.push(invented);
            }
            Difference::Amount => vend.amount = format!("1{}", vend.amount),
            Difference::Currency => "ZAR".clone_into(&mut vend.currency),
            Difference::Meter => vend.subscriber = other_digit(&vend.subscriber),
            Difference::Token => vend.tokens = vend.tokens.iter().map(|token| other_digit(token)).collect(),
            Difference::Time => {
                let at = DateTime::parse_from_rfc3339(&vend.at).ok();
                let earlier = at.and_then(|at| at.checked_sub_signed(TimeDelta::hours(3)));
                vend.at = earlier.map_or_else(|| vend.at.clone(), |at| at.to_rfc3339());
            }
        }
    }
}

/// The same digits, but for the last one.
fn other_digit(digits: &str) -> String {
    let mut other = digits.to_owned();
    let last = other.pop();
    other.push(if last == Some('0') { '1' } else { '0' });
    other
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vend(number: u32, subscriber: &str) -> VendRecord {
        VendRecord {
            reference: format!("A{number}"),
            transaction: format!("R{number}"),
            subscriber: subscriber.to_owned(),
            product_type: "ELECTRICITY".to_owned(),
            amount: "10.00".to_owned(),
            currency: "BWP".to_owned(),
            tokens: vec!["08086259498974263587".to_owned()],
            at: format!("2026-11-24T03:20:4{number}+02:00"),
            outcome: VendResult::Vended,
        }
    }

    fn lines(plants: &str) -> Vec<String> {
        let mut log: Vec<VendRecord> = (1..=3).map(|number| vend(number, &format!("0{number}"))).collect();
        log.push(VendRecord { outcome: VendResult::Refused, ..vend(4, "04") });
        let period = (None, DateTime::parse_from_rfc3339("2026-11-24T03:20:43+02:00").ok());
        let text = statement(log, Some("ELECTRICITY"), period, &plants.parse().unwrap());
        text.lines().skip(1).map(str::to_owned).collect()
    }

    #[test]
    fn a_statement_has_the_vends_of_its_period_and_each_planted_difference() {
        let line = "A1,R1,2026-11-24T03:20:41+02:00,ELECTRICITY,01,10.00,BWP,08086259498974263587";
        let as_it_is = lines("");
        assert_eq!((as_it_is.len(), as_it_is[0].as_str()), (2, line));
        for (plant, planted) in [
            ("amount:01", line.replace("10.00", "110.00")),
            ("currency:01", line.replace("BWP", "ZAR")),
            ("meter:01", line.replace(",01,", ",00,")),
            ("token:01", line.replace("3587", "3580")),
            ("time:01", line.replace("T03:", "T00:")),
        ] {
            assert_eq!(lines(plant), [planted, as_it_is[1].clone()], "{plant}");
        }
        assert_eq!(lines("missing:01"), as_it_is[1..]);
        assert_eq!(lines("repeated:01")[2], line);
        assert!(lines("invented:01,missing:02")[1].starts_with("A1-invented,R1-invented,"));
        assert!("odd:01".parse::<Plants>().is_err());
    }
}
