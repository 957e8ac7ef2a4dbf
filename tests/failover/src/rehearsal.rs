//! The rehearsal: rounds of faults under load, and then the check of everything that happened.

use std::{sync::Arc, time::Duration};

use acceptance::{
    checker::{self, Moment, Violation},
    fault_injection::{Behaviour, FaultEnv, Seed, now},
    tills::{self, Tills},
    time::{Deadline, longest_gap, micros, pause},
};
use tokio::runtime::Runtime;

use crate::{
    Failure,
    cluster::Cluster,
    fault::Fault,
    probe::Probe,
    report::{Report, Round},
};

/// How many tills buy.
const TILLS: usize = 8;
/// What the provider does, in turn. Most vends succeed at once, and some leave a doubt.
const BEHAVIOURS: &[Behaviour] = &[
    Behaviour::Ordinary,
    Behaviour::Ordinary,
    Behaviour::LostReply,
    Behaviour::Ordinary,
    Behaviour::Http500,
    Behaviour::Ordinary,
    Behaviour::Ordinary,
    Behaviour::BusyThenOk,
];
/// How long sales may need to go on after a fault that is survived.
const SOLD_WITHIN: Duration = Duration::from_secs(150);
/// How long purchases may need to end after a fault.
const SETTLED_WITHIN: Duration = Duration::from_mins(4);
/// How long sales must go on before the next step.
const STEADY: Duration = Duration::from_secs(3);
/// How much earlier than a fault a gap may begin.
const BEFORE: Duration = Duration::from_secs(1);

/// Everything that takes part.
pub struct Rehearsal<'a> {
    pub runtime: &'a Runtime,
    pub cluster: &'a Cluster,
    pub env: Arc<FaultEnv>,
    pub probe: Probe,
    /// The servers at which the tills buy.
    pub urls: Vec<String>,
    /// Whether the servers reach the primary through a proxy.
    pub is_through_proxy: bool,
}

impl Rehearsal<'_> {
    /// Runs the rounds, closes the tills, and checks the evidence.
    pub fn run(&self, faults: &[Fault]) -> Result<Report, Failure> {
        let tills = Tills::open(self.runtime.handle(), &self.env, &self.urls, TILLS, BEHAVIOURS, "till");
        let mut report = match self.rounds(faults) {
            Ok(report) => report,
            Err(failure) => {
                // The last owner of the environment ends its runtimes, and no task may do that.
                self.runtime.block_on(tills.abandon());
                return Err(failure);
            }
        };
        self.runtime.block_on(async {
            tills.close(self.urls.first().ok_or("there is no server")?).await?;
            self.env.comes_to_rest_within(SETTLED_WITHIN).await;
            Ok::<(), Failure>(())
        })?;
        report.purchases = self.env.asks("SELECT count(*) FROM purchases");
        let evidence = self.env.evidence(Moment::AtRest);
        report.violations = checker::check(&evidence).iter().map(Violation::to_string).collect();
        Ok(report)
    }

    fn rounds(&self, faults: &[Fault]) -> Result<Report, Failure> {
        let mut report = Report::default();
        for (fault, number) in faults.iter().zip(1_usize..) {
            let round = self.runtime.block_on(self.round(*fault))?;
            println!("round {number} of {}: {fault}: {round}", faults.len());
            report.rounds.entry(*fault).or_insert_with(Vec::new).push(round);
        }
        self.runtime.block_on(self.cluster.whole())?;
        Ok(report)
    }

    async fn round(&self, fault: Fault) -> Result<Round, Failure> {
        self.sells_steadily().await?;
        self.cluster.whole().await?;
        let began = now();
        let struck = fault.strike(self.cluster).await?;
        fault.takes_effect(self.cluster, &struck).await?;
        let effective = now();
        if fault.is_survived() {
            self.sells_again(now()).await?;
        }
        fault.heal(&struck)?;
        let healed = now();
        self.cluster.whole().await?;
        let whole = now();
        self.sells_again(healed).await?;
        let first = began.saturating_sub(micros(BEFORE));
        let (cluster_paused, mut possible) = longest_gap(&self.probe.moments(), first, now());
        let (sales_paused, sales_back) = longest_gap(&tills::sales(&self.env), first, now());
        let mut impossible_for = cluster_paused;
        if !fault.is_survived() {
            possible = possible.max(healed);
            impossible_for = impossible_for.max(healed.saturating_sub(began));
        }
        // A proxy leaves a primary whose Patroni is silent, and finds no other one before the promotion.
        if self.is_through_proxy && fault == Fault::PatroniStopped {
            possible = possible.max(effective);
            impossible_for = impossible_for.max(effective.saturating_sub(began));
        }
        let settled = self.settled(sales_back).await?;
        Ok(Round {
            cluster_paused,
            sales_paused,
            behind: sales_paused.saturating_sub(impossible_for).max(0),
            settled: settled.saturating_sub(possible).max(0),
            whole: whole.saturating_sub(healed),
            answers: tills::answers(&self.env, first, sales_back),
        })
    }

    /// Waits until sales have gone on for a while.
    async fn sells_steadily(&self) -> Result<(), Failure> {
        self.sells_again(now()).await
    }

    /// Waits for a span without a gap after this moment, in which both the cluster and the tills go on.
    async fn sells_again(&self, after: i64) -> Result<(), Failure> {
        let deadline = Deadline::after(SOLD_WITHIN);
        loop {
            let (until, length) = (now(), micros(STEADY));
            let from = until.saturating_sub(length);
            let is_steady = |moments: &[i64]| longest_gap(moments, from, until).0 < length / 2;
            if from >= after && is_steady(&tills::sales(&self.env)) && is_steady(&self.probe.moments()) {
                return Ok(());
            }
            if deadline.is_over() {
                return Err(format!("sales did not go on within {SOLD_WITHIN:?}").into());
            }
            pause(Duration::from_millis(250)).await;
        }
    }

    /// Waits until every purchase that was begun before this moment has ended, and returns when the last one did.
    async fn settled(&self, before: i64) -> Result<i64, Failure> {
        let deadline = Deadline::after(SETTLED_WITHIN);
        let of_them = format!("created_at < to_timestamp({before} / 1000000.0)");
        let open = format!("SELECT count(*) FROM purchases WHERE ended_at IS NULL AND {of_them}");
        let last = format!(
            "SELECT coalesce((extract(epoch FROM max(ended_at)) * 1000000)::bigint, 0) FROM purchases WHERE {of_them}"
        );
        let database = self.env.sandbox.database();
        while database.run_sql(&open).ok().as_deref() != Some("0") {
            if deadline.is_over() {
                return Err(format!("a purchase did not end within {SETTLED_WITHIN:?}").into());
            }
            pause(Duration::from_millis(250)).await;
        }
        Ok(database.run_sql(&last)?.parse()?)
    }
}

/// The faults of this many rounds: each kind once, in an order of the seed, before any comes again.
pub fn dealt(rounds: usize, kinds: &[Fault], seed: &mut Seed) -> Vec<Fault> {
    let mut dealt = Vec::new();
    let mut left: Vec<Fault> = Vec::new();
    while dealt.len() < rounds {
        if left.is_empty() {
            left = kinds.to_vec();
        }
        let fault = seed.choose(&left);
        left.retain(|other| *other != fault);
        dealt.push(fault);
    }
    dealt
}
