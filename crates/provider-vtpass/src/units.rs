//! The quantity that a vend is worth. It proves nothing, so a quantity that cannot be read is left out.

use rust_decimal::Decimal;
use vend::Units;

use crate::reply::Fields;

/// The fields in which the distribution companies state the quantity.
const NAMES: [&str; 3] = ["units", "Units", "mainTokenUnits"];

/// The quantity: `79.9 kWh`, `79.9` or a number. A quantity without a unit is in `unit`.
pub(crate) fn units(fields: &Fields<'_>, unit: &str) -> Option<Units> {
    let text = fields.text(&NAMES)?;
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let quantity = Decimal::from_str_exact(number).ok()?;
    let stated = rest.trim();
    let is_unit = stated.chars().all(char::is_alphabetic);
    let unit = if stated.is_empty() { unit } else { stated };
    is_unit.then(|| Units { quantity, unit: unit.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::Reply;

    fn read(json: &str) -> Option<String> {
        let body = format!(r#"{{"code":"000",{json}}}"#);
        let reply = Reply::read(body.as_bytes()).unwrap();
        units(&reply.fields, "kWh").map(|units| units.to_string())
    }

    #[test]
    fn a_quantity_is_read_with_its_unit_or_in_the_usual_one() {
        for (json, told) in [
            (r#""units":"79.9 kWh""#, "79.9 kWh"),
            (r#""units":"79.9kWh""#, "79.9 kWh"),
            (r#""units":"8.2""#, "8.2 kWh"),
            (r#""Units":19.55"#, "19.55 kWh"),
            (r#""units":null,"mainTokenUnits":16666.666"#, "16666.666 kWh"),
        ] {
            assert_eq!(read(json).as_deref(), Some(told), "{json}");
        }
        for json in [r#""units":"N/A""#, r#""units":"about 3""#, r#""units":"1,000 kWh""#, r#""x":1"#] {
            assert_eq!(read(json), None, "{json}");
        }
    }
}
