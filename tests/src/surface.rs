//! The two surfaces as their clients know them: the path of each endpoint, the fields of each request, and the
//! position of each value in an answer. The other tests take a surface as a parameter and are the same for both.

mod answer;

pub use answer::SHOWN_BY_BOTH;

/// One of the two public APIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Surface {
    /// The versioned surface.
    V1,
    /// The Current surface, which is frozen: electricity only, without idempotency keys.
    Current,
}

/// The fields of a request in order, each value as JSON text.
pub type Fields = Vec<(&'static str, String)>;

impl Surface {
    /// Both surfaces.
    pub const ALL: [Self; 2] = [Self::V1, Self::Current];

    /// The other surface.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::V1 => Self::Current,
            Self::Current => Self::V1,
        }
    }

    /// The path of the login.
    pub const fn login(self) -> &'static str {
        match self {
            Self::V1 => "/public/v1/auth/login",
            Self::Current => "/auth/login",
        }
    }

    /// The path that issues a further access token.
    pub const fn refresh(self) -> &'static str {
        match self {
            Self::V1 => "/public/v1/auth/refresh",
            Self::Current => "/auth/refresh",
        }
    }

    /// The path that shows the caller's own user.
    pub const fn me(self) -> &'static str {
        match self {
            Self::V1 => "/public/v1/auth/me",
            Self::Current => "/auth/me",
        }
    }

    /// The path of validate.
    pub const fn validate(self) -> &'static str {
        match self {
            Self::V1 => "/public/v1/purchases/validate",
            Self::Current => "/api/topup/validate",
        }
    }

    /// The path of confirm.
    pub const fn confirm(self) -> &'static str {
        match self {
            Self::V1 => "/public/v1/purchases/confirm",
            Self::Current => "/api/topup/confirm",
        }
    }

    /// The path of retry.
    pub const fn retry(self) -> &'static str {
        match self {
            Self::V1 => "/public/v1/purchases/retry",
            Self::Current => "/api/topup/retry",
        }
    }

    /// The path that shows the balance of an account. [`Surface::balance`] finds the balance in the answer.
    pub fn balances(self, account: i64) -> String {
        match self {
            Self::V1 => format!("/public/v1/accounts/{account}"),
            Self::Current => self.me().to_owned(),
        }
    }

    /// Whether a confirm may have an `Idempotency-Key`.
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

    /// A channel that the other surface does not have.
    pub const fn channel(self) -> &'static str {
        match self {
            Self::V1 => "POS",
            Self::Current => "SMS_MO",
        }
    }

    /// The fields that validate and confirm require. The amount is in pula, written as a JSON number.
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

    /// The fields that retry requires.
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

/// The fields as a JSON object.
pub fn body(fields: &[(&'static str, String)]) -> String {
    let members: Vec<String> = fields.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
    format!("{{{}}}", members.join(", "))
}

/// A text that needs no escapes, as JSON.
pub fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}
