//! The scenarios of successful vends.

use meter_token::TokenSet;
use vend::{Vend, VendOutcome};

use super::{broken, found, vended};
use crate::conformance::examination::{End, Examination, Verdict};

pub(super) async fn vend_is_told(e: &mut Examination<'_>) -> Verdict {
    let order = e.fresh_order();
    match e.vend(&order).await? {
        VendOutcome::Vended(_) if e.made(&order).await.len() == 1 => Ok(()),
        VendOutcome::Vended(_) => broken("it was reported as a vend, and nothing was vended".to_owned()),
        other @ (VendOutcome::Refused(_) | VendOutcome::Unknown(_)) => {
            broken(format!("the vend got {other:?}"))
        }
    }
}

pub(super) async fn tokens_as_issued(e: &mut Examination<'_>) -> Verdict {
    let order = e.fresh_order();
    let vend = vended(e.vend(&order).await?)?;
    let issued: Vec<String> = e.made(&order).await.into_iter().flat_map(|made| made.tokens).collect();
    if issued.is_empty() && vend.tokens.is_none() {
        return Err(End::Untested);
    }
    let digits = |text: &str| text.chars().filter(|c| !matches!(c, ' ' | '-')).collect::<String>();
    let reported = vend.tokens.iter().flat_map(TokenSet::tokens);
    let reported: Vec<String> = reported.map(|token| digits(token.expose())).collect();
    // The message must not contain the tokens, because it is printed.
    if reported == issued.iter().map(|token| digits(token)).collect::<Vec<_>>() {
        Ok(())
    } else {
        broken(format!("{} tokens were issued, {} other ones reported", issued.len(), reported.len()))
    }
}

pub(super) async fn split_adds_up(e: &mut Examination<'_>) -> Verdict {
    let order = e.fresh_order();
    let Some(breakdown) = vended(e.vend(&order).await?)?.breakdown else { return Err(End::Untested) };
    let parts: i64 = breakdown.parts().map(money::Money::minor).iter().sum();
    let amount = order.sale.amount;
    if parts == amount.minor() {
        Ok(())
    } else {
        broken(format!("the split of {amount} makes {parts} minor units"))
    }
}

pub(super) async fn enquiry_tells_the_same(e: &mut Examination<'_>) -> Verdict {
    let order = e.fresh_order();
    let answered = vended(e.vend(&order).await?)?;
    let found = found(e.enquire(&order).await?)?;
    if facts(&answered) == facts(&found) {
        Ok(())
    } else {
        broken(format!("the answer was {answered:?}, and the enquiry found {found:?}"))
    }
}

/// The fields that must be equal. The raw replies differ: one answers the vend, the other the enquiry.
fn facts(vend: &Vend) -> impl PartialEq + use<'_> {
    (&vend.tokens, &vend.units, &vend.provider_transaction, &vend.breakdown)
}

pub(super) async fn some_token_was_issued(e: &mut Examination<'_>) -> Verdict {
    let issued = e.world.vends().await.iter().any(|made| !made.tokens.is_empty());
    if issued { Ok(()) } else { Err(End::Untested) }
}
