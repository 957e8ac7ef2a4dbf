//! The meters of the sandbox, each with one configured behaviour (specification, section 8).

/// What happens to whoever buys for a meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scenario {
    /// Vends.
    Active,
    /// Vends, less a small fixed charge, a levy and a regulator's fee.
    TariffCharge,
    /// Vends, less a small fixed charge, a tenth of the rest for a debt, a levy and a regulator's fee.
    TariffChargeSubAccount,
    /// The customer is blocked: said at once when asked about the customer.
    BlockedCustomer,
    /// The customer is known but may not buy.
    PurchasesBlocked,
    /// A debt stops the sale: said when a price is asked.
    DebtUnpaid,
    /// The account is blocked: said only when money is on the table.
    AccountBlocked,
    /// No such meter.
    NotFound,
    /// The meter was disconnected.
    Disconnected,
    /// A fixed charge of 1000; each purchase above it moves the meter to its next key, by two tokens.
    KeyChange,
    /// A fixed charge of 1000.
    FixedCharge,
    /// Vends, and answers long after.
    Delayed,
    /// Sells at most 100000 at once.
    MaximumVend,
    /// Vends, and cuts the connection instead of answering.
    LostReply,
    /// Cuts the connection before it looks at the request, every time, and knows nothing of it.
    LostRequest,
    /// Is always too busy to vend.
    Busy,
    /// Is too busy for every other vend, the first one included.
    BusyThenOk,
    /// A meter that no token can be made for.
    UnsupportedMeter,
    /// The vendor's float is used up.
    CreditExhausted,
    /// A business rule calls every sale a duplicate.
    Duplicate,
    /// Vends, and credits the meter over the network: there is no token to hand out.
    NoToken,
}

/// A meter of the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScenarioMeter {
    /// The name under which sandbox and tests know it.
    pub name: &'static str,
    /// The number printed on it.
    pub number: &'static str,
    /// What happens to whoever buys for it.
    pub scenario: Scenario,
}

const fn meter(name: &'static str, number: &'static str, scenario: Scenario) -> ScenarioMeter {
    ScenarioMeter { name, number, scenario }
}

const METERS: [ScenarioMeter; 21] = [
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
];

const WATER_METERS: [ScenarioMeter; 3] = [
    meter("active", "28000010018", Scenario::Active),
    meter("no_token", "28000010026", Scenario::NoToken),
    meter("blocked", "28000010034", Scenario::BlockedCustomer),
];

/// Every configured electricity meter: name, number, behaviour.
pub fn scenarios() -> &'static [ScenarioMeter] {
    &METERS
}

/// Every configured water meter: name, number, behaviour.
pub fn water_scenarios() -> &'static [ScenarioMeter] {
    &WATER_METERS
}

/// The electricity meter of this name.
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
