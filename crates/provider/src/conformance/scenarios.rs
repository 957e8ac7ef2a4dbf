//! What is done to the adapter for each law.

mod answers;
mod doubts;
mod enquiries;
mod gate;
mod questions;
mod refusals;

use vend::{Enquiry, Vend, VendOutcome};

use super::examination::{End, Examination, Verdict};
use super::{Garbage, Law, Mishap};

/// Runs the scenario of a law.
#[expect(clippy::too_many_lines, reason = "a table: one line for each law")]
pub(super) async fn run(law: Law, examination: &mut Examination<'_>) -> Verdict {
    use Mishap as M;
    let e = examination;
    match law {
        Law::VendIsTold => answers::vend_is_told(e).await,
        Law::TokensAsIssued => answers::tokens_as_issued(e).await,
        Law::SplitAddsUp => answers::split_adds_up(e).await,
        Law::EnquiryTellsTheSame => answers::enquiry_tells_the_same(e).await,

        Law::CheckVendsNothing => questions::check_vends_nothing(e).await,
        Law::QuoteVendsNothing => questions::quote_vends_nothing(e).await,
        Law::TrialVendsNothing => questions::trial_vends_nothing(e).await,
        Law::RefusedTrialIsRefused => questions::refused_trial(e).await,
        Law::CheckIsForTheSubscriber => questions::check_of_another(e).await,
        Law::QuoteIsForTheSale => questions::quote_of_another(e).await,
        Law::UnansweredQuestion => questions::unanswered(e).await,

        Law::ClosedGate => gate::closed(e).await,
        Law::GateIsLookedAtLast => gate::looked_at_last(e).await,
        Law::Unreachable => gate::unreachable(e).await,
        Law::AnotherProduct => gate::another_product(e).await,
        Law::AnotherCurrency => gate::another_currency(e).await,

        Law::ConnectionCut => doubts::of_each(e, &[M::RequestLost, M::ReplyLost]).await,
        Law::Silence => doubts::of(e, M::Silence).await,
        Law::HalfReply => doubts::of(e, M::ReplyHalved).await,
        Law::Garbage => doubts::of_each(e, &Garbage::ALL.map(M::ReplyGarbled)).await,
        Law::EmptyReply => doubts::of(e, M::ReplyEmpty).await,
        Law::EndlessReply => doubts::of(e, M::ReplyEndless).await,
        Law::ServerError => doubts::of(e, M::ServerError).await,
        Law::SuccessUnderError => doubts::success_under_error(e).await,
        Law::Redirect => doubts::redirect(e).await,
        Law::ReferenceOfAnother => doubts::of(e, M::AnswersAnotherReference).await,
        Law::ReferenceMissing => doubts::of(e, M::ReferenceLeftOut).await,
        Law::SubscriberOfAnother => doubts::of(e, M::AnswersAnotherSubscriber).await,
        Law::AmountOfAnother => doubts::of(e, M::AnswersAnotherAmount).await,
        Law::CurrencyOfAnother => doubts::of(e, M::AnswersAnotherCurrency).await,
        Law::TokenMissing => doubts::of(e, M::TokenLeftOut).await,
        Law::TokenIsDummy => doubts::of(e, M::TokenDummy).await,
        Law::UnderWay => doubts::of(e, M::StillUnderWay).await,
        Law::UnclearIsKept => doubts::unclear_is_kept(e).await,

        Law::RefusalIsTold => refusals::told(e).await,
        Law::RefusalOfAnother => doubts::of(e, M::RefusedForAnother).await,
        Law::RefusalWithoutReference => doubts::of(e, M::RefusedWithoutReference).await,
        Law::UnlistedFault => doubts::of(e, M::UnlistedFault).await,
        Law::RefusalIsRemembered => refusals::remembered(e).await,
        Law::Repeat => refusals::repeated(e).await,

        Law::EnquiryFindsTheVend => enquiries::finds_the_vend(e).await,
        Law::EnquiryFindsNothing => enquiries::finds_nothing(e).await,
        Law::EnquiryVendsNothing => enquiries::vends_nothing(e).await,
        Law::EnquiryUnreachable => enquiries::unreachable(e).await,
        Law::EnquiryUnanswered => {
            let unanswered = [M::RequestLost, M::ReplyLost, M::ReplyHalved, M::Silence];
            enquiries::finds_nothing_out(e, &unanswered).await
        }
        Law::EnquiryGarbled => {
            enquiries::finds_nothing_out(e, &Garbage::ALL.map(M::ReplyGarbled)).await?;
            enquiries::finds_nothing_out(e, &[M::ReplyEmpty, M::ReplyEndless]).await
        }
        Law::EnquiryServerError => enquiries::finds_nothing_out(e, &[M::ServerError, M::Redirected]).await,
        Law::EnquiryRefused => enquiries::finds_nothing_out(e, &[M::Refused]).await,
        Law::EnquiryReferenceOfAnother => {
            enquiries::finds_nothing_out(e, &[M::AnswersAnotherReference]).await
        }
        Law::EnquiryReferenceMissing => enquiries::finds_nothing_out(e, &[M::ReferenceLeftOut]).await,
        Law::EnquirySubscriberOfAnother => {
            enquiries::finds_nothing_out(e, &[M::AnswersAnotherSubscriber]).await
        }
        Law::EnquiryAmountOfAnother => enquiries::finds_nothing_out(e, &[M::AnswersAnotherAmount]).await,
        Law::EnquiryCurrencyOfAnother => enquiries::finds_nothing_out(e, &[M::AnswersAnotherCurrency]).await,
        Law::EnquiryTokenMissing => enquiries::finds_nothing_out(e, &[M::TokenLeftOut]).await,
        Law::EnquiryTokenIsDummy => enquiries::finds_nothing_out(e, &[M::TokenDummy]).await,
        Law::EnquiryRefusalOfAnother => enquiries::refusal_of_another(e).await,
        Law::EnquiryNoRecordOfAnother => enquiries::no_record_of_another(e).await,
        Law::EnquiryUnderWay => enquiries::under_way(e).await,

        Law::KeepsDeadlines => doubts::deadlines(e).await,
        // The other laws about every call have been looked at all the while.
        Law::SendsOnce => e.orders_received().filter(|received| *received > 0).map(drop).ok_or(End::Untested),
        Law::TokensStaySealed => answers::some_token_was_issued(e).await,
        Law::NeverPanics => Ok(()),
    }
}

fn broken<T>(seen: String) -> Result<T, End> {
    Err(End::Broken(seen))
}

/// The vend, if it is one: without it, there is nothing to look at.
fn vended(outcome: VendOutcome) -> Result<Vend, End> {
    match outcome {
        VendOutcome::Vended(vend) => Ok(*vend),
        VendOutcome::Refused(_) | VendOutcome::Unknown(_) => Err(End::Untested),
    }
}

fn found(enquiry: Enquiry) -> Result<Vend, End> {
    match enquiry {
        Enquiry::Vended(vend) => Ok(*vend),
        Enquiry::Refused(_) | Enquiry::NoRecord | Enquiry::StillOpen | Enquiry::Unanswered(_) => {
            Err(End::Untested)
        }
    }
}

/// Whether a call moved anything.
async fn vends_nothing_since(e: &Examination<'_>, before: usize) -> Verdict {
    let after = e.world.vends().await.len();
    if after == before {
        Ok(())
    } else {
        broken(format!("there were {before} vends before it, and {after} after"))
    }
}
