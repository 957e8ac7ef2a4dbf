//! Group commit lanes. Reserve and record are the hot path, and one integrator's wallet is one row. So all jobs that
//! wait for the same lane run as one transaction. The next group forms while it commits.
//!
//! Lanes only add speed. Correctness rests on row locks and unique indexes, with any number of processes.

use std::{sync::Arc, time::Duration};

use database::{DatabaseError, Pool};
use purchase::{OrganisationId, Timing};
use tokio::{
    runtime::Handle,
    sync::{mpsc, oneshot},
};

use crate::{
    measures,
    purchases::{RecordError, Recorded, Reservation, ReserveError, Reserved, SubmittedEvent},
};

mod group;
mod inputs;
mod insert;
mod locked_purchase;
mod operator_actions;
mod queue;
mod record;
mod reserve;
mod stuck;
pub(crate) mod vouched;
mod wallets;
mod write;

use queue::Queue;

/// The maximum number of reserves that may wait in one lane. Further reserves are refused. Records are never refused,
/// because there are never more of them than earlier reserves.
const WAITING_MAX: usize = 1_024;

/// A reserve, and the channel for its answer.
struct ReserveJob {
    reservation: Arc<Reservation>,
    answer: oneshot::Sender<Result<Reserved, ReserveError>>,
}

/// An event to be recorded, and the channel for its answer.
struct RecordJob {
    submitted: SubmittedEvent,
    answer: oneshot::Sender<Result<Recorded, RecordError>>,
}

/// The lanes of this process. An organisation always maps to the same one.
#[derive(Debug)]
pub(crate) struct Lanes {
    lanes: Vec<Lane>,
}

#[derive(Debug)]
struct Lane {
    reserves: mpsc::Sender<ReserveJob>,
    records: mpsc::UnboundedSender<RecordJob>,
}

/// What every group needs.
#[derive(Clone)]
pub(crate) struct LaneContext {
    pub(crate) pool: Pool,
    pub(crate) timing: Timing,
    /// The maximum number of reserves and records in one transaction.
    pub(crate) group_max: usize,
    /// How long a group may take up to its commit, independent of the server and the network.
    pub(crate) deadline: Duration,
}

impl Lanes {
    /// Starts the lanes on the engine. They end when the last handle to them is dropped.
    pub(crate) fn start(lanes: usize, context: &LaneContext, engine: &Handle) -> Self {
        let lane = |_number| {
            let (reserves, waiting_reserves) = mpsc::channel(WAITING_MAX);
            let (records, waiting_records) = mpsc::unbounded_channel();
            engine.spawn(Queue::new(waiting_reserves, waiting_records).run(context.clone()));
            Lane { reserves, records }
        };
        Self { lanes: (0..lanes.max(1)).map(lane).collect() }
    }

    /// Whether every lane still accepts jobs. A lane that does not has panicked.
    pub(crate) fn all_run(&self) -> bool {
        self.lanes.iter().all(|lane| !lane.reserves.is_closed() && !lane.records.is_closed())
    }

    pub(crate) async fn reserve(&self, reservation: Arc<Reservation>) -> Result<Reserved, ReserveError> {
        let lane = self.lane_of(reservation.authority.organisation);
        let (answer, answered) = oneshot::channel();
        lane.reserves
            .try_send(ReserveJob { reservation, answer })
            .map_err(|_full_or_closed| ReserveError::Overloaded)
            .inspect_err(|_overloaded| measures::turned_away(1))?;
        answered
            .await
            .unwrap_or_else(|_stopped| Err(ReserveError::Unacknowledged(Arc::new(DatabaseError::Stopped))))
    }

    pub(crate) async fn record(
        &self,
        of: OrganisationId,
        submitted: SubmittedEvent,
    ) -> Result<Recorded, RecordError> {
        let (answer, answered) = oneshot::channel();
        let stopped = || RecordError::Unacknowledged(Arc::new(DatabaseError::Stopped));
        self.lane_of(of).records.send(RecordJob { submitted, answer }).map_err(|_job| stopped())?;
        answered.await.unwrap_or_else(|_stopped| Err(stopped()))
    }

    fn lane_of(&self, organisation: OrganisationId) -> &Lane {
        let number = usize::try_from(organisation.0.unsigned_abs()).unwrap_or_default();
        let index = number.checked_rem(self.lanes.len()).unwrap_or_default();
        self.lanes.get(index).expect("a remainder is smaller than the number of lanes, and there is a lane")
    }
}
