//! Swaps the answers of two requests.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::oneshot;

/// The answer that waits for a partner.
#[derive(Debug)]
pub(crate) struct Swap<M> {
    waiting: Mutex<Option<Waiting<M>>>,
}

#[derive(Debug)]
struct Waiting<M> {
    message: Arc<M>,
    partner: oneshot::Sender<Arc<M>>,
}

impl<M> Default for Swap<M> {
    fn default() -> Self {
        Self { waiting: Mutex::new(None) }
    }
}

impl<M> Swap<M> {
    /// Returns the partner's message for this one. Returns this message if no partner arrives in time.
    pub(crate) async fn exchange(&self, message: Arc<M>, patience: Duration) -> Arc<M> {
        match self.meet(&message) {
            Ok(theirs) => theirs,
            Err(partner) => match tokio::time::timeout(patience, partner).await {
                Ok(Ok(theirs)) => theirs,
                Ok(Err(_)) | Err(_) => message,
            },
        }
    }

    fn meet(&self, message: &Arc<M>) -> Result<Arc<M>, oneshot::Receiver<Arc<M>>> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(first) = waiting.take()
            && first.partner.send(Arc::clone(message)).is_ok()
        {
            return Ok(first.message);
        }
        let (partner, arrival) = oneshot::channel();
        *waiting = Some(Waiting { message: Arc::clone(message), partner });
        Err(arrival)
    }
}
