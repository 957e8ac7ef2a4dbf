//! Catalogues, read anew every few seconds and not for every request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clock::Monotonic;
use purchase::OrganisationId;
use store::{Catalogue, StoreError};

use crate::Desk;

/// The catalogues of late. What they say is checked again by the reserve where money depends on it.
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

impl Desk {
    /// What the organisation can buy, as of a few seconds ago at most.
    pub(crate) async fn catalogue(&self, organisation: OrganisationId) -> Result<Arc<Catalogue>, StoreError> {
        let now = self.clock.monotonic();
        if let Some(catalogue) = self.catalogues.recent(organisation, now) {
            return Ok(catalogue);
        }
        let catalogue = Arc::new(self.store.catalogue(organisation).await?);
        self.catalogues.remember(organisation, now, catalogue.clone());
        Ok(catalogue)
    }
}
