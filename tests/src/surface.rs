//! The two surfaces as their clients know them: where each is, what it is asked, and where it says what. Everything else
//! is told the surface, and is the same for both.

mod answer;

pub use answer::SHOWN_BY_BOTH;

/// One way into the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Surface {
    /// The versioned one.
    V1,
    /// The one from before, which is frozen: electricity alone, and no keys.
    Current,
}

/// The fields of a request in their order, each value as it stands in the text.
pub type Fields = Vec<(&'static str, String)>;

impl Surface {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::V1, Self::Current];

    /// The one that it is not.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::V1 => Self::Current,
            Self::Current => Self::V1,
        }
    }

    /// Where a client logs in.
    pub const fn login(self) -> &'static str {
        match self {
            Self::V1 => "/public/v1/auth/login",
            Self::Current => "/auth/login",
        }
    }

    /// Where it gets a further access token.
    pub const fn refresh(self) -> &'static str {
        match self {
            Self::V1 => "/public/v1/auth/refresh",
            Self::Current => "/auth/refresh",
        }
    }

    /// Where it asks who it is.
    pub const fn me(self) -> &'static str {
        match self {
            Self::V1 => "/public/v1/auth/me",
            Self::Current => "/auth/me",
        }
    }

    /// Where it asks what a purchase would cost.
    pub const fn validate(self) -> &'static str {
        match self {
            Self::V1 => "/public/v1/purchases/validate",
            Self::Current => "/api/topup/validate",
        }
    }

    /// Where it buys.
    pub const fn confirm(self) -> &'static str {
        match self {
            Self::V1 => "/public/v1/purchases/confirm",
            Self::Current => "/api/topup/confirm",
        }
    }

    /// Where it asks what became of that.
    pub const fn retry(self) -> &'static str {
        match self {
            Self::V1 => "/public/v1/purchases/retry",
            Self::Current => "/api/topup/retry",
        }
    }

    /// Where the balance of an account is read; [`Surface::balance`] finds it in the answer.
    pub fn balances(self, account: i64) -> String {
        match self {
            Self::V1 => format!("/public/v1/accounts/{account}"),
            Self::Current => self.me().to_owned(),
        }
    }

    /// Whether a confirm may bear an `Idempotency-Key`.
    pub const fn has_keys(self) -> bool {
        match self {
            Self::V1 => true,
            Self::Current => false,
        }
    }

    /// The field that names the meter, in requests, answers and errors.
    pub const fn subscriber_field(self) -> &'static str {
        match self {
            Self::V1 => "subscriber_identifier",
            Self::Current => "meter_number",
        }
    }

    /// A channel that the other one has not.
    pub const fn channel(self) -> &'static str {
        match self {
            Self::V1 => "POS",
            Self::Current => "SMS_MO",
        }
    }

    /// What validate and confirm need to be told, for an amount of pula that is written as a JSON number.
    pub fn order(self, account: i64, meter: &str, amount: &str) -> Fields {
        let product = match self {
            Self::V1 => vec![("product_type", quoted("ELECTRICITY")), ("provider_code", quoted("BPC"))],
            Self::Current => Vec::new(),
        };
        let mut fields = self.greeting();
        fields.extend(product);
        fields.extend([
            ("debited_account_id", account.to_string()),
            ("beneficiary_phone_number", quoted("26771234567")),
            (self.subscriber_field(), quoted(meter)),
            ("amount", amount.to_owned()),
            ("currency", quoted("BWP")),
        ]);
        fields
    }

    /// What retry needs to be told.
    pub fn question(self, meter: &str, external_reference: &str) -> Fields {
        let mut fields = self.greeting();
        fields.extend([
            (self.subscriber_field(), quoted(meter)),
            ("external_reference", quoted(external_reference)),
        ]);
        fields
    }

    fn greeting(self) -> Fields {
        vec![("source_channel", quoted(self.channel())), ("language", quoted("en-BW"))]
    }
}

/// The fields as they go over the wire.
pub fn body(fields: &[(&'static str, String)]) -> String {
    let members: Vec<String> = fields.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
    format!("{{{}}}", members.join(", "))
}

/// A text that needs no escapes, as JSON.
pub fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}
