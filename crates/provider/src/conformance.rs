//! The laws that every adapter must keep, run against a world of its own making.
//!
//! The adapter's test implements [`World`] over its simulator and asserts that [`judge`] finds nothing
//! broken. The laws are about proof: what may be called vended, what may be called refused, and what is
//! left in doubt.

mod laws;

use async_trait::async_trait;
use vend::{CallId, Capabilities, Sale};

use crate::Provider;

/// What goes wrong with the next vend request, and with no other; where it says so, with the next trial instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// It is lost before the provider reads it.
    RequestLost,
    /// It is vended; the connection closes before the answer.
    ReplyLost,
    /// It is vended; the answer says that something broke inside.
    FailsAfterVending,
    /// It is vended; the answer is garbage.
    ReplyGarbled,
    /// It is vended; the answer carries the reference of another request.
    AnswersAnotherReference,
    /// It is vended; the answer names another subscriber.
    AnswersAnotherSubscriber,
    /// It is vended; the answer is about another amount.
    AnswersAnotherAmount,
    /// It is vended; the answer lacks the token that it owes.
    TokenLeftOut,
    /// It is refused, definitely, by a refusal that carries our reference.
    Refused,
    /// It is refused by a refusal that carries no reference or another.
    RefusedForAnother,
    /// The next trial is refused; the next vend request is not.
    TrialRefused,
}

/// A provider's simulator, as the laws see it.
#[async_trait]
pub trait World: Send + Sync {
    /// The adapter under test, connected to this world. Its timeouts should be short.
    fn provider(&self) -> &dyn Provider;

    /// The same adapter, pointed at where nobody listens.
    fn provider_of_nowhere(&self) -> Box<dyn Provider>;

    /// How this world behaves.
    fn capabilities(&self) -> Capabilities;

    /// A call id that was never used.
    fn fresh_call(&self) -> CallId;

    /// A sale that this world carries out when nothing goes wrong; each time for a subscriber or an
    /// amount that does not collide with an earlier one.
    fn fresh_sale(&self) -> Sale;

    /// Makes this happen to the next vend request; false where the world cannot.
    async fn arrange(&self, mishap: Mishap) -> bool;

    /// The references of all vends that this world really made, as they are written on the wire, one for each vend.
    async fn vends(&self) -> Vec<String>;
}

/// A law that an adapter broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The law, as a sentence.
    pub law: &'static str,
    /// What was seen instead.
    pub seen: String,
}

/// What came of judging an adapter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// The laws that were kept.
    pub kept: Vec<&'static str>,
    /// The laws that were broken; empty for an adapter that may handle money.
    pub broken: Vec<Broken>,
    /// The laws that this world could not put to the test.
    pub untested: Vec<&'static str>,
}

/// Puts an adapter to every law, one after the other.
pub async fn judge(world: &dyn World) -> Judgement {
    let mut judgement = Judgement::default();
    for (law, finding) in laws::all(world).await {
        match finding {
            Ok(laws::Finding::Kept) => judgement.kept.push(law),
            Ok(laws::Finding::Untested) => judgement.untested.push(law),
            Err(seen) => judgement.broken.push(Broken { law, seen }),
        }
    }
    judgement
}
