//! Where the network cuts.

use std::num::NonZeroUsize;

use proptest::prelude::*;

use crate::Cut;

/// Any cut; shrinks to the one after each event.
pub fn cuts() -> impl Strategy<Value = Cut> {
    prop_oneof![
        Just(Cut::Event),
        Just(Cut::Original),
        Just(Cut::Whole),
        (1..200_usize).prop_map(|size| NonZeroUsize::new(size).map_or(Cut::Byte, Cut::Size)),
        any::<u64>().prop_map(|seed| Cut::Random { seed }),
        Just(Cut::Byte),
    ]
}
