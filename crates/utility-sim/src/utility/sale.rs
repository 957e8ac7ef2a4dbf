//! A sale: the reasons to refuse it, the tokens, the money, the record, and the answer.

use std::sync::{Arc, atomic::Ordering};

use sts::Rnd;

use super::{
    Utility,
    base_rules::{self, Stage},
    past::Kept,
};
use crate::{
    answer::Answer,
    memory::Recollection,
    meter::Meter,
    refusal::Refusal,
    scenario::Scenario,
    settings::OnRepeat,
    vend_log::{VendRecord, VendResult},
    xmlvend::{Message, Receipt, Reply, Sender, VendRequest},
};

impl Utility {
    /// Vends, unless the message id was already answered.
    pub(super) fn vend(
        &self,
        sender: &Sender,
        order: &VendRequest,
        scripted: Option<Refusal>,
    ) -> Answer<Message> {
        let recollection = self.memory.vend_once(&sender.message_name(), || {
            let sale = self.sell(sender, order, scripted);
            let reply = self.logged(sender, order, sale).map_or_else(Reply::Fault, Reply::Vend);
            self.message(sender, reply)
        });
        match recollection {
            Recollection::Fresh(message) if message.is_vend() => self.sent_as_configured(order, message),
            Recollection::Fresh(message) => Answer::prompt(message),
            Recollection::Known(message) if self.memory.on_repeat() == OnRepeat::Replay => {
                Answer::prompt(message)
            }
            Recollection::Known(_) | Recollection::Taken => {
                self.refuse(sender, Refusal::repeated_message_id())
            }
        }
    }

    fn sent_as_configured(&self, order: &VendRequest, message: Arc<Message>) -> Answer<Message> {
        let scenario = self.meters.find(&order.meter).map(Meter::scenario);
        if scenario == Ok(Scenario::LostReply) {
            Answer::Silence
        } else if scenario == Ok(Scenario::Delayed) {
            Answer::prompt(message).after(self.delayed)
        } else {
            Answer::prompt(message)
        }
    }

    /// The sale itself: everything that can refuse it, then the tokens, then the money.
    fn sell(
        &self,
        sender: &Sender,
        order: &VendRequest,
        scripted: Option<Refusal>,
    ) -> Result<Box<Receipt>, Refusal> {
        let meter = self.meters.find_for(order.service, &order.meter)?;
        base_rules::object(Stage::Vend, meter)?;
        let split = self.tariff.split(order.service, meter.scenario(), self.tariff.tender(order)?)?;
        if let Some(refusal) = scripted {
            return Err(refusal);
        }
        let rnd = Rnd::from_byte(sender.msg_id.unique_number.to_le_bytes()[0]);
        let issue = meter.issue(split.units, self.now().naive_local(), rnd).map_err(|why| {
            tracing::warn!(%why, "no token can be made");
            Refusal::unsupported_meter()
        })?;
        let available_credit = self.float.take(split.tender).ok_or_else(Refusal::credit_exhausted)?;
        let issued = issue.credit;
        let issue = meter.credit_over_the_network(issue);
        // A token that the customer does not get was entered by the utility.
        if let (Some(entered), None) = (issued, &issue.credit) {
            self.note_entry(meter, entered.digits());
        }
        let number = format!("R{}", self.next_receipt.fetch_add(1, Ordering::Relaxed));
        Ok(Box::new(Receipt { number, split, issue, available_credit }))
    }

    /// Logs a sale before the answer is sent. If it cannot be logged, its outcome is unknown.
    fn logged(
        &self,
        sender: &Sender,
        order: &VendRequest,
        sale: Result<Box<Receipt>, Refusal>,
    ) -> Result<Box<Receipt>, Refusal> {
        let currency = self.tariff.currency();
        let record = VendRecord {
            reference: sender.msg_id.to_string(),
            transaction: sale.as_ref().map(|receipt| receipt.number.clone()).unwrap_or_default(),
            subscriber: order.meter.clone(),
            product_type: order.service.product().as_str().to_owned(),
            amount: order.amount.clone(),
            currency: order.currency.clone().unwrap_or_else(|| currency.as_str().to_owned()),
            tokens: sale.as_ref().map(|receipt| receipt.issue.digits()).unwrap_or_default(),
            at: self.now().to_rfc3339(),
            outcome: if sale.is_ok() { VendResult::Vended } else { VendResult::Refused },
        };
        self.log.append(&record, &Kept::of(sender, &sale)).map_err(|why| {
            tracing::error!(%why, "the vend log cannot be written");
            Refusal::system_failure()
        })?;
        sale
    }
}
