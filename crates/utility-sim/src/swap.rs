//! Two answers that change places.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::oneshot;

use crate::xmlvend::Message;

/// Where the first of two waits for the second.
#[derive(Debug, Default)]
pub(crate) struct SwapDesk {
    waiting: Mutex<Option<Waiting>>,
}

#[derive(Debug)]
struct Waiting {
    message: Arc<Message>,
    partner: oneshot::Sender<Arc<Message>>,
}

impl SwapDesk {
    /// Somebody else's message for this one; the same back if nobody comes in time.
    pub(crate) async fn exchange(&self, message: Arc<Message>, patience: Duration) -> Arc<Message> {
        match self.meet(&message) {
            Ok(theirs) => theirs,
            Err(partner) => match tokio::time::timeout(patience, partner).await {
                Ok(Ok(theirs)) => theirs,
                Ok(Err(_)) | Err(_) => message,
            },
        }
    }

    fn meet(&self, message: &Arc<Message>) -> Result<Arc<Message>, oneshot::Receiver<Arc<Message>>> {
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
