//! A response that is not streamed.

use serde_json::Value;

use super::{
    super::{
        Ended, Rule, View,
        json::{brief, filled, list, text},
        report::Log,
    },
    Responses,
    item::Item,
};

/// Checks a whole response.
pub(in super::super) fn check_whole(body: &Value, log: &mut Log) -> View {
    if filled(&body["error"]) {
        return View { ended: Ended::Error, ..View::default() };
    }
    if body["object"] != "response" {
        log.broken(
            Rule::Envelope,
            format!("expected object \"response\", found {}", brief(body.get("object"))),
        );
    }
    if !body["output"].is_array() {
        log.broken(Rule::Shape, format!("expected a list of output, found {}", brief(body.get("output"))));
    }
    let mut responses = Responses { usage: filled(&body["usage"]), ..Responses::default() };
    for item in list(body, "output") {
        let item = Item::whole(item, log);
        if item.is_call()
            && !item.call_id.is_empty()
            && responses.items.iter().any(|known| known.repeats(&item))
        {
            log.broken(
                Rule::CallIdentity,
                format!("expected a call_id of its own, found {:?} again", item.call_id),
            );
        }
        responses.items.push(item);
    }
    responses.filtered = body["incomplete_details"]["reason"] == "content_filter";
    match text(body, "status") {
        Some(status @ ("completed" | "incomplete" | "failed")) => {
            responses.terminal = Some(status.to_owned());
        }
        _ => {
            let found = brief(body.get("status"));
            log.broken(
                Rule::Ending,
                format!("expected status completed, incomplete or failed, found {found}"),
            );
            responses.terminal = Some("in_progress".to_owned());
            return View { ended: Ended::Open, ..responses.finish(log) };
        }
    }
    responses.finish(log)
}
