//! What goes wrong in a simulation, and when it stops. Also the operator, who decides what no evidence can settle.

use chrono::TimeDelta;
use purchase::Event;

use crate::chance::Chance;
use crate::driver::Incarnation;
use crate::options::{MINUTE, SECOND};
use crate::run::{Happening, Simulation};

/// Longer than the gate; than a send; than a lease; than the quarantine; than the window.
const PAUSES: [u64; 5] = [6 * SECOND, 130 * SECOND, 200 * SECOND, 15 * MINUTE, 45 * MINUTE];

impl Simulation {
    pub fn plans_trouble(&mut self) {
        let end = self.options.faults_end;
        let processes = u64::try_from(self.processes.len()).expect("few");
        let which = |chance: &mut Chance| usize::try_from(chance.within(0..=processes - 1)).expect("few");
        for _nth in 0..self.options.kills {
            let (process, when) = (which(&mut self.chance), self.chance.within(0..=end));
            self.at(when, Happening::Kills(process));
        }
        for _nth in 0..self.options.pauses {
            let (process, when) = (which(&mut self.chance), self.chance.within(0..=end));
            let wait = self.chance.one_of(&PAUSES);
            self.at(when, Happening::Pauses(process, wait));
        }
        for _nth in 0..self.options.database_outages {
            let from = self.chance.within(0..=end);
            let wait = self.chance.one_of(&[2 * SECOND, 20 * SECOND, 4 * MINUTE]);
            self.database_outages.push((from, (from + wait).min(end)));
        }
        for _nth in 0..self.options.clock_jumps {
            let when = self.chance.within(0..=end);
            let by = i64::try_from(self.chance.within(1..=60)).expect("small");
            self.at(when, Happening::ClockJumps(TimeDelta::minutes(by)));
        }
        if self.options.operator_looks {
            self.at(20 * MINUTE, Happening::OperatorLooks { again: true });
        }
        for process in 0..self.processes.len() {
            self.starts(process);
        }
    }

    fn starts(&mut self, number: usize) {
        let Some(process) = self.processes.get(number).copied() else { return };
        if process.is_worker {
            let incarnation = Incarnation { process: number, number: process.incarnation };
            let wait = self.chance.within(0..=3 * SECOND);
            self.at(process.up_from.max(self.now) + wait, Happening::WorkerLooks(incarnation));
        }
    }

    /// The process whose turn it is may be killed or paused in the middle of it, or a little later.
    pub fn troubles(&mut self, process: usize) {
        if self.now >= self.options.faults_end {
            return;
        }
        let soon = if self.chance.happens(50) { 0 } else { self.chance.within(0..=400) };
        if self.chance.happens_rarely(self.options.kills_at_work) {
            self.after(soon, Happening::Kills(process));
        } else if self.chance.happens_rarely(self.options.pauses_at_work) {
            let wait = self.chance.one_of(&PAUSES);
            self.after(soon, Happening::Pauses(process, wait));
        }
    }

    /// Every driver of that process is gone, with all that only it knew.
    pub fn kills(&mut self, number: usize) {
        let down = self.chance.within(SECOND..=2 * MINUTE);
        let (now, end) = (self.now, self.options.faults_end);
        let Some(process) = self.processes.get_mut(number) else { return };
        process.incarnation += 1;
        process.up_from = (now + down).min(end.max(now));
        process.goes_on_from = 0;
        let before = self.drivers.len();
        self.drivers.retain(|_, driver| driver.incarnation.process != number);
        if self.drivers.len() < before {
            self.sees("killed at work");
        }
        self.tells(None, || format!("process {number} is killed"));
        self.starts(number);
    }

    pub fn pauses(&mut self, number: usize, wait: u64) {
        let (now, end) = (self.now, self.options.faults_end);
        let Some(process) = self.processes.get_mut(number) else { return };
        process.goes_on_from = (now + wait).min(end.max(now));
        let until = process.goes_on_from;
        self.tells(None, || format!("process {number} is paused until {}", until / SECOND));
    }

    pub fn faults_end(&mut self) {
        self.tells(None, || "the faults end".to_owned());
        self.options.answers_lost = 0;
        self.options.commits_late = 0;
        for provider in &mut self.providers {
            provider.reforms();
        }
        self.clears_the_network();
    }

    /// An operator who has seen the provider's statement decides. The operator does not decide while a copy may still
    /// be vended.
    pub fn operator_looks(&mut self, again: bool) {
        if again && self.now < self.options.faults_end {
            self.after(17 * MINUTE, Happening::OperatorLooks { again });
        }
        if self.database_is_away() {
            return;
        }
        for id in self.database.in_review() {
            self.operator_decides(id);
        }
    }

    fn operator_decides(&mut self, id: usize) {
        let connection = self.database.row(id).order.connection;
        let provider = self.providers.get(connection).expect("a connection of this simulation");
        let seen = provider.vends_for(id).last().map(crate::provider::LoggedVend::vend);
        if seen.is_none() && provider.may_still_vend_for(id) {
            return;
        }
        let claimed = self.records(id, &Event::Claimed, None);
        let is_interrupted = self.now < self.options.faults_end && self.chance.happens(20);
        if !claimed.moved || is_interrupted {
            return;
        }
        let fence = claimed.lifecycle.fence;
        let word = match seen {
            Some(vend) => Event::OperatorVended { fence, vend },
            None => Event::OperatorNotVended { fence },
        };
        self.records(id, &word, None);
    }
}
