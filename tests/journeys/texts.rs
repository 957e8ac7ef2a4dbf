//! What an integrator writes about a purchase: a comment of several lines that shows harmlessly wherever it shows, and
//! names that cannot look like others.

use acceptance::surface::Surface;

use crate::{
    order::Order,
    town::{directory, town},
};

/// What looks like another answer, another line of a table and another entry of a log, to whoever prints it as it is.
const COMMENT: &str = "for the kiosk\r\n\tSUCCESSFUL <b>&\n{\"level\":\"ERROR\"}";

/// Of each kind that cannot be seen: format, private use, unassigned, filler, variation selector.
const UNSEEN: [(&str, &str); 9] = [
    ("soft hyphen", "\u{ad}"),
    ("zero-width space", "\u{200b}"),
    ("zero-width joiner", "\u{200d}"),
    ("word joiner", "\u{2060}"),
    ("tag", "\u{e0041}"),
    ("private use", "\u{e000}"),
    ("unassigned", "\u{378}"),
    ("filler", "\u{3164}"),
    ("variation selector", "\u{fe0f}"),
];

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[tokio::test]
async fn a_comment_keeps_its_lines_and_tabs_and_shows_them_harmlessly() {
    let (shop, meter) = (town().open_shop().await, town().meter());
    let order = shop.order(&meter).reference("lines-1").with("comment", &quoted(COMMENT));
    let bought = shop.confirm(&order).await.expect(200);
    let read = shop.get(&format!("/public/v1/purchases/{}", bought.id())).await.expect(200);
    assert_eq!(read.str("/comment"), COMMENT);
    assert_eq!(read.header("content-type"), Some("application/json"));
    assert_eq!(read.header("x-content-type-options"), Some("nosniff"));

    let id = bought.id().to_string();
    for form in [&["purchases", "show", &*id][..], &["--json", "purchases", "show", &id]] {
        let told = vendctl(form);
        let command = told.chars().find(|character| character.is_control() && *character != '\n');
        assert_eq!(command, None, "{told:?}");
        let forged =
            |line: &str| line.trim_start().starts_with("SUCCESSFUL") || line.starts_with("{\"level\"");
        assert!(!told.lines().any(forged), "{told}");
    }
    let facts: serde_json::Value =
        serde_json::from_str(&vendctl(&["--json", "purchases", "show", &id])).unwrap();
    assert_eq!(facts["comment"], COMMENT);

    let mut logs = 0;
    for file in std::fs::read_dir(directory().join("target/sandbox")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "log") {
            let log = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            assert!(!log.contains("for the kiosk"), "a comment is in {}", path.display());
            logs += 1;
        }
    }
    assert!(logs > 0, "no log was looked at");
}

#[tokio::test]
async fn a_comment_holds_no_other_control_character_and_nothing_that_reorders_what_is_read() {
    let (shop, meter) = (town().open_shop().await, town().meter());
    for command in ["\0", "\u{8}", "\u{b}", "\u{1b}[2J", "\u{85}", "\u{202e}", "\u{2028}", "\u{feff}"] {
        let order = shop.order(&meter).with("comment", &quoted(command));
        for answer in [shop.validate(&order).await, shop.confirm(&order).await] {
            assert_eq!(answer.refusal(), (400, "invalid_argument", Some("comment")), "{command:?}");
        }
    }
    assert_eq!(shop.rows(), "0|0|0|0|0");
}

#[tokio::test]
async fn a_reference_and_a_tag_that_hold_what_cannot_be_seen_are_refused_on_every_call() {
    let (shop, meter) = (town().open_shop().await, town().meter());
    let current = shop.on(Surface::Current);
    for (what, unseen) in UNSEEN {
        let reference = quoted(&format!("INV{unseen}-1"));
        let order = shop.order(&meter).with("external_reference", &reference);
        let question = Order::retry(&meter, "x").with("external_reference", &reference);
        let asked = shop.post("/public/v1/purchases/retry", &question.body()).await;
        for answer in [shop.validate(&order).await, shop.confirm(&order).await, asked] {
            assert_eq!(answer.refusal(), (400, "invalid_argument", Some("external_reference")), "{what}");
            assert!(answer.sentence().contains("invisible"), "{}", answer.text);
        }
        let order = current.order(&meter).with("source_tag", &reference);
        for answer in [current.validate(&order).await, current.confirm(&order).await] {
            assert_eq!((answer.status, answer.refusal().1), (400, "invalid_argument"), "{what}");
            assert!(answer.text.contains("source_tag"), "{}", answer.text);
        }
    }
    assert_eq!(shop.rows(), "0|0|0|0|0");
}

#[tokio::test]
async fn a_reference_may_be_written_in_any_script() {
    let (shop, meter) = (town().open_shop().await, town().meter());
    let reference = "№ 5 / ÄẞЖ 中文 ไทย हिन्दी العربية 🧾";
    let order = shop.order(&meter).with("external_reference", &quoted(reference));
    let bought = shop.confirm(&order).await.expect(200);
    assert_eq!(shop.retry(&meter, reference).await.expect(200).id(), bought.id());
}

fn vendctl(words: &[&str]) -> String {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_acceptance-vendctl"))
        .env_clear()
        .args(["--actor", "naledi", "--settings"])
        .arg(&town().facts().operator_settings)
        .args(words)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
