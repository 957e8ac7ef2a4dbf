//! The rules for refusing customers, and the stage at which each applies.

use crate::{meter::Meter, refusal::Refusal, scenario::Scenario};

/// The stages of a purchase at which a customer can be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    Check,
    Quote,
    Vend,
}

/// Refuses a customer at the stage of the refusal and at all later stages.
pub(crate) fn object(stage: Stage, meter: &Meter) -> Result<(), Refusal> {
    let objection = objection(meter.scenario());
    if let Some((_, refusal)) = objection.filter(|(from, _)| stage >= *from) {
        return Err(refusal);
    }
    let alternates = meter.scenario() == Scenario::BusyThenOk && stage == Stage::Vend;
    if alternates && meter.count_vend().is_multiple_of(2) { Err(Refusal::busy()) } else { Ok(()) }
}

/// The permission to buy in the answer to a customer enquiry.
pub(crate) fn can_vend(scenario: Scenario) -> bool {
    scenario != Scenario::PurchasesBlocked
}

fn objection(scenario: Scenario) -> Option<(Stage, Refusal)> {
    match scenario {
        Scenario::NotFound => Some((Stage::Check, Refusal::unknown_meter())),
        Scenario::Disconnected => Some((Stage::Check, Refusal::disconnected())),
        Scenario::BlockedCustomer => Some((Stage::Check, Refusal::blocked_customer())),
        Scenario::PurchasesBlocked => Some((Stage::Quote, Refusal::purchases_blocked())),
        Scenario::DebtUnpaid => Some((Stage::Quote, Refusal::debt_unpaid())),
        Scenario::UnsupportedMeter => Some((Stage::Quote, Refusal::unsupported_meter())),
        Scenario::AccountBlocked => Some((Stage::Vend, Refusal::account_blocked())),
        Scenario::CreditExhausted => Some((Stage::Vend, Refusal::credit_exhausted())),
        Scenario::Duplicate => Some((Stage::Vend, Refusal::duplicate_sale())),
        Scenario::Busy => Some((Stage::Vend, Refusal::busy())),
        Scenario::Active
        | Scenario::TariffCharge
        | Scenario::TariffChargeSubAccount
        | Scenario::KeyChange
        | Scenario::FixedCharge
        | Scenario::Delayed
        | Scenario::MaximumVend
        | Scenario::LostReply
        | Scenario::LostRequest
        | Scenario::Unanswered
        | Scenario::NoToken
        | Scenario::BusyThenOk => None,
    }
}
