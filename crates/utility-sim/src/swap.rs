//! Two answers that change places.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::oneshot;

/// Where the first of two waits for the second.
#[derive(Debug)]
pub(crate) struct SwapDesk<M> {
    waiting: Mutex<Option<Waiting<M>>>,
}

#[derive(Debug)]
struct Waiting<M> {
    message: Arc<M>,
    partner: oneshot::Sender<Arc<M>>,
}

impl<M> Default for SwapDesk<M> {
    fn default() -> Self {
        Self { waiting: Mutex::new(None) }
    }
}

impl<M> SwapDesk<M> {
    /// Somebody else's message for this one; the same back if nobody comes in time.
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
