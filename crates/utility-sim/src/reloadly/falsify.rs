//! Falsifies an answer, to test that clients notice.

use money::{Currency, Money};

use super::{Message, Refusal, Reply, topup::Statement};
use crate::{answer::Falsify, script::Mishap};

/// A number that has no subscriber in the sandbox.
const ANOTHER_PHONE: &str = "26774999999";

impl Falsify for Message {
    fn falsify(&mut self, mishap: Mishap) {
        if mishap == Mishap::SystemExAfter {
            self.reply = Reply::Refusal(Refusal::system_failure());
        } else if let (Mishap::FaultWithoutDetail, Reply::Refusal(refusal)) = (mishap, &mut self.reply) {
            refusal.code = None;
        } else if let Reply::Topup(statement) | Reply::Status(statement) = &mut self.reply {
            falsify_statement(statement, mishap);
        } else if let Reply::Report(report) = &mut self.reply {
            report.content.iter_mut().for_each(|statement| falsify_statement(statement, mishap));
        }
    }
}

fn falsify_statement(statement: &mut Statement, mishap: Mishap) {
    let order = &mut statement.topup.order;
    if mishap == Mishap::WrongMeter {
        ANOTHER_PHONE.clone_into(&mut order.phone);
    } else if mishap == Mishap::WrongAmount {
        order.amount = Money::from_minor(order.amount.minor() + 1, order.amount.currency());
    } else if mishap == Mishap::WrongCurrency {
        let another = Currency::in_hundredths("XTS").expect("XTS is the code for testing");
        order.amount = Money::from_minor(order.amount.minor(), another);
    } else if mishap == Mishap::WrongReference {
        order.custom_identifier.push_str("-other");
    }
}
