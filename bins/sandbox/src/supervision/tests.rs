//! The pauses and the reports, with a simulated part and a manual clock.

use super::*;

/// A part whose state the test sets.
#[derive(Default)]
struct FakePart {
    condition: Option<Condition>,
    cannot_begin: Option<&'static str>,
    forgets: Option<&'static str>,
    begun: u32,
    killed: u32,
}

impl Part for FakePart {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn log(&self) -> PathBuf {
        "fake.log".into()
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

/// Supervises it every 50 ms within these bounds, and returns the reports with their times.
fn tended(watch: &mut Watch, fake: &mut FakePart, from: u64, to: u64) -> Vec<(u64, String)> {
    let mut reports = Vec::new();
    for moment in (from..to).step_by(50) {
        let report = watch.tend(fake, at(moment));
        reports.extend(report.map(|report| (moment, report.to_string())));
    }
    reports
}

#[test]
fn what_ends_again_and_again_is_started_after_pauses_that_grow_up_to_a_bound() {
    let (mut watch, mut fake) =
        (Watch::begin(at(0)), FakePart { condition: Some(ended()), ..FakePart::default() });
    let reports = tended(&mut watch, &mut fake, 0, 60_000);
    let pauses = ["250ms", "500ms", "1s", "2s", "4s"];
    let mut expected =
        vec![format!("fake has ended (it broke; see fake.log); it is started again in {}.", pauses[0])];
    expected.extend(
        pauses[1..].iter().map(|pause| {
            format!("fake did not start (it broke; see fake.log); it is tried again in {pause}.")
        }),
    );
    expected.push("fake did not start (it broke; see fake.log); it is tried again every 5s.".to_owned());
    let words: Vec<&String> = reports.iter().map(|(_moment, words)| words).collect();
    assert_eq!(words, expected.iter().collect::<Vec<_>>(), "the same report is not repeated");
    assert_eq!(reports[1].0, 300, "the first pause is over, and the next look finds it ended");
    assert_eq!(fake.begun, 5 + (60_000 - 8_000) / 5_050);
}

#[test]
fn a_restart_is_reported_and_a_part_that_stays_up_has_short_pauses_again() {
    let (mut watch, mut fake) =
        (Watch::begin(at(0)), FakePart { condition: Some(ended()), ..FakePart::default() });
    tended(&mut watch, &mut fake, 0, 2_000);
    fake.condition = Some(Condition::Starting);
    assert_eq!(tended(&mut watch, &mut fake, 2_000, 20_000), []);
    fake.condition = Some(Condition::Up);
    assert_eq!(tended(&mut watch, &mut fake, 20_000, 30_000), [(20_000, "fake is up again.".to_owned())]);
    fake.condition = Some(ended());
    let reports = tended(&mut watch, &mut fake, 30_000, 30_050);
    assert!(reports[0].1.ends_with("it is started again in 4s."), "it was up for a moment only: {reports:?}");
    fake.condition = Some(Condition::Up);
    tended(&mut watch, &mut fake, 40_000, 80_000);
    fake.condition = Some(ended());
    let reports = tended(&mut watch, &mut fake, 80_000, 80_050);
    assert!(reports[0].1.ends_with("it is started again in 250ms."), "{reports:?}");
}

#[test]
fn a_part_that_is_not_up_in_time_is_killed_and_restarted() {
    let (mut watch, mut fake) =
        (Watch::begin(at(0)), FakePart { condition: Some(ended()), ..FakePart::default() });
    tended(&mut watch, &mut fake, 0, 100);
    fake.condition = Some(Condition::Starting);
    let reports = tended(&mut watch, &mut fake, 250, 62_000);
    let expected =
        "fake did not start (it was not up within 60 s; see fake.log); it is tried again in 500ms.";
    assert_eq!(reports, [(60_250, expected.to_owned())]);
    assert_eq!((fake.killed, fake.begun), (1, 2));
}

#[test]
fn a_part_that_cannot_be_started_is_retried() {
    let (mut watch, mut fake) =
        (Watch::begin(at(0)), FakePart { condition: Some(ended()), ..FakePart::default() });
    fake.cannot_begin = Some("there is no such file");
    let reports = tended(&mut watch, &mut fake, 0, 1_000);
    assert!(reports[1].1.starts_with("fake did not start (there is no such file; "), "{reports:?}");
    (fake.cannot_begin, fake.condition) = (None, Some(Condition::Up));
    let reports = tended(&mut watch, &mut fake, 1_000, 5_000);
    assert_eq!(reports.last().unwrap().1, "fake is up again.");
    (fake.forgets, fake.condition) = (Some("its state is lost"), Some(ended()));
    tended(&mut watch, &mut fake, 5_000, 5_050);
    fake.condition = Some(Condition::Up);
    let reports = tended(&mut watch, &mut fake, 5_050, 9_000);
    assert_eq!(reports.last().unwrap().1, "fake is up again: its state is lost.");
}
