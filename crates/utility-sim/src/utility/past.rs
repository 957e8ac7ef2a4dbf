//! What a restarted utility restores from its earlier run: every answer to a vend, unchanged.

use std::sync::atomic::Ordering;

use chrono::DateTime;
use money::Money;
use serde::{Deserialize, Serialize};

use super::Utility;
use crate::{
    meter::KeyName,
    product::Service,
    refusal::Refusal,
    vend_log::{Past, VendResult},
    xmlvend::{DeviceId, Header, Message, MsgId, Receipt, Reply, Sender, Style, VendRequest},
};

/// The part of an answer in the vend log beside the record of its vend. Everything else is computed again.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    client: DeviceId,
    terminal: DeviceId,
    reply: KeptReply,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KeptReply {
    Receipt {
        number: String,
        /// In minor units.
        available_credit: i64,
        /// The keys before and after a key change, if there was one.
        keys: Option<[KeyName; 2]>,
    },
    Fault {
        exception: String,
        text: String,
    },
}

impl Kept {
    pub(super) fn of(sender: &Sender, sale: &Result<Box<Receipt>, Refusal>) -> Self {
        let reply = match sale {
            Ok(receipt) => KeptReply::Receipt {
                number: receipt.number.clone(),
                available_credit: receipt.available_credit.minor(),
                keys: receipt
                    .issue
                    .key_change
                    .as_ref()
                    .map(|change| [&change.from, &receipt.issue.meter.key].map(KeyName::of)),
            },
            Err(refusal) => KeptReply::Fault {
                exception: refusal.exception.clone().into_owned(),
                text: refusal.text.clone().into_owned(),
            },
        };
        Self { client: sender.client.clone(), terminal: sender.terminal.clone(), reply }
    }
}

impl Utility {
    /// Restores a vend of an earlier run: the records of the meter and the vendor, and the answer unless it was
    /// forgotten. `None` if the log entry is not valid.
    pub(crate) fn recall(&self, past: &Past, is_forgotten: bool) -> Option<()> {
        let kept: Kept = serde_json::from_value(past.answer.clone()).ok()?;
        let to = Sender {
            client: kept.client,
            terminal: kept.terminal,
            msg_id: MsgId::parse(&past.record.reference)?,
        };
        let at = DateTime::parse_from_rfc3339(&past.record.at).ok()?;
        // Every vend for the alternately busy meter counts, whatever its outcome.
        if let Ok(meter) = self.meters.find(&past.record.subscriber) {
            meter.count_vend();
        }
        let reply = match (kept.reply, past.record.outcome) {
            (KeptReply::Receipt { number, available_credit, keys }, VendResult::Vended) => {
                let order = order(past)?;
                let meter = self.meters.find_for(order.service, &order.meter).ok()?;
                let tender = self.tariff.tender(&order).ok()?;
                let split = self.tariff.split(order.service, meter.scenario(), tender).ok()?;
                let issue = meter.restore(at.naive_local(), &past.record.tokens, keys)?;
                self.float.take(split.tender)?;
                let used: i64 = number.strip_prefix('R')?.parse().ok()?;
                self.next_receipt.fetch_max(used.checked_add(1)?, Ordering::Relaxed);
                let available_credit = Money::from_minor(available_credit, self.tariff.currency());
                Reply::Vend(Box::new(Receipt { number, split, issue, available_credit }))
            }
            (KeptReply::Fault { exception, text }, VendResult::Refused) => {
                Reply::Fault(Refusal { exception: exception.into(), text: text.into() })
            }
            (KeptReply::Receipt { .. }, VendResult::Refused)
            | (KeptReply::Fault { .. }, VendResult::Vended) => {
                return None;
            }
        };
        if !is_forgotten {
            let name = to.message_name();
            self.memory.recall(name, Message { header: Header { to, at }, reply, style: Style::default() });
        }
        Some(())
    }

    /// Enters a token that was entered into a meter in an earlier run.
    pub(crate) fn enter_again(&self, meter: &str, digits: &str) -> Option<()> {
        self.meters.find(meter).ok()?.enter(digits);
        Some(())
    }

    /// Replaces a meter that was replaced in an earlier run.
    pub(crate) fn reset_again(&self, meter: &str) -> Option<()> {
        self.meters.find(meter).ok()?.reset();
        Some(())
    }
}

fn order(past: &Past) -> Option<VendRequest> {
    let record = &past.record;
    let mut services = [Service::Electricity, Service::Water].into_iter();
    let service = services.find(|service| service.product().as_str() == record.product_type)?;
    let (meter, amount) = (record.subscriber.clone(), record.amount.clone());
    Some(VendRequest { service, meter, amount, currency: Some(record.currency.clone()) })
}
