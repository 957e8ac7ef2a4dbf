//! What a restarted aggregator restores from its earlier run: all top-ups and their further course.

use std::sync::atomic::Ordering;

use actix_web::http::StatusCode;
use chrono::{DateTime, FixedOffset};
use clock::Monotonic;
use money::{Currency, Money};
use serde::{Deserialize, Serialize};

use super::Aggregator;
use crate::{
    reloadly::{
        Ending, Refusal, VendRequest,
        topup::{Course, Topup},
    },
    vend_log::Past,
};

/// The part of a top-up in the vend log beside the record of its vend.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    number: i64,
    operator_id: u32,
    course: KeptCourse,
    /// In minor units.
    balances: [i64; 2],
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KeptCourse {
    Done,
    UnderWay { ending: Ending },
    Refused { status: u16, code: Option<String>, message: String },
}

impl Kept {
    pub(super) fn of(topup: &Topup) -> Self {
        let course = match &topup.course {
            Course::Done => KeptCourse::Done,
            Course::UnderWay { ending, .. } => KeptCourse::UnderWay { ending: *ending },
            Course::Refused(refusal) => KeptCourse::Refused {
                status: refusal.status.as_u16(),
                code: refusal.code.as_deref().map(str::to_owned),
                message: refusal.message.clone().into_owned(),
            },
        };
        let (number, operator_id) = (topup.number, topup.order.operator_id);
        Self { number, operator_id, course, balances: topup.balances.map(Money::minor) }
    }
}

impl Aggregator {
    /// Restores a top-up of an earlier run: the vendor's balance, and the answer unless it was forgotten. `None` if the
    /// log entry is not valid.
    pub(crate) fn recall(&self, past: &Past, is_forgotten: bool) -> Option<()> {
        let kept: Kept = serde_json::from_value(past.answer.clone()).ok()?;
        let currency = Currency::in_hundredths(&past.record.currency).ok()?;
        let at = DateTime::parse_from_rfc3339(&past.record.at).ok()?;
        let order = VendRequest {
            custom_identifier: past.record.reference.clone(),
            operator_id: kept.operator_id,
            amount: money::parse_amount(&past.record.amount, currency).ok()?,
            phone: past.record.subscriber.clone(),
        };
        let course = match kept.course {
            KeptCourse::Done => Course::Done,
            KeptCourse::UnderWay { ending } => Course::UnderWay { until: self.ends_at(at), ending },
            KeptCourse::Refused { status, code, message } => Course::Refused(Refusal {
                status: StatusCode::from_u16(status).ok()?,
                code: code.map(Into::into),
                message: message.into(),
            }),
        };
        if course.delivers() {
            self.float.take(order.amount)?;
        }
        self.next_number.fetch_max(kept.number.checked_add(1)?, Ordering::Relaxed);
        if !is_forgotten {
            // As early as possible, so that the report contains it.
            let made = Monotonic::from_origin(std::time::Duration::ZERO);
            let balances = kept.balances.map(|minor| Money::from_minor(minor, currency));
            let name = order.custom_identifier.clone();
            self.names().insert(kept.number, name.clone());
            self.memory.recall(name, Topup { number: kept.number, order, at, made, course, balances });
        }
        Some(())
    }

    /// When a top-up that began at this time stops being in progress, on the clock of this process.
    fn ends_at(&self, begun: DateTime<FixedOffset>) -> Monotonic {
        let gone = self.clock.now().signed_duration_since(begun).to_std().unwrap_or_default();
        let left = self.processing.saturating_sub(gone);
        Monotonic::from_origin(self.clock.monotonic().since_origin().saturating_add(left))
    }
}
