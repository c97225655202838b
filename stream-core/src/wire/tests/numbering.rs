//! Numbers shifted by what was dropped or inserted before them.

use proptest::prelude::*;

use crate::wire::numbering::WireNumbering;

#[test]
fn a_thing_made_here_takes_the_next_free_number_and_shifts_later_ones() {
    let mut numbering = WireNumbering::default();
    assert_eq!(numbering.open(0, true), Some(0));
    assert_eq!(numbering.open(1, false), None);
    assert_eq!(numbering.insert(), 1);
    assert_eq!(numbering.open(2, true), Some(2));
    assert_eq!(numbering.open(3, true), Some(3));
    assert_eq!(numbering.insert(), 4);
    assert_eq!(numbering.open(4, false), None);
    assert_eq!(numbering.open(5, true), Some(5));
}

#[test]
fn a_thing_that_comes_late_keeps_its_place_before_an_inserted_one() {
    let mut numbering = WireNumbering::default();
    assert_eq!(numbering.open(1, true), Some(1));
    assert_eq!(numbering.insert(), 2);
    assert_eq!(numbering.open(0, true), Some(0));
    assert_eq!(numbering.open(2, true), Some(3));
}

#[test]
fn gaps_of_the_upstream_stay_unless_positions_count() {
    for (dense, expected) in [(false, [Some(3), Some(5)]), (true, [Some(0), Some(1)])] {
        let mut numbering = WireNumbering::new(dense);
        assert_eq!([numbering.open(3, true), numbering.open(5, true)], expected);
    }
}

#[test]
fn things_with_one_number_are_dropped_only_if_all_are() {
    let mut numbering = WireNumbering::default();
    assert_eq!(numbering.open(0, false), None);
    assert_eq!(numbering.open(0, false), None);
    assert_eq!((numbering.shifted(1), numbering.left(0), numbering.left(1)), (0, Some(false), None));
    assert_eq!(numbering.open(0, true), Some(0));
    assert_eq!(numbering.open(0, false), None);
    assert_eq!((numbering.open(1, true), numbering.left(0)), (Some(1), Some(true)));
}

/// What happens next: a thing comes, so many numbers behind the last one, and leaves or does not; or one is made here.
fn happens() -> impl Strategy<Value = (Option<u64>, bool)> {
    (prop::option::of(1_u64..4), any::<bool>())
}

proptest! {
    #[test]
    fn in_order_a_number_is_shifted_by_how_much_was_dropped_and_inserted(
        dense in any::<bool>(),
        all in prop::collection::vec(happens(), 0..40),
    ) {
        let mut numbering = WireNumbering::new(dense);
        let (mut came, mut dropped, mut inserted, mut left) = (0, 0, 0, Vec::new());
        for (step, leaves) in all {
            let Some(step) = step else {
                let made = numbering.insert();
                prop_assert_eq!(made, left.last().map_or(0, |last| last + 1));
                inserted += 1;
                left.push(made);
                continue;
            };
            came += step;
            let number = came - 1;
            let expected = if dense { left.len() as u64 } else { number - dropped + inserted };
            prop_assert_eq!(numbering.open(number, leaves), leaves.then_some(expected));
            prop_assert_eq!(numbering.left(number), Some(leaves));
            dropped += u64::from(!leaves);
            left.extend(leaves.then_some(expected));
        }
        prop_assert!(left.is_sorted_by(|one, next| one < next), "{left:?}");
    }
}
