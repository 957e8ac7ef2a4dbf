//! Falsifies a message, or writes it in an unusual form, to test that clients notice or tolerate it.

use std::sync::Arc;

use money::{Currency, Money};

use super::{Message, Receipt, Reply};
use crate::{answer::Falsify, meters::another_meter, refusal::Refusal, script::Mishap};

impl Falsify for Message {
    /// For an advice, the repeated response is falsified.
    fn falsify(&mut self, mishap: Mishap) {
        if mishap == Mishap::OutOfOrder {
            self.style.out_of_order = true;
        } else if mishap == Mishap::OddDescriptions {
            self.style.odd_descriptions = true;
        } else if mishap == Mishap::UnprefixedFault {
            self.style.unprefixed_fault = true;
        } else if mishap == Mishap::FaultWithoutDetail {
            self.style.fault_without_detail = true;
        } else if let Reply::LastResponse { stored, .. } = &mut self.reply {
            Arc::make_mut(stored).falsify(mishap);
        } else if mishap == Mishap::SystemExAfter {
            self.reply = Reply::Fault(Refusal::system_failure());
        } else if mishap == Mishap::WrongReference {
            let number = &mut self.header.to.msg_id.unique_number;
            *number = *number % 999_999 + 1;
        } else if let Reply::Vend(receipt) | Reply::TrialVend(receipt) = &mut self.reply {
            falsify_receipt(receipt, mishap);
        } else if let (Reply::Customer(customer), Mishap::WrongMeter) = (&mut self.reply, mishap) {
            customer.meter.number = another_meter();
        }
    }
}

fn falsify_receipt(receipt: &mut Receipt, mishap: Mishap) {
    if mishap == Mishap::WrongMeter {
        receipt.issue.meter.number = another_meter();
    } else if mishap == Mishap::NoToken {
        receipt.issue.credit = None;
    } else if mishap == Mishap::WrongAmount {
        receipt.split = receipt.split.map(|line| Money::from_minor(line.minor() + 1, line.currency()));
    } else if mishap == Mishap::WrongCurrency {
        let another = Currency::in_hundredths("XTS").expect("XTS is the code for testing");
        receipt.split = receipt.split.map(|line| Money::from_minor(line.minor(), another));
    }
}
