//! The pauses, and what is told, with a part that does as it is told and a clock that is moved by hand.

use super::*;

/// What a part is found to do, from look to look.
#[derive(Default)]
struct Puppet {
    condition: Option<Condition>,
    cannot_begin: Option<&'static str>,
    forgets: Option<&'static str>,
    begun: u32,
    killed: u32,
}

impl Part for Puppet {
    fn name(&self) -> &'static str {
        "puppet"
    }

    fn log(&self) -> PathBuf {
        "puppet.log".into()
    }

    fn forgets(&self) -> Option<&'static str> {
        self.forgets
    }

    fn condition(&mut self) -> Condition {
        self.condition.clone().unwrap_or(Condition::Up)
    }

    fn begin_again(&mut self) -> Result<(), String> {
        self.begun += 1;
        self.cannot_begin.map_or(Ok(()), |why| Err(why.to_owned()))
    }

    fn kill(&mut self) {
        self.killed += 1;
    }
}

fn at(milliseconds: u64) -> Monotonic {
    Monotonic::from_origin(Duration::from_millis(milliseconds))
}

fn ended() -> Condition {
    Condition::Ended("it broke".to_owned())
}

/// Tends it every 50 ms within these bounds, and writes down when what was told.
fn tended(watch: &mut Watch, puppet: &mut Puppet, from: u64, to: u64) -> Vec<(u64, String)> {
    let mut told = Vec::new();
    for moment in (from..to).step_by(50) {
        let report = watch.tend(puppet, at(moment));
        told.extend(report.map(|report| (moment, report.to_string())));
    }
    told
}

#[test]
fn what_ends_again_and_again_is_started_after_pauses_that_grow_up_to_a_bound() {
    let (mut watch, mut puppet) =
        (Watch::begin(at(0)), Puppet { condition: Some(ended()), ..Puppet::default() });
    let told = tended(&mut watch, &mut puppet, 0, 60_000);
    let pauses = ["250ms", "500ms", "1s", "2s", "4s"];
    let mut expected =
        vec![format!("puppet has ended (it broke; see puppet.log); it is started again in {}.", pauses[0])];
    expected.extend(pauses[1..].iter().map(|pause| {
        format!("puppet did not start (it broke; see puppet.log); it is tried again in {pause}.")
    }));
    expected.push("puppet did not start (it broke; see puppet.log); it is tried again every 5s.".to_owned());
    let words: Vec<&String> = told.iter().map(|(_moment, words)| words).collect();
    assert_eq!(words, expected.iter().collect::<Vec<_>>(), "the same is not told twice");
    assert_eq!(told[1].0, 300, "the first pause is over, and the next look finds it ended");
    assert_eq!(puppet.begun, 5 + (60_000 - 8_000) / 5_050);
}

#[test]
fn who_is_up_again_is_told_of_and_who_stays_up_has_short_pauses_again() {
    let (mut watch, mut puppet) =
        (Watch::begin(at(0)), Puppet { condition: Some(ended()), ..Puppet::default() });
    tended(&mut watch, &mut puppet, 0, 2_000);
    puppet.condition = Some(Condition::Starting);
    assert_eq!(tended(&mut watch, &mut puppet, 2_000, 20_000), []);
    puppet.condition = Some(Condition::Up);
    assert_eq!(tended(&mut watch, &mut puppet, 20_000, 30_000), [(20_000, "puppet is up again.".to_owned())]);
    puppet.condition = Some(ended());
    let told = tended(&mut watch, &mut puppet, 30_000, 30_050);
    assert!(told[0].1.ends_with("it is started again in 4s."), "it was up for a moment only: {told:?}");
    puppet.condition = Some(Condition::Up);
    tended(&mut watch, &mut puppet, 40_000, 80_000);
    puppet.condition = Some(ended());
    let told = tended(&mut watch, &mut puppet, 80_000, 80_050);
    assert!(told[0].1.ends_with("it is started again in 250ms."), "{told:?}");
}

#[test]
fn who_is_not_up_in_time_is_ended_and_started_again() {
    let (mut watch, mut puppet) =
        (Watch::begin(at(0)), Puppet { condition: Some(ended()), ..Puppet::default() });
    tended(&mut watch, &mut puppet, 0, 100);
    puppet.condition = Some(Condition::Starting);
    let told = tended(&mut watch, &mut puppet, 250, 62_000);
    let expected =
        "puppet did not start (it was not up within 60 s; see puppet.log); it is tried again in 500ms.";
    assert_eq!(told, [(60_250, expected.to_owned())]);
    assert_eq!((puppet.killed, puppet.begun), (1, 2));
}

#[test]
fn who_cannot_even_be_begun_is_tried_again() {
    let (mut watch, mut puppet) =
        (Watch::begin(at(0)), Puppet { condition: Some(ended()), ..Puppet::default() });
    puppet.cannot_begin = Some("there is no such file");
    let told = tended(&mut watch, &mut puppet, 0, 1_000);
    assert!(told[1].1.starts_with("puppet did not start (there is no such file; "), "{told:?}");
    (puppet.cannot_begin, puppet.condition) = (None, Some(Condition::Up));
    let told = tended(&mut watch, &mut puppet, 1_000, 5_000);
    assert_eq!(told.last().unwrap().1, "puppet is up again.");
    (puppet.forgets, puppet.condition) = (Some("its strings are tangled"), Some(ended()));
    tended(&mut watch, &mut puppet, 5_000, 5_050);
    puppet.condition = Some(Condition::Up);
    let told = tended(&mut watch, &mut puppet, 5_050, 9_000);
    assert_eq!(told.last().unwrap().1, "puppet is up again: its strings are tangled.");
}
