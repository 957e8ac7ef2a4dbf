//! A message that will be sent again.

use serde::Serialize;
use utoipa::ToSchema;

use purchase::PurchaseId;
use vending::RepeatedMessage;
use web::SharedState;

use super::moment::Moment;

/// The message with the token of a purchase, which will be sent once more.
#[derive(Debug, Serialize, ToSchema)]
pub struct QueuedMessage<'a> {
    purchase_id: i64,
    /// To whom it will be sent.
    phone_number: &'a str,
    /// When it was asked for.
    #[schema(value_type = String, format = DateTime, example = "2026-11-20T13:05:00.000000+02:00")]
    requested_at: Moment,
    /// How many more may be sent for this purchase within the day.
    remaining_today: u8,
}

impl<'a> QueuedMessage<'a> {
    /// A message to this number.
    pub fn new(
        purchase: PurchaseId,
        phone_number: &'a str,
        queued: RepeatedMessage,
        shared: &SharedState,
    ) -> Self {
        Self {
            purchase_id: purchase.0,
            phone_number,
            requested_at: Moment(queued.at.with_timezone(&shared.zone())),
            remaining_today: queued.remaining,
        }
    }
}
