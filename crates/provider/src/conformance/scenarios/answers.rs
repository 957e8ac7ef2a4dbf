//! What went well.

use meter_token::TokenSet;
use vend::{Vend, VendOutcome};

use super::{broken, found, vended};
use crate::conformance::examination::{End, Examination, Verdict};

pub(super) async fn vend_is_told(e: &mut Examination<'_>) -> Verdict {
    let order = e.fresh_order();
    match e.vend(&order).await? {
        VendOutcome::Vended(_) if e.made(&order).await.len() == 1 => Ok(()),
        VendOutcome::Vended(_) => broken("it was told as a vend, and nothing was vended".to_owned()),
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
    let told = vend.tokens.iter().flat_map(TokenSet::tokens);
    let told: Vec<String> = told.map(|token| digits(token.expose())).collect();
    // Not the tokens themselves: this is printed.
    if told == issued.iter().map(|token| digits(token)).collect::<Vec<_>>() {
        Ok(())
    } else {
        broken(format!("{} tokens were issued, and {} other ones were told", issued.len(), told.len()))
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
    let told = vended(e.vend(&order).await?)?;
    let found = found(e.enquire(&order).await?)?;
    if facts(&told) == facts(&found) {
        Ok(())
    } else {
        broken(format!("the answer said {told:?}, and the enquiry {found:?}"))
    }
}

/// The raw replies differ: one is the answer to the vend, the other to the enquiry.
fn facts(vend: &Vend) -> impl PartialEq + use<'_> {
    (&vend.tokens, &vend.units, &vend.provider_transaction, &vend.breakdown)
}

pub(super) async fn some_token_was_issued(e: &mut Examination<'_>) -> Verdict {
    let issued = e.world.vends().await.iter().any(|made| !made.tokens.is_empty());
    if issued { Ok(()) } else { Err(End::Untested) }
}
