//! What the strategies make is valid in every format, and is what they say.

#![allow(clippy::unwrap_used, reason = "a test")]

use proptest::prelude::*;
use stream_testkit::conformance::{Ended, check};
use stream_testkit::{WireKind, strategies};

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_script_is_valid_in_every_format(script in strategies::scripts()) {
        for kind in WireKind::ALL {
            let log = script.to_log(kind);
            prop_assert_eq!(log.kind(), Some(kind));
            let report = check(kind, log.bytes());
            prop_assert_eq!(report.to_string(), "", "{}", kind);
        }
    }

    #[test]
    fn every_script_that_breaks_off_lacks_its_plain_end(script in strategies::broken_off_scripts()) {
        for kind in WireKind::ALL {
            let ended = check(kind, script.to_log(kind).bytes()).view().ended;
            prop_assert!(matches!(ended, Ended::Open | Ended::Error), "{} {:?}", kind, ended);
        }
    }

    #[test]
    fn arguments_are_objects(arguments in strategies::arguments()) {
        let value: serde_json::Value = serde_json::from_str(&arguments).unwrap();
        prop_assert!(value.is_object());
        prop_assert_eq!(value.to_string(), arguments);
    }

    #[test]
    fn every_cut_can_be_written_and_read(cut in strategies::cuts()) {
        prop_assert_eq!(cut.to_string().parse(), Ok(cut));
    }
}
