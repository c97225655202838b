//! Numbers of blocks (rule 17).

use super::*;

#[test]
fn only_the_number_of_a_shifted_event_changes() {
    let odd = "event: content_block_delta\r\ndata:{ \"index\" : 1,\"x\":{\"index\":9}, \"type\":\"content_block_delta\",\
               \"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"} }\r\n\r\n";
    Client::new()
        .drop(start_text(0) + &stop(0))
        .send(start_text(1))
        .send(odd)
        .got(start_text(0) + &odd.replace("\"index\" : 1,", "\"index\" : 0,"));
}

#[test]
fn data_of_several_lines_is_renumbered_on_one() {
    let split = "data: {\"type\":\"content_block_stop\",\ndata: \"index\":1}\n\n";
    Client::new()
        .drop(start_text(0) + &stop(0))
        .send(start_text(1))
        .send(split)
        .got(start_text(0) + &event("content_block_stop", r#"{"type":"content_block_stop", "index":0}"#));
}

#[test]
fn a_gap_of_the_upstream_stays_one() {
    Client::new()
        .drop(start_text(1) + &stop(1))
        .send(start_text(4) + &text(4, "Hi") + &stop(4))
        .got(start_text(3) + &text(3, "Hi") + &stop(3));
}

#[test]
fn a_number_opened_twice_counts_once() {
    let rekey = |parts: &mut Vec<Part>| parts.iter_mut().for_each(|part| part.key = Some(BlockKey(7)));
    Client::new()
        .drop(start_text(0))
        .send_as(start_thinking(0) + &thinking(0, "hm") + &stop(0), rekey)
        .send(start_text(1))
        .got(start_thinking(0) + &thinking(0, "hm") + &stop(0) + &start_text(1));
    Client::new()
        .send(start_thinking(0))
        .send_as(start_text(0), |parts| {
            rekey(parts);
            set(parts, Fate::Dropped);
        })
        .send(stop(0) + &start_text(1))
        .got(start_thinking(0) + &stop(0) + &start_text(1));
}

#[test]
fn blocks_that_overlap_keep_their_own_numbers() {
    Client::new()
        .drop(start_call(0, "a"))
        .send(start_call(1, "b"))
        .drop(input(0, "{}"))
        .send(input(1, "{}"))
        .drop(stop(0))
        .send(start_call(2, "c") + &stop(1) + &stop(2))
        .got(start_call(0, "b") + &input(0, "{}") + &start_call(1, "c") + &stop(0) + &stop(1));
}
