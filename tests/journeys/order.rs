//! What a till writes: the body of validate and confirm, and the body of retry.

/// A JSON object, field by field, each value as it stands in the text.
#[derive(Clone, Debug)]
pub struct Order(Vec<(String, String)>);

impl Order {
    /// An order that is right in every field, for BWP 100.00.
    pub fn new(account: i64, meter: &str) -> Self {
        let fields = [
            ("source_channel", r#""POS""#.to_owned()),
            ("language", r#""en-BW""#.to_owned()),
            ("product_type", r#""ELECTRICITY""#.to_owned()),
            ("provider_code", r#""BPC""#.to_owned()),
            ("debited_account_id", account.to_string()),
            ("beneficiary_phone_number", r#""26771234567""#.to_owned()),
            ("subscriber_identifier", format!("\"{meter}\"")),
            ("amount", "100.00".to_owned()),
            ("currency", r#""BWP""#.to_owned()),
        ];
        Self(fields.map(|(name, value)| (name.to_owned(), value)).to_vec())
    }

    /// The question what became of an order.
    pub fn retry(meter: &str, external_reference: &str) -> Self {
        let order = Self::new(0, meter).reference(external_reference);
        let asked = ["source_channel", "language", "subscriber_identifier", "external_reference"];
        Self(order.0.into_iter().filter(|(name, _)| asked.contains(&name.as_str())).collect())
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
