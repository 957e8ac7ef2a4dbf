//! An operator's decision about a purchase in review. The values that are entered must fit the purchase.

use back_office::{ActKind, NewRequest, RequestSubject, SECRET_COLUMN, SealedRequest};
use clap::Args;
use oversight::StoryPurchase;
use reconciliation::Listing;
use serde_json::json;
use sha2::{Digest, Sha256};
use store::{Aad, Decision};
use vend::{Product, RawReply, Units, Vend};

use super::{find, story, token::TokenFrom};
use crate::{
    approvals,
    arguments::Why,
    care::Care,
    error::VendctlError,
    parse::{self, Amount, PurchaseName},
    report::Report,
    session::Session,
    words::{self, Finding},
};

/// The unit of electricity.
const KILOWATT_HOURS: &str = "kWh";

#[derive(Debug, Args)]
pub(crate) struct Resolve {
    /// Its number or its reference
    #[arg(value_parser = parse::purchase)]
    purchase: PurchaseName,
    /// The outcome that the provider has confirmed
    #[arg(long = "as", value_name = "FINDING", value_parser = words::finding())]
    finding: Finding,
    /// The provider's transaction id of the vend
    #[arg(long, value_name = "ID", value_parser = parse::label, required_if_eq("finding", "vended"))]
    provider_transaction: Option<String>,
    /// The units that were vended, such as "45.2 kWh"; airtime has none
    #[arg(long, value_name = "QUANTITY UNIT", value_parser = parse::units)]
    units: Option<Units>,
    /// The amount that the provider vended; refused unless it is the amount that was requested
    #[arg(long, value_parser = parse::amount)]
    amount: Option<Amount>,
    /// It was not vended, although a statement of the provider lists it: the provider has taken the vend back. This always needs a
    /// second person
    #[arg(long)]
    despite_statement: bool,
    #[command(flatten)]
    token: TokenFrom,
    #[command(flatten)]
    care: Care,
    #[command(flatten)]
    why: Why,
}

/// The request for the decision that it was vended. Its token is sealed, and no part of the arguments.
async fn request_of_vend(
    session: &Session,
    of: &StoryPurchase,
    vend: &Vend,
) -> Result<NewRequest, VendctlError> {
    let token = match &vend.tokens {
        Some(tokens) => {
            session.store.refuse_another_key().await?;
            let wire = tokens.wire_form();
            let place = Aad { row_id: of.id.0, column: SECRET_COLUMN };
            let sealed = session.store.sealing().seal(wire.as_bytes(), place)?;
            Some(SealedRequest { sealed, sha256: Sha256::digest(wire.as_bytes()).to_vec() })
        }
        None => None,
    };
    let arguments = json!({
        "purchase": of.id.0,
        "provider_transaction": vend.provider_transaction,
        "quantity": vend.units.as_ref().map(|units| units.quantity.to_string()),
        "unit": vend.units.as_ref().map(|units| units.unit.as_str()),
        "total": of.amounts.total.to_string(),
    });
    Ok(NewRequest { kind: ActKind::Resolve, arguments, token })
}

/// The request for the decision that nothing was vended, despite this statement if there is one.
fn request_of_release(of: &StoryPurchase, listing: Option<&Listing>) -> NewRequest {
    let arguments = json!({
        "purchase": of.id.0,
        "amount": of.amounts.total.to_string(),
        "minor": of.amounts.total.minor(),
        "despite_statement": listing.map(|listing| format!("{} (reconciliation {})", listing.file_name, listing.run)),
    });
    NewRequest { kind: ActKind::Release, arguments, token: None }
}

impl Resolve {
    pub(super) async fn run(&self, session: &Session) -> Result<Report, VendctlError> {
        let purchase = find(session, &self.purchase).await?.purchase;
        let decision = match self.finding {
            Finding::Vended => Decision::Vended(Box::new(self.vend(session, &purchase)?)),
            Finding::NotVended if self.has_details_of_a_vend() => {
                return Err(VendctlError::NotVendedHasNoDetails);
            }
            Finding::NotVended => Decision::NotVended,
        };
        let id = purchase.id;
        session.store.rehearse_decision(id, &decision).await?;
        let request = self.request(session, &purchase, &decision).await?;
        let needs_approval = request.is_some();
        // Without this one person could refund what another has proof of.
        approvals::refuse_past_another(session, RequestSubject::Purchase(id), request.as_ref()).await?;
        if self.care.dry_run {
            let story = story::report(&find(session, &self.purchase).await?, session.zone());
            let story = story.noting(&self.consequence(&purchase));
            let story = story.noting("This was a rehearsal. Nothing was decided.");
            return Ok(story.noting_any(needs_approval.then_some(approvals::WOULD_ASK)));
        }
        if let Some(request) = request {
            return approvals::request(session, request, session.act(&self.why)).await;
        }
        self.care.ask(&self.consequence(&purchase))?;
        session.store.decide(purchase.id, decision, session.act(&self.why)).await?;
        Ok(story::report(&find(session, &self.purchase).await?, session.zone()))
    }

