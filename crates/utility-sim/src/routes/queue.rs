//! Requests that wait before they are processed.

use crate::{
    answer::Answer,
    script::{Misbehaviour, Mishap},
};

/// Answers a request, at once or after a scripted delay. A delayed request is processed even if its client has
/// disconnected.
pub(super) async fn answered<M: Send + Sync + 'static>(
    scripted: Option<Misbehaviour>,
    answer: impl FnOnce(Option<&Misbehaviour>) -> Answer<M> + 'static,
) -> Answer<M> {
    let late = scripted.as_ref().filter(|line| line.fault == Mishap::DelayBefore).map(Misbehaviour::delay);
    let Some(delay) = late else { return answer(scripted.as_ref()) };
    let queued = actix_web::rt::spawn(async move {
        tokio::time::sleep(delay).await;
        answer(scripted.as_ref())
    });
    queued.await.unwrap_or(Answer::Silence)
}
