//! What clients read.

use stream_core::{Attention, Chain, Config, Needs, Request, Stage, Verdict, each_call, wire};

use super::drive::drive;
use super::plan::split;
use crate::WireKind;
use crate::laws::{Seen, Witness, is_released};
use crate::models;

/// Behind a gate that drops `rm`, every client reads only calls that were released, and none of `rm`.
///
/// # Panics
///
/// When a client reads another call.
pub fn agreement(data: &[u8]) {
    let (mut plan, body) = split(data);
    let kind = WireKind::ALL[plan.below(WireKind::ALL.len())];
    let choices = 1 + u32::try_from(plan.below(2)).unwrap_or_default();
    let format = wire::named(kind.name()).expect("a format of that name");
    let config = Config::default().format(format).request(Request::new().choices(choices));
    let seen = Seen::default();
    let gate = each_call(|call, _| match call.name() {
        "rm" => Verdict::drop("rm is not allowed"),
        _ => Verdict::Release,
    });
    let witness = Witness { needs: Needs::nothing().calls(Attention::Completed), seen: seen.clone() };
    let chain: Chain = [Stage::from(gate), Stage::from(witness)].into_iter().collect();
    let driven = drive(config, chain, plan.cut(body));
    let released = seen.calls();
    for model in models::of(kind).filter(|model| choices == 1 || !model.asks_for_one()) {
        for call in model.read(&driven.bytes).calls {
            // A string for arguments goes on in the stream of one provider, and no tool takes a string.
            let is_begin = call.arguments.starts_with('"')
                && released
                    .iter()
                    .any(|known| known.name == call.name && known.arguments.starts_with(&call.arguments));
            let known = (is_begin || is_released(&released, &call)) && call.name != "rm";
            assert!(known, "{} reads {call:?}, released {released:?}", model.name());
        }
    }
}
