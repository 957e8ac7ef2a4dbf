//! What an integrator may read: what it can buy, its accounts and its purchases. No provider is asked here.

use chrono::{DateTime, Utc};
use database::DatabaseError;
use ledger::{Account, AccountId};
use purchase::{
    AfterLine, Extent, LookUp, Offer, OrganisationId, Page, Period, Position, PrintedPurchase, ProductText,
    PurchaseId, PurchaseWithBuyer, ReportedDay, SalesReport, Selection, Statement, StatementPage,
    SubscriberFormat,
};
use vend::Product;

use crate::{ReadError, Service, Vending, refusals::internal};

/// A product with its format and its providers (specification, section 2.4).
#[derive(Clone, Debug)]
pub struct ProductListing {
    /// The product.
    pub product: Product,
    /// The format of its subscriber identifiers.
    pub format: SubscriberFormat,
    /// A hint that replaces the one derived from the format.
    pub hint: Option<String>,
    /// Its texts in languages in which they differ from the usual ones.
    pub texts: Vec<ProductText>,
    /// The providers that sell it.
    pub providers: Vec<ProviderListing>,
}

/// A provider of a product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderListing {
    /// The `provider_code` of a purchase.
    pub code: String,
    /// The name for display.
    pub name: String,
    /// The pause of its sales of the product, if there is one.
    pub pause: Option<PauseListing>,
}

/// A pause of a provider's sales.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PauseListing {
    /// When it ends by itself. `None` if that is not known.
    pub until: Option<DateTime<Utc>>,
    /// What the operator tells about it.
    pub notice: Option<String>,
}

impl Vending {
    /// The active accounts of an organisation, with what is available on each.
    pub async fn accounts(&self, organisation: OrganisationId) -> Result<Vec<Account>, ReadError> {
        let accounts = self.0.store.list_accounts(organisation).await;
        Ok(accounts.map_err(|error| internal("the accounts could not be read", &error))?)
    }

    /// One active account, if it is the organisation's.
    pub async fn account(
        &self,
        organisation: OrganisationId,
        id: AccountId,
    ) -> Result<Option<Account>, ReadError> {
        let accounts = self.accounts(organisation).await?;
        Ok(accounts.into_iter().find(|account| account.id == id))
    }

    /// The products that an organisation can buy, with what is paused at present.
    pub async fn products(&self, organisation: OrganisationId) -> Result<Vec<ProductListing>, ReadError> {
        let catalogue = self.0.catalogue(organisation).await?;
        let now = self.0.clock.now();
        let provider = |offer: &Offer| {
            let pause = catalogue.pause(offer.product, &offer.provider_code, now);
            ProviderListing {
                code: offer.provider_code.clone(),
                name: offer.provider_name.clone(),
                pause: pause.map(|pause| PauseListing { until: pause.until, notice: pause.notice.clone() }),
            }
        };
        let listing = |product: &catalogue::CatalogueProduct| ProductListing {
            product: product.product,
            format: product.format.clone(),
            hint: product.hint.clone(),
            texts: product.texts.clone(),
            providers: product.offers.iter().map(provider).collect(),
        };
        Ok(catalogue.products.iter().map(listing).collect())
    }

    /// The purchase of this number in its current state, if it is the organisation's.
    pub async fn purchase(
        &self,
        organisation: OrganisationId,
        id: PurchaseId,
    ) -> Result<Option<PurchaseWithBuyer>, ReadError> {
        let found = self.0.store.find_with_buyer(organisation, id).await;
        found.map_err(|error| self.0.purchase_unread(&error))
    }

    /// The purchase of this number with what its receipt says, if it is the organisation's.
    pub async fn printed_purchase(
        &self,
        organisation: OrganisationId,
        id: PurchaseId,
    ) -> Result<Option<PrintedPurchase>, ReadError> {
        self.0.store.find_printed(organisation, id).await.map_err(|error| self.0.purchase_unread(&error))
    }

    /// At most `limit` of the organisation's purchases in their current state, newest first, after a position.
    pub async fn purchases(
        &self,
        organisation: OrganisationId,
        selection: Selection,
        after: Option<Position>,
        limit: u16,
    ) -> Result<Page, ReadError> {
        let page = self.0.store.list_with_buyers(organisation, selection, after, limit).await;
        Ok(page.map_err(|error| internal("purchases could not be listed", &error))?)
    }

    /// The last purchases of a subscriber that have tokens. The audit log has a line about it. `None` if the organisation
    /// has looked up too many subscribers within the hour.
    pub async fn look_up_purchases(&self, look: LookUp) -> Result<Option<Vec<PurchaseWithBuyer>>, ReadError> {
        let found = self.0.store.look_up_purchases(look).await;
        Ok(found.map_err(|error| internal("the purchases of a subscriber could not be looked up", &error))?)
    }

    /// A statement of one of the organisation's wallets, whatever its status. `None` if it has no such wallet.
    pub async fn open_statement(
        &self,
        organisation: OrganisationId,
        account: AccountId,
        period: Period,
    ) -> Result<Option<Statement>, ReadError> {
        let opened = self.0.store.open_statement(organisation, account, period).await;
        Ok(opened.map_err(|error| internal("a statement could not be opened", &error))?)
    }

    /// The same statement, for a further page of it.
    pub async fn reopen_statement(
        &self,
        organisation: OrganisationId,
        account: AccountId,
        extent: Extent,
    ) -> Result<Option<Statement>, ReadError> {
        let opened = self.0.store.reopen_statement(organisation, account, extent).await;
        Ok(opened.map_err(|error| internal("a statement could not be opened", &error))?)
    }

    /// At most `limit` lines of a statement after a line, or from its beginning.
    pub async fn list_movements(
        &self,
        statement: Statement,
        after: Option<AfterLine>,
        limit: u16,
    ) -> Result<StatementPage, ReadError> {
        let page = self.0.store.list_movements(statement, after, limit).await;
        Ok(page.map_err(|error| internal("a statement could not be read", &error))?)
    }

    /// What the organisation bought on these days.
    pub async fn sales(
        &self,
        organisation: OrganisationId,
        days: Vec<ReportedDay>,
    ) -> Result<SalesReport, ReadError> {
        let report = self.0.store.sales(organisation, days).await;
        Ok(report.map_err(|error| internal("the sales could not be added up", &error))?)
    }
}

impl Service {
    /// One purchase could not be read. It may have succeeded with a token that cannot be opened here.
    fn purchase_unread(&self, error: &DatabaseError) -> ReadError {
        let failed = internal("a purchase could not be read", error);
        if matches!(error, DatabaseError::TokenUnreadable { .. }) {
            ReadError::TokenUnreadable(self.a_person_must_act())
        } else {
            failed.into()
        }
    }
}
