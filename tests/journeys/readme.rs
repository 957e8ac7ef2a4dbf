//! The README's own commands, run in a shell as they are written.

use std::{fs, process::Command};

use serde_json::Value;

use crate::{
    env::{directory, env},
    installed,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_requests_of_the_readme_log_in_buy_and_ask_again() {
    let merchant = env().open_merchant().await;
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).unwrap();
    let script = fenced_blocks(&readme).into_iter().find(|block| block.contains("curl")).unwrap();
    assert_eq!(script.matches("curl ").count(), 3, "three requests, each one curl");
    installed::needs("curl");
    let typed = Command::new("sh").args(["-eu", "-c", &script]).current_dir(directory()).output().unwrap();
    let printed = String::from_utf8(typed.stdout).unwrap();
    assert!(typed.status.success(), "{printed}{}", String::from_utf8_lossy(&typed.stderr));

    let answers: Vec<Value> =
        serde_json::Deserializer::from_str(&printed).into_iter().collect::<Result<_, _>>().unwrap();
    let [bought, asked] = answers.as_slice() else { panic!("{printed}") };
    assert_eq!(bought["status"], "SUCCESSFUL", "{printed}");
    assert_eq!(bought, asked);
    drop(merchant);
}

#[test]
fn the_readme_has_the_two_commands_on_lines_of_their_own() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).unwrap();
    let lines: Vec<String> = fenced_blocks(&readme)
        .iter()
        .flat_map(|block| block.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    for command in ["cargo sandbox", "cargo test"] {
        assert!(lines.iter().any(|line| line == command), "{command}");
    }
}

fn fenced_blocks(text: &str) -> Vec<String> {
    let parts = text.split("\n```");
    let blocks = parts.skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    blocks.map(|(_language, block)| format!("{block}\n")).collect()
}
