//! What a restarted aggregator restores from its earlier run: all transactions and their further course.

use std::sync::atomic::Ordering;

use chrono::{DateTime, FixedOffset};
use clock::Monotonic;
use money::Currency;
use serde::{Deserialize, Serialize};

use super::{
    Agent, Ending, Order,
    message::{Course, Transaction},
};
use crate::vend_log::Past;

/// The part of a transaction in the vend log beside the record of its vend.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    vtpass: KeptTransaction,
}

#[derive(Debug, Serialize, Deserialize)]
struct KeptTransaction {
    number: i64,
    service_id: String,
    phone: String,
    course: KeptCourse,
    tenths: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KeptCourse {
    Done,
    UnderWay { ending: Ending },
    Failed,
}

impl Kept {
    pub(super) fn of(transaction: &Transaction) -> Self {
        let course = match transaction.course {
            Course::Done => KeptCourse::Done,
            Course::UnderWay { ending, .. } => KeptCourse::UnderWay { ending },
            Course::Failed => KeptCourse::Failed,
        };
        Self {
            vtpass: KeptTransaction {
                number: transaction.number,
                service_id: transaction.order.service_id.clone(),
                phone: transaction.order.phone.clone(),
                course,
                tenths: transaction.tenths,
            },
        }
    }
}

impl Agent {
    /// Whether a vend of an earlier run was a sale of this aggregator.
    pub(crate) fn has_made(past: &Past) -> bool {
        past.answer.get("vtpass").is_some()
    }

    /// Restores a sale of an earlier run: the records of the meter and the vendor, and the answer unless it was forgotten.
    /// `None` if the log entry is not valid.
    pub(crate) fn recall(&self, past: &Past, is_forgotten: bool) -> Option<()> {
        let Kept { vtpass: kept } = serde_json::from_value(past.answer.clone()).ok()?;
        let record = &past.record;
        let currency = Currency::in_hundredths(&record.currency).ok()?;
        let at = DateTime::parse_from_rfc3339(&record.at).ok()?;
        let order = Order {
            request_id: record.reference.clone(),
            service_id: kept.service_id,
            meter: record.subscriber.clone(),
            amount: money::parse_amount(&record.amount, currency).ok()?,
            phone: kept.phone,
        };
        let course = match kept.course {
            KeptCourse::Done => Course::Done,
            KeptCourse::UnderWay { ending } => Course::UnderWay { until: self.ends_at(at), ending },
            KeptCourse::Failed => Course::Failed,
        };
        if let Ok(meter) = self.meters.find(&order.meter) {
            meter.count_vend();
            if course.delivers() {
                meter.restore_token_identifier(at.naive_local())?;
            }
        }
        if course.delivers() {
            self.float.take(order.amount)?;
        }
        self.next_number.fetch_max(kept.number.checked_add(1)?, Ordering::Relaxed);
        if !is_forgotten {
            let (name, tokens) = (order.request_id.clone(), record.tokens.clone());
            let transaction =
                Transaction { number: kept.number, order, at, course, tokens, tenths: kept.tenths };
            self.memory.recall(name, transaction);
        }
        Some(())
    }

    /// When a transaction that began at this time stops being in progress, on the clock of this process.
    fn ends_at(&self, begun: DateTime<FixedOffset>) -> Monotonic {
        let gone = self.clock.now().signed_duration_since(begun).to_std().unwrap_or_default();
        let left = std::time::Duration::from_millis(self.settings.processing_ms).saturating_sub(gone);
        Monotonic::from_origin(self.clock.monotonic().since_origin().saturating_add(left))
    }
}
