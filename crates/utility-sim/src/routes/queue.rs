//! Requests that wait in front of the counter.

use crate::{
    answer::Answer,
    script::{Misbehaviour, Mishap},
};

/// Has a request answered: at once, or late where a script says so. A request that waits is looked at in the end,
/// even if nobody waits for the answer any more.
pub(super) async fn looked_at<M: Send + Sync + 'static>(
    scripted: Option<Misbehaviour>,
    look: impl FnOnce(Option<&Misbehaviour>) -> Answer<M> + 'static,
) -> Answer<M> {
    let late = scripted.as_ref().filter(|line| line.fault == Mishap::DelayBefore).map(Misbehaviour::delay);
    let Some(delay) = late else { return look(scripted.as_ref()) };
    let queued = actix_web::rt::spawn(async move {
        tokio::time::sleep(delay).await;
        look(scripted.as_ref())
    });
    queued.await.unwrap_or(Answer::Silence)
}
