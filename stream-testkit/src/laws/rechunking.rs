//! The result does not depend on how the bytes are cut or the deltas are split.

use super::case::{Breach, Case};
use super::events::settled;
use super::standing::Standing;
use crate::Cut;
use crate::replay::Replayed;

/// A new cut changes no byte, keep-alives and the order between choices aside. A new split changes nothing that a client
/// ends up with. Nor does an earlier run: no state is shared between streams.
pub(super) fn check(case: &Case<'_>) -> Result<Standing, Breach> {
    let plain = case.replay().cut(Cut::Event).run();
    same_bytes(
        "the bytes of the run before, with the same input",
        &plain,
        &case.replay().cut(Cut::Event).run(),
    )?;
    same_bytes("the bytes of the run that was cut after each event", &plain, &case.replay().run())?;
    if plain.whole {
        return Ok(Standing::Held);
    }
    same_view("the result with deltas as they came", &plain, "split", &case.split().run())?;
    same_view("the result with deltas as they came", &plain, "merged", &case.merged().run())?;
    Ok(Standing::Held)
}

fn same_bytes(what: &str, expected: &Replayed, found: &Replayed) -> Result<(), Breach> {
    let (expected, found) = (settled(&expected.bytes()), settled(&found.bytes()));
    if expected == found { Ok(()) } else { Breach::differ(what, &expected, &found) }
}

fn same_view(what: &str, expected: &Replayed, how: &str, found: &Replayed) -> Result<(), Breach> {
    let (expected, found) = (expected.view(), found.view());
    if expected == found {
        return Ok(());
    }
    Breach::new(format!("{what}: {expected:?}"), format!("with deltas {how}: {found:?}"))
}
