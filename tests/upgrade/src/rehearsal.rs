//! The rehearsal, from the first sale to the judgement.

use std::{sync::Arc, time::Duration};

use acceptance::{
    checker::{self, Moment, Violation},
    fault_injection::{Behaviour, FaultEnv, now},
    tills::{self, Tills},
    time::{Deadline, longest_gap},
};
use sandbox::Programs;
use tokio::runtime::Runtime;

use crate::{
    Failure,
    installation::{Installation, Part},
    release::Release,
    report::{Report, Step},
};

const TILLS: usize = 8;
/// Some vends leave a doubt, so that each release settles what the other has begun.
const BEHAVIOURS: &[Behaviour] =
    &[Behaviour::Ordinary, Behaviour::Ordinary, Behaviour::LostReply, Behaviour::Ordinary, Behaviour::Slow];
/// How long sales must go on after each step, and within what time they must.
const STEADY: Duration = Duration::from_secs(3);
const SOLD_WITHIN: Duration = Duration::from_mins(1);
const SETTLED_WITHIN: Duration = Duration::from_mins(3);

/// The order in which a release is replaced.
const PARTS: [Part; 3] = [Part::FirstServer, Part::Worker, Part::SecondServer];

/// Everything that takes part.
pub struct Rehearsal<'a> {
    pub runtime: &'a Runtime,
    pub env: Arc<FaultEnv>,
    pub before: &'a Release,
    /// This release.
    pub programs: &'a Programs,
    /// Whether the migration also takes away what the release before needs.
    pub breaks: bool,
    /// How long sales may pause in a step.
    pub longest_pause: Duration,
}

impl Rehearsal<'_> {
    /// Upgrades, rolls back, upgrades again, ends the release before, and checks the evidence.
    pub fn run(&self, mut installation: Installation) -> Result<Report, Failure> {
        let urls = installation.urls();
        let tills = Tills::open(self.runtime.handle(), &self.env, &urls, TILLS, BEHAVIOURS, "till");
        let (old, new) = (&self.before.programs, self.programs);
        self.is_the_release_before(&installation.migrate(&old.api_server)?)?;
        let mut report =
            Report { from: self.before.name.clone(), longest_pause: self.longest_pause, ..Report::default() };
        self.step(&mut report, "the release before sells", false, || Ok(()))?;
        self.step(&mut report, "the database is migrated", false, || self.migrate(&installation))?;
        self.replace(&mut report, &mut installation, "upgraded", new)?;
        self.replace(&mut report, &mut installation, "rolled back", old)?;
        let name = "migrate of the release before changes nothing";
        self.step(&mut report, name, false, || installation.migrate(&old.api_server).map(drop))?;
        self.replace(&mut report, &mut installation, "upgraded again", new)?;
        if !self.before.lacks.is_empty() {
            self.step(&mut report, "the release before is ended", false, || self.end_release(&installation))?;
        }
        self.runtime.block_on(async {
            tills.close(urls.first().ok_or("there is no server")?).await?;
            self.env.comes_to_rest_within(SETTLED_WITHIN).await;
            Ok::<(), Failure>(())
        })?;
        report.purchases = self.env.asks("SELECT count(*) FROM purchases");
        report.violations =
            checker::check(&self.env.evidence(Moment::AtRest)).iter().map(Violation::to_string).collect();
        report.ended = installation.ended();
        Ok(report)
    }

    /// Replaces one part after the other.
    fn replace(
        &self,
        report: &mut Report,
        installation: &mut Installation,
        direction: &str,
        programs: &Programs,
    ) -> Result<(), Failure> {
        for part in PARTS {
            let is_server = part != Part::Worker;
            let replaced = || installation.replace(part, programs);
            self.step(report, &format!("{part} is {direction}"), is_server, replaced)?;
        }
        Ok(())
    }

    fn migrate(&self, installation: &Installation) -> Result<(), Failure> {
        let applied = installation.migrate(&self.programs.api_server)?;
        self.has_applied(&applied)?;
        if self.breaks { self.take_a_column_away() } else { Ok(()) }
    }

    /// Works while the tills buy, and waits until sales go on steadily.
    fn step(
        &self,
        report: &mut Report,
        name: &str,
        stops_a_server: bool,
        work: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let began = now();
        work().map_err(|failure| format!("{name}: {failure}"))?;
        let took = now().saturating_sub(began);
        self.runtime
            .block_on(tills::go_on(&self.env, STEADY, SOLD_WITHIN))
            .map_err(|failure| format!("{name}: {failure}"))?;
        let ended = now();
        let (paused, _over) = longest_gap(&tills::sales(&self.env), began, ended);
        let answers = tills::answers(&self.env, began, ended);
        let step = Step { name: name.to_owned(), took, stops_a_server, paused, answers };
        println!("{step}");
        report.steps.push(step);
        Ok(())
    }

    /// Whether the program that printed this has the schema of the release before, and not that of this tree.
    fn is_the_release_before(&self, printed: &str) -> Result<(), Failure> {
        let expected = format!("the schema is at version {}", self.before.schema);
        let is_it = printed.lines().any(|line| line == expected);
        if is_it { Ok(()) } else { Err(format!("this is not {}: {printed}", self.before.name).into()) }
    }

    fn has_applied(&self, printed: &str) -> Result<(), Failure> {
        let missing =
            self.before.lacks.iter().find(|lacked| !printed.contains(&format!("applied {}", lacked.version)));
        missing
            .map_or(Ok(()), |missing| Err(format!("{} was not applied: {printed}", missing.version).into()))
    }

    /// What a migration must never do: the release before writes this column.
    fn take_a_column_away(&self) -> Result<(), Failure> {
        let sql = "ALTER TABLE purchases RENAME COLUMN provider_reference TO sent_as";
        Ok(self.env.sandbox.database().run_sql(sql).map(drop)?)
    }

    /// What a later release may do: it takes away what the release before needs. The database refuses it while a server of
    /// that release is left, and refuses such servers afterwards.
    fn end_release(&self, installation: &Installation) -> Result<(), Failure> {
        let own = self.before.lacks.last().ok_or("the schema is the same")?;
        let contract = format!("SET ROLE vendgate_owner; SELECT end_programs_before('{}')", own.version);
        let database = self.env.sandbox.database();
        let straggler = installation.straggler(&self.before.programs)?;
        match database.run_sql(&contract) {
            Ok(_ended) => return Err("the release before was ended under a server of it".into()),
            Err(refused) if refused.to_string().contains("are connected: vendgate (login") => {}
            Err(other) => return Err(other.into()),
        }
        drop(straggler);
        let deadline = Deadline::after(SOLD_WITHIN);
        while let Err(refused) = database.run_sql(&contract) {
            if deadline.is_over() {
                return Err(refused.into());
            }
        }
        match installation.straggler(&self.before.programs) {
            Ok(_serving) => Err("a server of the release before has started".into()),
            Err(refused) if refused.to_string().contains("install a later release") => Ok(()),
            Err(other) => Err(other),
        }
    }
}
