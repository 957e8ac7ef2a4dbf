//! Falsifies an answer, to test that clients notice.

use money::Money;

use super::{
    Message, Rejection, Reply,
    message::{Ending, State, Statement},
};
use crate::{answer::Falsify, meters::another_meter, script::Mishap};

impl Falsify for Message {
    fn falsify(&mut self, mishap: Mishap) {
        if mishap == Mishap::SystemExAfter {
            self.reply = Reply::Rejection(Rejection::system_error());
        } else if let Reply::Transaction(statement) = &mut self.reply {
            falsify_statement(statement, mishap);
        } else if let (Reply::Customer { meter, .. }, Mishap::WrongMeter) = (&mut self.reply, mishap) {
            meter.number = another_meter();
        }
    }
}

fn falsify_statement(statement: &mut Statement, mishap: Mishap) {
    let order = &mut statement.transaction.order;
    if mishap == Mishap::WrongMeter {
        order.meter = another_meter().to_string();
    } else if mishap == Mishap::WrongAmount {
        order.amount = Money::from_minor(order.amount.minor() + 1, order.amount.currency());
    } else if mishap == Mishap::WrongReference {
        statement.request_id = statement.request_id.take().map(|id| format!("{id}0"));
    } else if mishap == Mishap::NoToken {
        statement.transaction.tokens.clear();
    } else if mishap == Mishap::FaultWithoutDetail && statement.state == State::Ended(Ending::Failed) {
        statement.request_id = None;
    }
}
