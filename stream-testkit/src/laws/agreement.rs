//! Every client reads what was released, and nothing else.

use std::collections::BTreeSet;

use stream_core::{Action, Attention, Channel, Needs};

use super::case::{Breach, Case, did};
use super::standing::Standing;
use super::witness::{Seen, Witness};
use crate::models::{self, Call, Reading, Said};
use crate::replay::Replayed;
use crate::{Script, WireKind};

/// What was released is what a policy behind the tested one is shown; what is read is what each
/// [model](crate::models) makes of the bytes. Every call that is read was released, and the policy itself has nothing
/// to take out of any text that is read, in no reading of it (rule 28).
///
/// A policy that does not enforce what it decides, and one that failed open, promise nothing; nor does one about what it
/// does not look at.
pub(super) fn check(case: &Case<'_>) -> Result<Standing, Breach> {
    let stage = (case.factory)();
    let needs = stage.policy().needs(case.config.requested());
    if !stage.is_enforced() {
        return Ok(Standing::Vacuous);
    }
    let run = case.replay().run();
    let failed_open =
        did(&run, Action::Failed) && run.outcome.as_ref().is_some_and(|outcome| outcome.error.is_none());
    let kind = run.format;
    if failed_open {
        return Ok(Standing::Vacuous);
    }
    let one = case.one_choice || case.input(&run).view().choices.len() < 2;
    let readings = readings(kind, one, &run);
    let calls = calls(case, &needs, &readings)?;
    // What the writer says in place of an answer is nobody's text to take out.
    let ended = run.decisions.iter().filter(|decision| decision.action == Action::Terminated);
    let own: Vec<&str> = ended.filter_map(|decision| decision.reason.as_deref()).collect();
    let texts = texts(case, kind, &needs, &own, &readings)?;
    Ok(calls.or(texts))
}

/// What every client makes of a run's output.
fn readings(kind: WireKind, one: bool, run: &Replayed) -> Vec<(&'static str, Reading)> {
    let body = run.bytes();
    if run.whole {
        return vec![("a client of whole responses", models::read_whole(kind, &body))];
    }
    let asked = models::of(kind).filter(|model| one || !model.asks_for_one());
    asked.map(|model| (model.name(), model.read(&body))).collect()
}

/// Every call that is read is one that was released.
fn calls(case: &Case<'_>, needs: &Needs, readings: &[(&'static str, Reading)]) -> Result<Standing, Breach> {
    if needs.of_calls() == Attention::Nothing {
        return Ok(Standing::Vacuous);
    }
    let seen = Seen::default();
    let witnessed = seen.clone();
    let needs = needs.clone().structure(false);
    let replay = case.replay().policy(move || Witness { needs: needs.clone(), seen: witnessed.clone() });
    if replay.try_run().is_err() {
        // The policy turns calls into text: there are none behind it.
        return Ok(Standing::Vacuous);
    }
    let released = seen.calls();
    for (client, reading) in readings {
        for call in &reading.calls {
            if !is_released(&released, call) {
                return Breach::new(
                    format!("{client} to read only calls that were released, {}", list(&released)),
                    list(std::slice::from_ref(call)),
                );
            }
        }
    }
    Ok(Standing::held_if(readings.iter().any(|(_, reading)| !reading.calls.is_empty())))
}

/// Whether a call that a client reads is one of those that were released.
pub(crate) fn is_released(released: &[Call], call: &Call) -> bool {
    released.iter().any(|known| known.is_same(call) || is_served(known, call))
}

/// Whether both are one call of a tool of the API's own, which the policy knows by its name and the client by its type.
fn is_served(known: &Call, call: &Call) -> bool {
    use models::CallKind::Builtin;
    let both = matches!((&known.kind, &call.kind), (Builtin(_), Builtin(_)));
    both && Call { kind: call.kind.clone(), ..known.clone() }.is_same(call)
}

fn list(calls: &[Call]) -> String {
    let each = calls.iter().map(|call| format!("{:?} {} {}", call.kind, call.name, call.arguments));
    format!("[{}]", each.collect::<Vec<_>>().join(", "))
}

/// The policy, shown what was read as a plain answer, takes nothing out of it.
fn texts(
    case: &Case<'_>,
    kind: WireKind,
    needs: &Needs,
    own: &[&str],
    readings: &[(&'static str, Reading)],
) -> Result<Standing, Breach> {
    let is_seen = |said: &&Said| match said {
        Said::Content(_) => needs.of_channel(Channel::Content) != Attention::Nothing,
        Said::Reasoning(_) => needs.of_channel(Channel::Reasoning) != Attention::Nothing,
        Said::Refusal(_) => needs.of_channel(Channel::Refusal) != Attention::Nothing,
        _ => case.strings,
    };
    let said: BTreeSet<&Said> =
        readings.iter().flat_map(|(_, reading)| reading.texts.iter().filter(is_seen)).collect();
    let said: BTreeSet<&Said> = said.into_iter().filter(|said| !own.contains(&said.text())).collect();
    if said.is_empty() {
        return Ok(Standing::Vacuous);
    }
    let joined: Vec<Said> = said.iter().map(|said| (*said).clone()).collect();
    if rejudged(case, kind, &joined).is_none() {
        return Ok(Standing::Held);
    }
    for said in said {
        let Some(makes) = rejudged(case, kind, std::slice::from_ref(said)) else { continue };
        let client = readings.iter().find(|(_, reading)| reading.texts.contains(said));
        let client = client.map(|(name, _)| *name).unwrap_or_default();
        return Breach::new(
            format!("{client} to read no text that the policy takes out: it makes {makes:?} of it"),
            format!("{said:?}"),
        );
    }
    Ok(Standing::Held)
}

/// What the policy makes of texts in a plain answer, if it takes something out.
fn rejudged(case: &Case<'_>, kind: WireKind, said: &[Said]) -> Option<String> {
    let (mut content, mut reasoning, mut refusal) = (Vec::new(), Vec::new(), Vec::new());
    for said in said {
        match said {
            Said::Reasoning(text) => reasoning.push(text.as_str()),
            Said::Refusal(text) => refusal.push(text.as_str()),
            other => content.push(other.text()),
        }
    }
    let [content, reasoning, refusal] = [content, reasoning, refusal].map(|texts| texts.join(BETWEEN));
    let mut script = Script::new();
    if !reasoning.is_empty() {
        script = script.reasoning(&*reasoning);
    }
    if !content.is_empty() {
        script = script.text(&*content);
    }
    if !refusal.is_empty() {
        script = script.refusal(&*refusal);
    }
    let run = case.replay_of(&script.to_log(kind)).run();
    let takes = [Action::Edited, Action::Dropped, Action::Terminated].iter().any(|action| did(&run, *action));
    let view = run.view();
    let choice = view.choices.first();
    let found = choice.map(|choice| [&choice.content, &choice.reasoning, &choice.refusal]);
    let found = found.map(|all| all.map(String::as_str)).unwrap_or_default();
    let is_same = found.iter().copied().eq([content.as_str(), reasoning.as_str(), refusal.as_str()]);
    (takes && !is_same).then(|| found.concat())
}

/// Stands between texts that are judged at once, so that they do not make a new one.
const BETWEEN: &str = "\n\u{241e}\n";
