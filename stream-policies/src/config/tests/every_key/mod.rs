//! No setting without effect: for every key that a policy file may have there is a row with two files that differ in this
//! key alone, and an answer of which they make something different. The keys are asked of the deserialisers themselves, so
//! that a key without a row is a failure with its name.

mod gates;
mod keys;
mod network;
mod oracle;
mod row;
mod text;
mod texts;

use std::collections::BTreeSet;

use self::row::Row;

fn rows() -> Vec<Row> {
    [gates::rows(), texts::rows(), text::rows(), network::rows()].into_iter().flatten().collect()
}

#[test]
fn every_key_of_a_policy_file_has_a_row_and_every_row_a_key() {
    let keys = keys::all();
    let rows: BTreeSet<String> = rows().iter().map(|row| row.key.clone()).collect();
    let without_row: Vec<_> = keys.difference(&rows).collect();
    assert!(without_row.is_empty(), "keys whose effect nobody has shown: {without_row:#?}");
    let without_key: Vec<_> = rows.difference(&keys).collect();
    assert!(without_key.is_empty(), "rows of keys that there are not: {without_key:#?}");
}

#[test]
fn for_every_key_there_is_an_answer_for_which_it_matters() {
    // Rows of the network wait more than they compute: each has a thread.
    let waiting: Vec<_> = (0..network::rows().len())
        .map(|at| std::thread::spawn(move || network::rows().swap_remove(at).check()))
        .collect();
    let others = [gates::rows(), texts::rows(), text::rows()].into_iter().flatten();
    let checks: Vec<Result<(), String>> = others.map(|row| row.check()).collect();
    let checks = checks.into_iter().chain(waiting.into_iter().map(|check| check.join().unwrap()));
    let wrong: Vec<String> = checks.filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
