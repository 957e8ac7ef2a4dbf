//! What a till writes: the body of validate and confirm, and the body of retry.

use acceptance::surface::{Fields, Surface};

/// A JSON object, field by field, each value as it stands in the text.
#[derive(Clone, Debug)]
pub struct Order(Vec<(String, String)>);

impl Order {
    /// An order that is right in every field, for BWP 100.00, on the versioned surface.
    pub fn new(account: i64, meter: &str) -> Self {
        Self::on(Surface::V1, account, meter)
    }

    /// The same on one surface.
    pub fn on(surface: Surface, account: i64, meter: &str) -> Self {
        Self::of(surface.order(account, meter, "100.00"))
    }

    /// The question what became of an order, on the versioned surface.
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

    /// For another amount.
    pub fn amount(self, amount: &str) -> Self {
        self.with("amount", amount)
    }

    /// Under the integrator's own reference.
    pub fn reference(self, external_reference: &str) -> Self {
        self.with("external_reference", &format!("\"{external_reference}\""))
    }

    /// With this text as a field's value.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => value.clone_into(old),
            None => self.0.push((name.to_owned(), value.to_owned())),
        }
        self
    }

    /// With a field a second time.
    pub fn with_another(mut self, name: &str, value: &str) -> Self {
        self.0.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Without a field.
    pub fn without(mut self, name: &str) -> Self {
        self.0.retain(|(known, _)| known != name);
        self
    }

    /// As it goes over the wire.
    pub fn body(&self) -> String {
        let members: Vec<String> =
            self.0.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
        format!("{{{}}}", members.join(", "))
    }
}
