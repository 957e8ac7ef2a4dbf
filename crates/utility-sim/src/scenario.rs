//! The meters of the sandbox, each with one configured behaviour (specification, section 8).

/// What happens to a purchase for a meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scenario {
    /// It vends.
    Active,
    /// It vends, less a small fixed charge, a levy and a regulator's fee.
    TariffCharge,
    /// It vends, less a small fixed charge, a tenth of the rest for a debt, a levy and a regulator's fee.
    TariffChargeSubAccount,
    /// The customer is blocked. The customer enquiry is refused.
    BlockedCustomer,
    /// The customer is known but may not buy.
    PurchasesBlocked,
    /// A debt blocks the sale. The quote is refused.
    DebtUnpaid,
    /// The account is blocked. Only the vend is refused.
    AccountBlocked,
    /// There is no such meter.
    NotFound,
    /// The meter was disconnected.
    Disconnected,
    /// A fixed charge of 1000; each purchase above it moves the meter to its next key, by two tokens.
    KeyChange,
    /// A fixed charge of 1000.
    FixedCharge,
    /// It vends, and answers long after.
    Delayed,
    /// It sells at most 100000 at once.
    MaximumVend,
    /// It vends, and cuts the connection instead of answering.
    LostReply,
    /// It cuts the connection before it processes the request, every time, and stores nothing.
    LostRequest,
    /// It vends, and cuts the connection instead of answering, also in every enquiry about it.
    Unanswered,
    /// It is always too busy to vend.
    Busy,
    /// It is too busy for every other vend, including the first.
    BusyThenOk,
    /// No token can be made for this meter.
    UnsupportedMeter,
    /// The vendor's float is exhausted.
    CreditExhausted,
    /// A business rule refuses every sale as a duplicate.
    Duplicate,
    /// It vends, and credits the meter over the network: there is no token.
    NoToken,
}

/// A meter of the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScenarioMeter {
    /// Its name in the sandbox and in tests.
    pub name: &'static str,
    /// The number on the meter.
    pub number: &'static str,
    /// What happens to a purchase for it.
    pub scenario: Scenario,
}

const fn meter(name: &'static str, number: &'static str, scenario: Scenario) -> ScenarioMeter {
    ScenarioMeter { name, number, scenario }
}

const METERS: [ScenarioMeter; 22] = [
    meter("active_11_digit", "07000010012", Scenario::Active),
    meter("active_13_digit", "0704000010022", Scenario::Active),
    meter("tariff_charge", "07000010038", Scenario::TariffCharge),
    meter("tariff_charge_sub_account", "07000010046", Scenario::TariffChargeSubAccount),
    meter("blocked_customer", "07000010053", Scenario::BlockedCustomer),
    meter("purchases_blocked", "07000010061", Scenario::PurchasesBlocked),
    meter("debt_unpaid", "07000010079", Scenario::DebtUnpaid),
    meter("account_blocked", "07000010087", Scenario::AccountBlocked),
    meter("not_found", "07000010095", Scenario::NotFound),
    meter("disconnected", "07000010103", Scenario::Disconnected),
    meter("key_change", "07000010111", Scenario::KeyChange),
    meter("fixed_charge", "07000010129", Scenario::FixedCharge),
    meter("delayed", "07000010137", Scenario::Delayed),
    meter("maximum_vend", "07000010145", Scenario::MaximumVend),
    meter("lost_reply", "07000010152", Scenario::LostReply),
    meter("lost_request", "07000010160", Scenario::LostRequest),
    meter("busy", "07000010178", Scenario::Busy),
    meter("busy_then_ok", "07000010186", Scenario::BusyThenOk),
    meter("unsupported_meter", "07000010194", Scenario::UnsupportedMeter),
    meter("credit_exhausted", "07000010202", Scenario::CreditExhausted),
    meter("duplicate", "07000010210", Scenario::Duplicate),
    meter("unanswered", "07000010228", Scenario::Unanswered),
];

const WATER_METERS: [ScenarioMeter; 3] = [
    meter("active", "28000010018", Scenario::Active),
    meter("no_token", "28000010026", Scenario::NoToken),
    meter("blocked", "28000010034", Scenario::BlockedCustomer),
];

/// All configured electricity meters.
pub fn scenarios() -> &'static [ScenarioMeter] {
    &METERS
}

/// All configured water meters.
pub fn water_scenarios() -> &'static [ScenarioMeter] {
    &WATER_METERS
}

/// The electricity meter with this name.
pub fn scenario(name: &str) -> Option<ScenarioMeter> {
    METERS.into_iter().find(|meter| meter.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meter_is_found_by_its_name() {
        assert_eq!(scenario("active_13_digit").unwrap().number, "0704000010022");
        assert_eq!(scenario("no_such_meter"), None);
    }
}
