//! No setting without effect: for every key of the gateway's file there is a row with two files that differ in this key
//! alone, and something that a client, an operator or an upstream sees differently. The keys are asked of the program
//! itself, so that a key without a row is a failure with its name.

mod answers;
mod doors;
mod envoy;
mod keys;
mod row;
#[cfg(feature = "otel")]
mod telemetry;
mod tools;
mod upstream;

use std::collections::BTreeSet;

use futures::StreamExt as _;

use self::row::Row;

fn rows() -> Vec<Row> {
    let rows = [doors::rows(), answers::rows(), tools::rows(), envoy::rows()];
    #[allow(unused_mut)]
    let mut rows: Vec<Row> = rows.into_iter().flatten().collect();
    #[cfg(feature = "otel")]
    rows.extend(telemetry::rows());
    rows
}

#[test]
fn every_key_of_the_gateways_file_has_a_row_and_every_row_a_key() {
    let keys = keys::all();
    let rows: BTreeSet<String> = rows().iter().map(|row| row.key.to_owned()).collect();
    let without_row: Vec<_> = keys.difference(&rows).collect();
    assert!(without_row.is_empty(), "keys whose effect nobody has shown: {without_row:#?}");
    let without_key: Vec<_> = rows.difference(&keys).collect();
    assert!(without_key.is_empty(), "rows of keys that there are not: {without_key:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn for_every_key_of_the_gateways_file_there_is_a_case_in_which_it_matters() {
    let checked = futures::stream::iter(rows()).map(|row| async move { row.check().await });
    let wrong: Vec<String> =
        checked.buffer_unordered(AT_ONCE).filter_map(|result| async { result.err() }).collect().await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Most rows wait for a time to pass.
const AT_ONCE: usize = 16;
