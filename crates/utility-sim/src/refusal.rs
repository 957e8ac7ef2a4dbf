//! The refusals of the utility: an exception type of XMLVend 2.1 and a sentence.

use std::borrow::Cow;

use money::Money;

/// A final or temporary refusal. XMLVend carries it as a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The local name of the fault's type, such as `BlockedMeterEx`.
    pub(crate) exception: Cow<'static, str>,
    /// The text of the fault.
    pub(crate) text: Cow<'static, str>,
}

impl Refusal {
    const fn new(exception: &'static str, text: &'static str) -> Self {
        Self { exception: Cow::Borrowed(exception), text: Cow::Borrowed(text) }
    }

    pub(crate) const fn unknown_meter() -> Self {
        Self::new("UnknownMeterEx", "Meter not found")
    }

    pub(crate) const fn disconnected() -> Self {
        Self::new("UnknownMeterEx", "Meter disconnected")
    }

    pub(crate) const fn wrong_check_digit() -> Self {
        Self::new("MSNOCheckDigitEx", "Meter number check digit is wrong")
    }

    pub(crate) const fn blocked_customer() -> Self {
        Self::new("BlockedMeterEx", "Customer is blocked")
    }

    pub(crate) const fn purchases_blocked() -> Self {
        Self::new("BlockedMeterEx", "Purchases are blocked for this meter")
    }

    pub(crate) const fn account_blocked() -> Self {
        Self::new("BlockedMeterEx", "Account is blocked")
    }

    pub(crate) const fn debt_unpaid() -> Self {
        Self::new("DebtEx", "Purchases are blocked until the debt is paid")
    }

    pub(crate) const fn unsupported_meter() -> Self {
        Self::new("STSDataEx", "Meter type does not support token issue")
    }

    pub(crate) const fn credit_exhausted() -> Self {
        Self::new("VendorCreditEx", "Vendor credit is exhausted")
    }

    pub(crate) const fn duplicate_sale() -> Self {
        Self::new("BusinessRuleEx", "Duplicate sale: the same purchase was made a moment ago")
    }

    pub(crate) const fn busy() -> Self {
        Self::new("BusinessRuleEx", "Service busy, please try again")
    }

    pub(crate) const fn below_minimum() -> Self {
        Self::new("BusinessRuleEx", "Amount below minimum vend: the purchase amount is too low")
    }

    pub(crate) fn above_maximum(maximum: Money) -> Self {
        let whole = maximum.to_decimal().normalize();
        Self {
            exception: Cow::Borrowed("BusinessRuleEx"),
            text: Cow::Owned(format!("The purchase amount cannot exceed {whole}")),
        }
    }

    pub(crate) const fn too_much_for_one_token() -> Self {
        Self::new("BusinessRuleEx", "The purchase amount cannot exceed what one token can carry")
    }

    pub(crate) const fn other_currency() -> Self {
        Self::new("BusinessRuleEx", "Currency is not accepted for this meter")
    }

    /// The answer of real servers to a repeated message id: the transaction exists and must be enquired about.
    pub(crate) const fn repeated_message_id() -> Self {
        Self::new("SystemEx", "Transaction terminated due to duplicate unique value")
    }

    pub(crate) const fn no_such_transaction() -> Self {
        Self::new("LastResponseEx", "No transaction for requested MsgID")
    }

    pub(crate) const fn not_authorised() -> Self {
        Self::new("RequestAuthorisationEx", "Operator name or password is wrong")
    }

    pub(crate) const fn unsupported_use_case() -> Self {
        Self::new("UseCaseSupportEx", "Operation is not supported")
    }

    pub(crate) const fn system_failure() -> Self {
        Self::new("SystemEx", "Internal failure")
    }

    pub(crate) fn schema(why: String) -> Self {
        Self { exception: Cow::Borrowed("XMLVendSchemaEx"), text: Cow::Owned(why) }
    }

    pub(crate) fn scripted(exception: Option<&str>, text: Option<&str>) -> Self {
        let owned = |text: &str| Cow::Owned(text.to_owned());
        Self {
            exception: exception.map_or(Cow::Borrowed("BusinessRuleEx"), owned),
            text: text.map_or(Cow::Borrowed("Refused by script"), owned),
        }
    }
}
