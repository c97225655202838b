//! The load program, with a small load.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::process::{Command, Output};

#[test]
fn every_stream_arrives_on_every_way_at_any_speed() {
    let options =
        ["speed", "--streams", "50", "--each", "2", "--chunks", "20", "--rounds", "1", "--pace-ms", "5"];
    let output = load(&options);
    let rows = rows(&output);
    let errors: Vec<(&str, &str)> = rows.iter().map(|row| (row[0], row[row.len() - 1])).collect();
    let none = ["direct", "bare", "layer", "chain"].map(|way| (way, "0"));
    assert_eq!(errors, [none, none].concat());
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn all_streams_are_open_at_once() {
    let output = load(&["hold", "--streams", "50", "--chunks", "10", "--pace-ms", "100"]);
    let rows = rows(&output);
    let open: Vec<(&str, &str, &str)> = rows.iter().map(|row| (row[0], row[1], row[6])).collect();
    assert_eq!(open, [("bare", "50", "0"), ("layer", "50", "0"), ("chain", "50", "0")]);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn every_fate_has_its_right_answer_and_leaves_nothing_over() {
    let options = ["soak", "--streams", "80", "--seconds", "1", "--pace-ms", "10", "--idle-ms", "1500"];
    let output = load(&options);
    let said = str::from_utf8(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let rows = rows(&output);
    let fates: Vec<(bool, &str)> = rows[..11].iter().map(|row| (row[1] != "0", row[2])).collect();
    assert_eq!(fates, [(true, "0"); 11], "{said}");
}

#[test]
#[ignore = "needs Envoy: tests/envoy/run"]
fn every_stream_arrives_through_envoy() {
    let ways = ["--ways", "envoy,envoy-pass,envoy-layer"];
    let options =
        ["speed", "--streams", "50", "--each", "2", "--chunks", "20", "--rounds", "1", "--pace-ms", "5"];
    let output = load(&[&options[..], &ways].concat());
    let rows = rows(&output);
    let errors: Vec<(&str, &str)> = rows.iter().take(6).map(|row| (row[0], row[row.len() - 1])).collect();
    let none = ["envoy", "envoy-pass", "envoy-layer"].map(|way| (way, "0"));
    assert_eq!(errors, [none, none].concat());
    assert_eq!(output.status.code(), Some(0));
    let output =
        load(&[&["hold", "--streams", "50", "--chunks", "20", "--pace-ms", "100"][..], &ways].concat());
    let rows = self::rows(&output);
    let open: Vec<(&str, &str, &str)> = rows.iter().map(|row| (row[0], row[1], row[6])).collect();
    assert_eq!(open, [("envoy", "50", "0"), ("envoy-pass", "50", "0"), ("envoy-layer", "50", "0")]);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn ways_through_envoy_say_what_they_need() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_load"));
    let output = command.args(["hold", "--streams", "1", "--ways", "envoy"]).env_remove("ENVOY_BIN").output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        str::from_utf8(&output.stderr).unwrap(),
        "load: expected the path of Envoy in ENVOY_BIN (tests/envoy/run installs target/envoy/python/bin/envoy), found none\n"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn more_streams_than_open_files_are_refused_with_what_is_needed() {
    let output = load(&["hold", "--streams", "9000000000"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.starts_with("load: expected 18000000064 open files to be allowed, found "), "{said}");
}

fn load(options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_load")).args(options).output().unwrap()
}

/// The cells of all tables, without their heads.
fn rows(output: &Output) -> Vec<Vec<&str>> {
    let said = str::from_utf8(&output.stdout).unwrap();
    let lines = said.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    lines
        .filter(|line| !HEADS.iter().any(|head| line.starts_with(head)))
        .map(|line| line.split(" | ").collect())
        .collect()
}

/// How the heads of tables start.
const HEADS: [&str; 4] = ["way |", "fate |", "the proxy's memory |", "left over |"];
