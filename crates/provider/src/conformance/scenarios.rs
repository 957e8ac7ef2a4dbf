//! The scenario of each requirement.

mod answers;
mod doubts;
mod enquiries;
mod gate;
mod questions;
mod refusals;

use vend::{Enquiry, Vend, VendOutcome};

use super::examination::{End, Examination, Verdict};
use super::{Garbage, Mishap, Requirement};

/// Runs the scenario of a requirement.
#[expect(clippy::too_many_lines, reason = "a table: one line for each requirement")]
pub(super) async fn run(requirement: Requirement, examination: &mut Examination<'_>) -> Verdict {
    use Mishap as M;
    let e = examination;
    match requirement {
        Requirement::VendIsTold => answers::vend_is_told(e).await,
        Requirement::TokensAsIssued => answers::tokens_as_issued(e).await,
        Requirement::SplitAddsUp => answers::split_adds_up(e).await,
        Requirement::EnquiryTellsTheSame => answers::enquiry_tells_the_same(e).await,

        Requirement::CheckVendsNothing => questions::check_vends_nothing(e).await,
        Requirement::QuoteVendsNothing => questions::quote_vends_nothing(e).await,
        Requirement::TrialVendsNothing => questions::trial_vends_nothing(e).await,
        Requirement::FloatVendsNothing => questions::float_vends_nothing(e).await,
        Requirement::RefusedTrialIsRefused => questions::refused_trial(e).await,
        Requirement::CheckIsForTheSubscriber => questions::check_of_another(e).await,
        Requirement::QuoteIsForTheSale => questions::quote_of_another(e).await,
        Requirement::UnansweredQuestion => questions::unanswered(e).await,

        Requirement::ClosedGate => gate::closed(e).await,
        Requirement::GateIsLookedAtLast => gate::looked_at_last(e).await,
        Requirement::Unreachable => gate::unreachable(e).await,
        Requirement::AnotherProduct => gate::another_product(e).await,
        Requirement::AnotherCurrency => gate::another_currency(e).await,

        Requirement::ConnectionCut => doubts::of_each(e, &[M::RequestLost, M::ReplyLost]).await,
        Requirement::Silence => doubts::of(e, M::Silence).await,
        Requirement::HalfReply => doubts::of(e, M::ReplyHalved).await,
        Requirement::Garbage => doubts::of_each(e, &Garbage::ALL.map(M::ReplyGarbled)).await,
        Requirement::EmptyReply => doubts::of(e, M::ReplyEmpty).await,
        Requirement::EndlessReply => doubts::of(e, M::ReplyEndless).await,
        Requirement::ServerError => doubts::of(e, M::ServerError).await,
        Requirement::SuccessUnderError => doubts::success_under_error(e).await,
        Requirement::Redirect => doubts::redirect(e).await,
        Requirement::ReferenceOfAnother => doubts::of(e, M::AnswersAnotherReference).await,
        Requirement::ReferenceMissing => doubts::of(e, M::ReferenceLeftOut).await,
        Requirement::SubscriberOfAnother => doubts::of(e, M::AnswersAnotherSubscriber).await,
        Requirement::AmountOfAnother => doubts::of(e, M::AnswersAnotherAmount).await,
        Requirement::CurrencyOfAnother => doubts::of(e, M::AnswersAnotherCurrency).await,
        Requirement::TokenMissing => doubts::of(e, M::TokenLeftOut).await,
        Requirement::TokenIsDummy => doubts::of(e, M::TokenDummy).await,
        Requirement::UnderWay => doubts::of(e, M::StillUnderWay).await,
        Requirement::UnclearIsKept => doubts::unclear_is_kept(e).await,

        Requirement::RefusalIsTold => refusals::told(e).await,
        Requirement::RefusalOfAnother => doubts::of(e, M::RefusedForAnother).await,
        Requirement::RefusalWithoutReference => doubts::of(e, M::RefusedWithoutReference).await,
        Requirement::UnlistedFault => doubts::of(e, M::UnlistedFault).await,
        Requirement::RefusalIsRemembered => refusals::remembered(e).await,
        Requirement::Repeat => refusals::repeated(e).await,

        Requirement::EnquiryFindsTheVend => enquiries::finds_the_vend(e).await,
        Requirement::EnquiryFindsNothing => enquiries::finds_nothing(e).await,
        Requirement::EnquiryVendsNothing => enquiries::vends_nothing(e).await,
        Requirement::EnquiryUnreachable => enquiries::unreachable(e).await,
        Requirement::EnquiryUnanswered => {
            let unanswered = [M::RequestLost, M::ReplyLost, M::ReplyHalved, M::Silence];
            enquiries::finds_nothing_out(e, &unanswered).await
        }
        Requirement::EnquiryGarbled => {
            enquiries::finds_nothing_out(e, &Garbage::ALL.map(M::ReplyGarbled)).await?;
            enquiries::finds_nothing_out(e, &[M::ReplyEmpty, M::ReplyEndless]).await
        }
        Requirement::EnquiryServerError => {
            enquiries::finds_nothing_out(e, &[M::ServerError, M::Redirected]).await
        }
        Requirement::EnquiryRefused => enquiries::finds_nothing_out(e, &[M::Refused]).await,
        Requirement::EnquiryReferenceOfAnother => {
            enquiries::finds_nothing_out(e, &[M::AnswersAnotherReference]).await
        }
        Requirement::EnquiryReferenceMissing => enquiries::finds_nothing_out(e, &[M::ReferenceLeftOut]).await,
        Requirement::EnquirySubscriberOfAnother => {
            enquiries::finds_nothing_out(e, &[M::AnswersAnotherSubscriber]).await
        }
        Requirement::EnquiryAmountOfAnother => {
            enquiries::finds_nothing_out(e, &[M::AnswersAnotherAmount]).await
        }
        Requirement::EnquiryCurrencyOfAnother => {
            enquiries::finds_nothing_out(e, &[M::AnswersAnotherCurrency]).await
        }
        Requirement::EnquiryTokenMissing => enquiries::finds_nothing_out(e, &[M::TokenLeftOut]).await,
        Requirement::EnquiryTokenIsDummy => enquiries::finds_nothing_out(e, &[M::TokenDummy]).await,
        Requirement::EnquiryRefusalOfAnother => enquiries::refusal_of_another(e).await,
        Requirement::EnquiryNoRecordOfAnother => enquiries::no_record_of_another(e).await,
        Requirement::EnquiryUnderWay => enquiries::under_way(e).await,

        Requirement::KeepsDeadlines => doubts::deadlines(e).await,
        // The other requirements about every call are tested by all scenarios.
        Requirement::SendsOnce => {
            e.orders_received().filter(|received| *received > 0).map(drop).ok_or(End::Untested)
        }
        Requirement::TokensStaySealed => answers::some_token_was_issued(e).await,
        Requirement::NeverPanics => Ok(()),
    }
}

fn broken<T>(seen: String) -> Result<T, End> {
    Err(End::Broken(seen))
}

/// The vend. Any other outcome leaves the requirement untested.
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

/// Fails if the number of vends is not the number `before`.
async fn vends_nothing_since(e: &Examination<'_>, before: usize) -> Verdict {
    let after = e.world.vends().await.len();
    if after == before {
        Ok(())
    } else {
        broken(format!("there were {before} vends before it, and {after} after"))
    }
}
