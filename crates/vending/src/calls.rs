//! Fresh numbers from blocks: for purchases, and for calls to providers.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError},
    time::Duration,
};

use clock::Monotonic;
use database::DatabaseError;
use purchase::PurchaseId;
use store::{CallIdBlock, Store};
use tokio::sync::Mutex;
use vend::{CallId, CallIdError};

use crate::Rejection;

/// The rest of a block is discarded after a minute, see [`CallIdBlock`].
const BLOCK_LIFETIME: Duration = Duration::from_mins(1);
const CALLS_PER_BLOCK: u16 = 1_000;
const PURCHASES_PER_BLOCK: u16 = 100;

/// The blocks that this process has taken. A caller that waits for a provider's next block does not block the callers
/// of other providers.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    calls: std::sync::Mutex<HashMap<String, Arc<Mutex<Option<Block>>>>>,
    purchases: Mutex<Vec<PurchaseId>>,
}

#[derive(Debug)]
struct Block {
    rest: CallIdBlock,
    taken: Monotonic,
}

/// Why there is no fresh number.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NumberError {
    /// The database gave no block.
    #[error("no block of numbers could be taken")]
    Database(#[from] DatabaseError),
    /// The block was not one of six digits.
    #[error("the block of numbers is not usable")]
    Block(#[from] CallIdError),
}

impl From<NumberError> for Rejection {
    fn from(error: NumberError) -> Self {
        match error {
            NumberError::Database(error) if error.may_pass() => Self::Overloaded,
            NumberError::Database(_) | NumberError::Block(_) => Self::Internal,
        }
    }
}

impl Numbers {
    /// An id that no call to this provider has had.
    pub(crate) async fn call(
        &self,
        store: &Store,
        provider_code: &str,
        now: Monotonic,
    ) -> Result<CallId, NumberError> {
        let block_of_provider = self.block_of(provider_code);
        let mut current = block_of_provider.lock().await;
        if let Some(call) = current.as_mut().and_then(|block| block.take(now)) {
            return Ok(call?);
        }
        let rest = store.take_call_ids(provider_code, CALLS_PER_BLOCK).await?;
        let mut block = Block { rest, taken: now };
        let call = block.take(now).ok_or(CallIdError::NumberOutOfRange(rest.first))?;
        *current = Some(block);
        Ok(call?)
    }

    fn block_of(&self, provider_code: &str) -> Arc<Mutex<Option<Block>>> {
        let mut blocks = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.entry(provider_code.to_owned()).or_default().clone()
    }

    /// A number that no purchase has had.
    pub(crate) async fn purchase(&self, store: &Store) -> Result<PurchaseId, NumberError> {
        let mut rest = self.purchases.lock().await;
        if rest.is_empty() {
            let block = store.take_purchase_ids(PURCHASES_PER_BLOCK).await?;
            rest.extend(block.into_iter().rev());
        }
        Ok(rest.pop().ok_or(CallIdError::NumberOutOfRange(0))?)
    }
}

impl Block {
    fn take(&mut self, now: Monotonic) -> Option<Result<CallId, CallIdError>> {
        let is_fresh = now.elapsed_since(self.taken) < BLOCK_LIFETIME;
        if !is_fresh || self.rest.first > self.rest.last {
            return None;
        }
        let call = CallId::new(self.rest.first, self.rest.at);
        self.rest.first = self.rest.first.saturating_add(1);
        Some(call)
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    #[test]
    fn a_block_is_used_up_in_order_and_for_a_minute() {
        let at = DateTime::UNIX_EPOCH;
        let now = Monotonic::from_origin(Duration::ZERO);
        let mut block = Block { rest: CallIdBlock { first: 7, last: 8, at }, taken: now };
        assert_eq!(block.take(now), Some(CallId::new(7, at)));
        let later = Monotonic::from_origin(BLOCK_LIFETIME);
        assert_eq!(block.take(later), None);
        assert_eq!(block.take(now), Some(CallId::new(8, at)));
        assert_eq!(block.take(now), None);
    }

    #[test]
    fn a_database_that_is_being_upgraded_asks_to_come_again_and_is_no_internal_error() {
        let behind = DatabaseError::Schema { found: "1".into(), expected: "2".into() };
        let ahead = DatabaseError::ProgramTooOld { program: "1".into(), oldest: "2".into() };
        for error in [behind, ahead] {
            assert_eq!(Rejection::from(NumberError::from(error)), Rejection::Overloaded);
        }
    }
}
