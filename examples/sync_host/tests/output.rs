//! The example runs, and says what it should, in a build without tokio.

use std::process::Command;

#[test]
fn a_sync_host_runs_a_policy_that_never_waits() {
    let output = Command::new(env!("CARGO_BIN_EXE_sync_host")).output().unwrap();
    let said = "\
data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"On it.\"}]},\"index\":0}]}

data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"ls\",\"args\":{}}}]},\"finishReason\":\"STOP\",\"index\":0}]}

";
    assert_eq!(String::from_utf8(output.stdout).unwrap(), said);
}

#[test]
fn its_dependencies_have_no_tokio() {
    let arguments = ["tree", "--package", "sync_host", "--edges", "normal", "--prefix", "none", "--offline"];
    let tree =
        Command::new(env!("CARGO")).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    let tree = String::from_utf8(tree.stdout).unwrap();
    let names: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!((names.contains(&"stream-core"), names.contains(&"tokio")), (true, false), "{names:?}");
}
