//! Which of the candidates at one place it is, if it is one.

use crate::machine::{Machine, Outcome, Unit};
use crate::options::{ScanOptions, WINDOW};
use crate::plan::Mark;
use crate::set::Plans;

/// What became of the candidates at one place.
pub(crate) enum Decision {
    Wait,
    Take(Box<Machine>),
    /// None of them is one. What has no marker of its own is not looked for again before `through`; `fits` tells how
    /// far the text fitted each of the dialects.
    None {
        through: usize,
        fits: Vec<(usize, usize)>,
    },
}

/// Runs the candidates of one place. The one that shows first what it is wins, of several the first. Where the name matters as well, the decision
/// waits for the name, as far as the window reaches.
pub(crate) fn decide(
    machines: &mut Vec<Machine>,
    plans: &Plans,
    options: &ScanOptions,
    text: &[u8],
    (ended, needs_name): (bool, bool),
) -> Decision {
    let mut waits = false;
    let mut through = 0;
    let mut unsure: Option<(usize, usize)> = None;
    for (at, machine) in machines.iter_mut().enumerate() {
        let only_whole = match machine.unit {
            Unit::First { plan, .. } | Unit::Next { plan, .. } => {
                let plan = &plans.dialects[plan];
                plan.dialect.only_whole || machine.mark(plan) == Mark::Region
            }
            _ => false,
        };
        let window = if only_whole { options.limit } else { WINDOW };
        let short = text.len() < window;
        machine.run(plans, &text[..text.len().min(window)], ended && short, options);
        if let (Some(Outcome::Fail { end, .. }), None, true) =
            (&machine.outcome, machine.confirmed, options.malformed && machine.names_a_line(plans, text))
        {
            machine.confirmed = Some(*end);
        }
        let reached = match &machine.outcome {
            Some(Outcome::Fail { end, .. }) => *end,
            _ => text.len().min(window),
        };
        let mut is_unsure = options.every_reading && machine.is_named(plans);
        match (&machine.outcome, machine.confirmed) {
            (_, Some(_)) => is_unsure = false,
            (Some(Outcome::Fail { end, .. }), None) if only_whole => through = through.max(*end),
            (Some(_), None) => {}
            (None, None) if short && !ended => waits = true,
            (None, None) if only_whole => through = through.max(text.len().min(window)),
            // Behind its marker only white space came so far: a client's parser may not care how much.
            (None, None) => is_unsure |= options.malformed && is_call(machine) && !short,
        }
        if is_unsure && unsure.is_none_or(|(furthest, _)| furthest < reached) {
            unsure = Some((reached, at));
        }
    }
    let first = machines.iter().filter_map(|machine| machine.confirmed).min();
    if let Some(at) = machines.iter().position(|machine| machine.confirmed == first && first.is_some()) {
        let is_unnamed = machines[at].outcome.is_none() && machines[at].name(text).is_none();
        if needs_name && is_unnamed && text.len() < WINDOW && !ended {
            return Decision::Wait;
        }
        return Decision::Take(Box::new(machines.swap_remove(at)));
    }
    if let (Some((_, at)), false) = (unsure, waits) {
        return Decision::Take(Box::new(machines.swap_remove(at)));
    }
    if waits {
        return Decision::Wait;
    }
    let has_marker = |machine: &&Machine| match machine.unit {
        Unit::First { plan, .. } => machine.mark(&plans.dialects[plan]) != Mark::Region,
        _ => false,
    };
    let fits =
        machines.iter().filter(has_marker).filter_map(|machine| match (machine.unit, &machine.outcome) {
            (Unit::First { plan, .. }, Some(Outcome::Fail { end, .. })) => Some((*end, plan)),
            // How much has come behind the window depends on the cut.
            (Unit::First { plan, .. }, None) => Some((text.len().min(WINDOW), plan)),
            _ => None,
        });
    Decision::None { through, fits: fits.collect() }
}

fn is_call(machine: &Machine) -> bool {
    matches!(machine.unit, Unit::First { .. } | Unit::Next { .. })
}
