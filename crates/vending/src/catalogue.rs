//! Catalogues, cached for a few seconds instead of being read for every request.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use catalogue::Catalogue;
use clock::Monotonic;
use purchase::OrganisationId;
use vend::Product;

use crate::{
    Rejection, Service, Vending,
    refusals::{Failed, internal},
};

/// The catalogues that were read recently. The reserve checks their content again where money depends on it.
#[derive(Debug)]
pub(crate) struct Catalogues {
    reuse: Duration,
    recent: Mutex<HashMap<OrganisationId, (Monotonic, Arc<Catalogue>)>>,
}

impl Catalogues {
    pub(crate) fn new(reuse: Duration) -> Self {
        Self { reuse, recent: Mutex::default() }
    }

    fn recent(&self, organisation: OrganisationId, now: Monotonic) -> Option<Arc<Catalogue>> {
        let recent = self.recent.lock().expect(UNPOISONED);
        let (read, catalogue) = recent.get(&organisation)?;
        (now.elapsed_since(*read) < self.reuse).then(|| catalogue.clone())
    }

    fn remember(&self, organisation: OrganisationId, now: Monotonic, catalogue: Arc<Catalogue>) {
        self.recent.lock().expect(UNPOISONED).insert(organisation, (now, catalogue));
    }
}

const UNPOISONED: &str = "nothing panics while it holds this lock";

impl Vending {
    /// The `provider_code` for a request that names none: the organisation's default provider for the product.
    ///
    /// # Errors
    /// [`Rejection::NoDefaultProvider`] if it has none. That is also the case for a product that it cannot buy at
    /// all.
    pub async fn default_provider(
        &self,
        organisation: OrganisationId,
        product: Product,
    ) -> Result<String, Rejection> {
        let catalogue = self.0.catalogue(organisation).await?;
        let offered = catalogue.products.iter().find(|offered| offered.product == product);
        offered.and_then(|offered| offered.default_provider.clone()).ok_or(Rejection::NoDefaultProvider)
    }
}

impl Service {
    /// What the organisation can buy, at most a few seconds old. A failed read is logged.
    pub(crate) async fn catalogue(&self, organisation: OrganisationId) -> Result<Arc<Catalogue>, Failed> {
        let now = self.clock.monotonic();
        if let Some(catalogue) = self.catalogues.recent(organisation, now) {
            return Ok(catalogue);
        }
        let catalogue = catalogue::read_catalogue(self.store.database(), organisation).await;
        let catalogue = catalogue.map_err(|error| internal("the catalogue could not be read", &error))?;
        let catalogue = Arc::new(catalogue);
        self.catalogues.remember(organisation, now, catalogue.clone());
        Ok(catalogue)
    }
}
