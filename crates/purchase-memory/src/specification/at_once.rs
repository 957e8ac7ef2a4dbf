//! Several calls of a store at the same time.

use std::future::poll_fn;
use std::mem;
use std::pin::Pin;
use std::task::Poll;

pub(super) type Run<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A call that is run with others.
pub(super) fn run<'a, T>(call: impl Future<Output = T> + Send + 'a) -> Run<'a, T> {
    Box::pin(call)
}

enum Slot<'a, T> {
    Runs(Run<'a, T>),
    Done(T),
}

/// Runs them at the same time, in one task. Returns their results in the same order.
pub(super) async fn at_once<'a, T: Send + 'a>(runs: impl IntoIterator<Item = Run<'a, T>>) -> Vec<T> {
    let mut slots: Vec<Slot<'a, T>> = runs.into_iter().map(Slot::Runs).collect();
    poll_fn(move |context| {
        for slot in &mut slots {
            if let Slot::Runs(run) = slot {
                if let Poll::Ready(result) = run.as_mut().poll(context) {
                    *slot = Slot::Done(result);
                }
            }
        }
        if slots.iter().any(|slot| matches!(slot, Slot::Runs(_))) {
            return Poll::Pending;
        }
        let done = mem::take(&mut slots).into_iter().filter_map(|slot| match slot {
            Slot::Done(result) => Some(result),
            Slot::Runs(_) => None,
        });
        Poll::Ready(done.collect())
    })
    .await
}