    /// The request for this decision, if it needs a second person.
    async fn request(
        &self,
        session: &Session,
        of: &StoryPurchase,
        decision: &Decision,
    ) -> Result<Option<NewRequest>, VendctlError> {
        match decision {
            Decision::Vended(vend) => {
                let is_guarded = back_office::needs_approval(session.database(), ActKind::Resolve, 1).await?;
                Ok(if is_guarded { Some(request_of_vend(session, of, vend).await?) } else { None })
            }
            Decision::NotVended => {
                let listing = self.listing(session, of).await?;
                let minor = of.amounts.total.minor();
                let is_guarded = listing.is_some()
                    || back_office::needs_approval(session.database(), ActKind::Release, minor).await?;
                Ok(is_guarded.then(|| request_of_release(of, listing.as_ref())))
            }
        }
    }

    /// The statement that has a vend of this purchase. What a statement lists is not refunded by mistake, and never by one person.
    async fn listing(&self, session: &Session, of: &StoryPurchase) -> Result<Option<Listing>, VendctlError> {
        match reconciliation::find_listing(session.database(), of.id).await? {
            Some(Listing { run, file_name }) if !self.despite_statement => {
                Err(VendctlError::Listed { file: file_name, provider: of.provider_code.clone(), run })
            }
            None if self.despite_statement => Err(VendctlError::NotListed),
            found => Ok(found),
        }
    }

    /// What will have happened, for the person who is asked.
    fn consequence(&self, of: &StoryPurchase) -> String {
        let (total, organisation, subscriber) = (of.amounts.total, &of.organisation.0, &of.subscriber);
        let what = match self.finding {
            Finding::Vended => "is paid as vended",
            Finding::NotVended => "is released as not vended",
        };
        let vend = self.provider_transaction.as_ref().map(|id| format!(", as transaction {id}"));
        let units = self.units.as_ref().map(|units| format!(", {} {}", units.quantity, units.unit));
        let [vend, units] = [vend, units].map(Option::unwrap_or_default);
        format!("{total} of {organisation} for {subscriber} {what}{vend}{units}. This cannot be undone.")
    }

    const fn has_details_of_a_vend(&self) -> bool {
        self.provider_transaction.is_some()
            || self.units.is_some()
            || self.amount.is_some()
            || self.token.is_given()
    }

    /// The vend that the operator enters.
    fn vend(&self, session: &Session, of: &StoryPurchase) -> Result<Vend, VendctlError> {
        if let Some(amount) = self.amount.map(|amount| amount.of(of.amounts.net.currency()))
            && amount != of.amounts.net
        {
            return Err(VendctlError::OtherAmount { given: amount, net: of.amounts.net });
        }
        self.check_details(of)?;
        let tokens = self.token.read(of.product)?;
        if tokens.is_some() && !session.can_seal {
            return Err(VendctlError::NoSealingKey);
        }
        Ok(Vend {
            tokens,
            units: self.units.clone(),
            provider_transaction: self.provider_transaction.clone().unwrap_or_default(),
            breakdown: None,
            subscriber_details: None,
            raw_reply: RawReply::default(),
        })
    }

    /// Checks that exactly the values of a vend of this product are given.
    fn check_details(&self, of: &StoryPurchase) -> Result<(), VendctlError> {
        let product = of.product;
        let unit = self.units.as_ref().map(|units| units.unit.as_str());
        match (product, self.token.is_given(), unit) {
            (Product::Airtime, false, None)
            | (Product::Electricity, true, Some(KILOWATT_HOURS))
            | (Product::Water, _, Some(_)) => Ok(()),
            (Product::Airtime, _, _) => Err(VendctlError::AirtimeHasNone),
            (Product::Electricity, true, Some(_)) => Err(VendctlError::NotKilowattHours),
            (Product::Electricity, false, _) => Err(VendctlError::TokenMissing),
            (Product::Electricity | Product::Water, _, None) => Err(VendctlError::UnitsMissing(product)),
        }
    }
}
