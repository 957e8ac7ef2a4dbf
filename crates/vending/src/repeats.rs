//! Sends the message of a purchase again.

use purchase::{OrganisationId, PurchaseId, UserId};
use store::{MESSAGES_PER_DAY_MAX, RepeatRequest, RepeatedMessage};

use crate::{ReadError, Vending, refusals::internal};

impl Vending {
    /// Has the message with the token of a sold purchase sent again, to the corrected number if there is one. `None` if
    /// that was asked for too often within a day.
    pub async fn repeat_message(
        &self,
        organisation: OrganisationId,
        purchase: PurchaseId,
        user: UserId,
        phone_number: Option<String>,
    ) -> Result<Option<RepeatedMessage>, ReadError> {
        let per_day = self.messages_per_day();
        let request = RepeatRequest { organisation, purchase, phone_number, user, per_day };
        let written = self.0.store.repeat_message(request).await;
        Ok(written.map_err(|error| internal("a message could not be repeated", &error))?)
    }

    /// How often the message of one purchase may be sent again within a day.
    pub fn messages_per_day(&self) -> u8 {
        let set = u8::try_from(self.0.settings.messages_per_day).unwrap_or(MESSAGES_PER_DAY_MAX);
        set.min(MESSAGES_PER_DAY_MAX)
    }
}
