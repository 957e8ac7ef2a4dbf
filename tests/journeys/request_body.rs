//! The bodies of validate, confirm and retry.

use acceptance::surface::{Fields, Surface};

/// A JSON object, field by field, each value as JSON text.
#[derive(Clone, Debug)]
pub struct RequestBody(Vec<(String, String)>);

impl RequestBody {
    /// An order for BWP 100.00 with valid fields, on the versioned surface.
    pub fn new(account: i64, meter: &str) -> Self {
        Self::on(Surface::V1, account, meter)
    }

    /// The same on one surface.
    pub fn on(surface: Surface, account: i64, meter: &str) -> Self {
        Self::of(surface.order(account, meter, "100.00"))
    }

    /// A retry about an order, on the versioned surface.
    pub fn retry(meter: &str, external_reference: &str) -> Self {
        Self::retry_on(Surface::V1, meter, external_reference)
    }

    /// The same on one surface.
    pub fn retry_on(surface: Surface, meter: &str, external_reference: &str) -> Self {
        Self::of(surface.question(meter, external_reference))
    }

    fn of(fields: Fields) -> Self {
        Self(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// The same with another amount.
    pub fn amount(self, amount: &str) -> Self {
        self.with("amount", amount)
    }

    /// The same with this external reference.
    pub fn reference(self, external_reference: &str) -> Self {
        self.with("external_reference", &format!("\"{external_reference}\""))
    }

    /// The same with this JSON text as a field's value.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => value.clone_into(old),
            None => self.0.push((name.to_owned(), value.to_owned())),
        }
        self
    }

    /// The same with an additional occurrence of a field.
    pub fn with_another(mut self, name: &str, value: &str) -> Self {
        self.0.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same without a field.
    pub fn without(mut self, name: &str) -> Self {
        self.0.retain(|(known, _)| known != name);
        self
    }

    /// The JSON text.
    pub fn body(&self) -> String {
        let members: Vec<String> =
            self.0.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
        format!("{{{}}}", members.join(", "))
    }
}
