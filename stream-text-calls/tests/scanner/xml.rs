//! Dialects made of XML are read as an XML parser reads them.

use proptest::prelude::*;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event as Xml};
use stream_text_calls::{DialectSet, Event, ProblemKind, ScanOptions, Scanner, known};

use crate::dialects::with_namespace;
use crate::seen::{Seen, call, every_cut, markup, text, unparsed};

fn anthropic() -> DialectSet {
    DialectSet::new().with(known::anthropic())
}

/// What the scanner reads from one call, the same in every cut, with a guard and without.
#[track_caller]
fn reads(written: &str, name: &str, arguments: &str) {
    let expected = [call("anthropic", name, arguments, written)];
    assert_eq!(every_cut(&anthropic(), &ScanOptions::new(), written), expected);
    assert_eq!(every_cut(&anthropic(), &ScanOptions::strict(), written), expected);
}

#[test]
fn attributes_stand_in_any_order_with_any_spacing_and_quotes() {
    for tag in [
        "<invoke name=\"f\">",
        "<invoke name='f'>",
        "<invoke name=f>",
        "<invoke  name = \"f\" >",
        "<invoke\n\tname\n=\n'f'\n>",
        "<invoke id=\"1\" name=\"f\">",
        "<invoke name=\"f\" id='x > y'>",
        "<invoke id=\"name='g'\" name=\"f\" async>",
        "<invoke name=\"f\"id=\"1\">",
        "<invoke xname=\"g\" name=\"f\" name2=\"h\">",
    ] {
        reads(&format!("{tag}</invoke>"), "f", "{}");
        reads(
            &format!("{tag}<parameter type = 'x' name=\"a\" >1</parameter ></invoke\n>"),
            "f",
            r#"{"a":"1"}"#,
        );
    }
    reads(&with_namespace("<invoke id=\"1\" name = 'f'></invoke>"), "f", "{}");
}

#[test]
fn an_element_that_closes_itself_is_empty() {
    reads("<invoke name=\"f\"/>", "f", "{}");
    reads("<invoke name=f/>", "f", "{}");
    reads(
        "<invoke name=\"f\"><parameter name=\"a\"/><parameter name='b' /></invoke>",
        "f",
        r#"{"a":"","b":""}"#,
    );
}

#[test]
fn references_sections_and_comments_say_what_they_say_in_xml() {
    let written = "<invoke name=\"f&#95;g\"><!-- first --><parameter name=\"a&amp;b\">&lt;b&gt; &#65;&#x42; &quot;&apos;</parameter>\
                   <!-- <parameter name=\"no\">1</parameter> -->\n<parameter name=\"c\">x<!-- gone -->y<![CDATA[ </parameter> &amp; ]]>z</parameter></invoke>";
    let arguments = r#"{"a&b":"<b> AB \"'","c":"xy </parameter> &amp; z"}"#;
    assert_eq!(
        every_cut(&anthropic(), &ScanOptions::new(), written),
        [call("anthropic", "f_g", arguments, written)]
    );
    // What is no reference stands for itself.
    reads(
        "<invoke name=\"f\"><parameter name=\"a\">a && b < c &unknown; &#xZ; R&D; &</parameter></invoke>",
        "f",
        r#"{"a":"a && b < c &unknown; &#xZ; R&D; &"}"#,
    );
    let wrapped = "<function_calls><!-- two --><invoke name=\"f\"/> <!-- and --> <invoke name=\"g\"/><!----></function_calls>";
    assert_eq!(
        every_cut(&anthropic(), &ScanOptions::new(), wrapped),
        [
            markup("<function_calls><!-- two -->"),
            call("anthropic", "f", "{}", "<invoke name=\"f\"/>"),
            markup(" <!-- and --> "),
            call("anthropic", "g", "{}", "<invoke name=\"g\"/>"),
            markup("<!----></function_calls>"),
        ]
    );
}

/// A closer inside of the value belongs to the element that opens there.
#[test]
fn a_value_that_holds_calls_itself_is_not_cut_short() {
    let inner = "<invoke name=\"g\"><parameter name=\"x\">1</parameter></invoke>";
    let written =
        format!("<invoke name=\"write\"><parameter name=\"content\">Use {inner} so.</parameter></invoke>");
    let arguments = format!("{{\"content\":{}}}", serde_json::Value::from(format!("Use {inner} so.")));
    assert_eq!(
        every_cut(&anthropic(), &ScanOptions::new(), &written),
        [call("anthropic", "write", &arguments, &written)]
    );
    let seen = every_cut(&anthropic(), &ScanOptions::strict(), &written);
    assert!(matches!(&seen[..], [Seen::Unparsed { kind: ProblemKind::InnerCall, .. }]), "{seen:?}");

    // Where tags are no XML, nobody can tell which of them the closer belongs to.
    let qwen = DialectSet::new().with(known::qwen3_coder());
    let inner = "<function=g><parameter=x>1</parameter></function>";
    let cut = format!("<function=write><parameter=content>Use {}", &inner);
    let written = format!("{cut} so.</parameter></function>");
    assert_eq!(
        every_cut(&qwen, &ScanOptions::new(), &written),
        [unparsed(&cut, ProblemKind::InnerCall, cut.len() as u64), text(" so.</parameter></function>")]
    );
}

#[test]
fn a_tag_that_readers_disagree_over_is_reported_under_a_guard() {
    let twice = "<invoke name=\"ls\" name=\"rm\"></invoke>";
    let end = twice.find("></").unwrap() + 1;
    assert_eq!(
        every_cut(&anthropic(), &ScanOptions::strict(), twice),
        [unparsed(&twice[..end], ProblemKind::RepeatedKey, 18), text("</invoke>")]
    );
}

#[test]
fn prose_with_tags_stays_prose() {
    for prose in [
        "<invoke>",
        "<invoke name=\"\">",
        "<invoker name=\"f\">",
        "an <invoke <b> tag",
        "< invoke name=\"f\">",
    ] {
        assert_eq!(every_cut(&anthropic(), &ScanOptions::new(), prose), [text(prose)]);
    }
}

#[test]
fn a_problem_says_tool_parameter_place_and_what_was_expected() {
    let written = "So <invoke name=\"f\"><parameter name=\"a\">1";
    let mut scanner = Scanner::new(&anthropic(), ScanOptions::new());
    let mut events: Vec<Event> = scanner.push(written).collect();
    events.extend(scanner.end());
    let Some(Event::Unparsed(found)) = events.pop() else { panic!("nothing is wrong") };
    assert_eq!(found.text, &written[3..]);
    assert_eq!(
        found.problem.to_string(),
        "tool \"f\", parameter \"a\": expected the parameter's closing tag, found the end at byte 20"
    );
}

#[test]
fn values_and_comments_without_end_take_linear_time() {
    for unit in ["<parameter name=\"a\">", "<!--", "<![CDATA[", "&#65;", "<", "</parameter", "]]"] {
        for head in [
            "",
            "<invoke name=\"f\">",
            "<invoke name=\"f\"><parameter name=\"a\">",
            "<invoke name=\"f\"><!--",
        ] {
            let written = format!("{head}{}", unit.repeat(200_000 / unit.len()));
            let mut scanner = Scanner::new(&anthropic(), ScanOptions::strict());
            for piece in written.as_bytes().chunks(7) {
                scanner.push(std::str::from_utf8(piece).unwrap()).for_each(drop);
            }
            scanner.end().for_each(drop);
            assert_eq!(scanner.decided(), written.len() as u64, "{unit:?}");
        }
    }
}

/// What a call that is rewritten says is what was to be said.
#[test]
fn what_is_written_is_read_back_as_it_was() {
    for value in
        ["a < b && c", "&amp;", "</parameter>", "<![CDATA[x]]>", "<!-- x -->", "<invoke name=\"g\">", "R&D;"]
    {
        let arguments = format!("{{\"a&\\\"b\":{}}}", serde_json::Value::from(value));
        let written = known::anthropic().write("f<g", &arguments).unwrap();
        let seen = every_cut(&anthropic(), &ScanOptions::new(), &written);
        let read = seen.iter().find_map(|seen| match seen {
            Seen::Call { name, arguments, .. } => Some((name.as_str(), arguments.as_str())),
            _ => None,
        });
        assert_eq!(read, Some(("f<g", arguments.as_str())));
    }
}

/// The call as quick-xml reads it: its name, and its parameters in order.
fn by_parser(written: &str) -> Option<(String, Vec<(String, String)>)> {
    let mut reader = quick_xml::Reader::from_str(written);
    let attribute = |tag: &BytesStart<'_>| {
        let found = tag.try_get_attribute("name").ok()??;
        Some(found.normalized_value(XmlVersion::Implicit1_0).ok()?.into_owned())
    };
    let (mut name, mut found) = (None, Vec::new());
    let mut open: Option<(String, String)> = None;
    let mut depth = 0;
    loop {
        match (reader.read_event().ok()?, &mut open) {
            (Xml::Eof, _) => return Some((name?, found)),
            (Xml::Start(tag), Some((_, value))) => {
                depth += 1;
                value.push_str(&format!("<{}>", &*tag));
            }
            (Xml::Empty(tag), Some((_, value))) => value.push_str(&format!("<{}/>", &*tag)),
            (Xml::End(tag), Some((_, value))) if depth > 0 => {
                depth -= 1;
                value.push_str(&format!("</{}>", &*tag));
            }
            (Xml::End(_), parameter @ Some(_)) => found.extend(parameter.take()),
            (Xml::Start(tag), None) if name.is_none() => name = Some(attribute(&tag)?),
            (Xml::Start(tag), None) => open = Some((attribute(&tag)?, String::new())),
            (Xml::Empty(tag), None) if name.is_none() => name = Some(attribute(&tag)?),
            (Xml::Empty(tag), None) => found.push((attribute(&tag)?, String::new())),
            (Xml::Text(text), Some((_, value))) => value.push_str(&text),
            (Xml::CData(text), Some((_, value))) => value.push_str(&text),
            (Xml::GeneralRef(reference), Some((_, value))) => match reference.resolve_char_ref().ok()? {
                Some(c) => value.push(c),
                None => value.push_str(quick_xml::escape::resolve_predefined_entity(&reference)?),
            },
            _ => {}
        }
    }
}

/// What stands in an element.
fn inside() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ -%'-;=?-~é\n]{0,6}",
        prop::sample::select(vec![
            "&amp;",
            "&lt;",
            "&gt;",
            "&quot;",
            "&apos;",
            "&#65;",
            "&#x1F600;",
            "&#x0a;"
        ])
        .prop_map(str::to_owned),
        "[a-z<&>]{0,5}".prop_map(|text| format!("<![CDATA[{text}]]>")),
        "[a-z<&>]{0,5}".prop_map(|text| format!("<!-- {text} -->")),
        "[a-z&&[^x]]{1,3}".prop_map(|text| format!("<b>{text}</b>")),
        "[a-z]{0,3}".prop_map(|text| format!("<parameter name=\"q\">{text}</parameter>")),
        Just("<parameter name='e'/>".to_owned()),
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

/// A tag with its attributes in some order, some spacing and some quotes.
fn tag(element: &'static str) -> impl Strategy<Value = (String, String)> {
    let space = || prop::sample::select(vec!["", " ", "\n", "  "]);
    let name = prop_oneof!["[a-z_]{1,6}", Just("a&amp;b".to_owned()), Just("x&#46;y".to_owned())];
    (name, space(), space(), space(), any::<bool>(), 0..4_u8).prop_map(
        move |(name, before, behind, end, double, extra)| {
            let quote = if double { '"' } else { '\'' };
            let named = format!("name{before}={behind}{quote}{name}{quote}");
            let other = "id=\"n > 1\"";
            let all = match extra {
                0 => format!("{other} {named}"),
                1 => format!("{named} {other}"),
                2 => format!("\n{named}"),
                _ => named,
            };
            (name, format!("<{element} {all}{end}"))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// For every call that is well-formed XML, the scanner reads what an XML parser reads, however the text is cut.
    #[test]
    fn the_scanner_reads_what_an_xml_parser_reads(
        call in tag("invoke"),
        parameters in prop::collection::vec((tag("parameter"), prop::option::of(inside())), 0..4),
        comment in any::<bool>(),
        size in 1_usize..9,
    ) {
        let mut written = format!("{}>", call.1);
        for (at, (tag, value)) in parameters.iter().enumerate() {
            // Each key stands once: another reader takes the last.
            let numbered = |quote: char| tag.1.replace(&format!("{quote}{}{quote}", tag.0), &format!("{quote}{}{at}{quote}", tag.0));
            let tag = if tag.1.contains(&format!("'{}'", tag.0)) { numbered('\'') } else { numbered('"') };
            written.push_str(if comment { "<!-- <b> -->\n" } else { "" });
            match value {
                Some(value) => written.push_str(&format!("{tag}>{value}</parameter>")),
                None => written.push_str(&format!("{tag}/>")),
            }
        }
        written.push_str("</invoke>");
        let parsed = by_parser(&written);
        prop_assert!(parsed.is_some(), "{}", written);
        let mut scanner = Scanner::new(&anthropic(), ScanOptions::new());
        let mut events = Vec::new();
        let characters: Vec<char> = written.chars().collect();
        for piece in characters.chunks(size) {
            events.extend(scanner.push(&piece.iter().collect::<String>()));
        }
        events.extend(scanner.end());
        let read = events.iter().find_map(|event| match event {
            Event::CallEnd(call) => Some((call.name().to_owned(), pairs(call.arguments()))),
            _ => None,
        });
        prop_assert_eq!(read, parsed, "{}", written);
    }
}

/// The members of an object of strings, in order.
fn pairs(object: &str) -> Vec<(String, String)> {
    struct Members;
    impl<'de> serde::de::Visitor<'de> for Members {
        type Value = Vec<(String, String)>;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            std::iter::from_fn(|| map.next_entry().transpose()).collect()
        }
    }
    serde::Deserializer::deserialize_map(&mut serde_json::Deserializer::from_str(object), Members).unwrap()
}

#[test]
fn what_begins_like_a_comment_and_is_none_is_reported_once_in_every_cut() {
    for other in ["<![Cameter", "<![CDATA[", "<!-x", "<!", "<!DOCTYPE"] {
        let written = format!("<invoke name=\"f\">\n{other} name=\"a\">1</parameter></invoke>");
        let (call, rest) = written.split_at(written.find('!').unwrap());
        let expected = [unparsed(call, ProblemKind::UnclosedCall, call.len() as u64), text(rest)];
        assert_eq!(every_cut(&anthropic(), &ScanOptions::new(), &written), expected);
        assert_eq!(every_cut(&anthropic(), &ScanOptions::strict(), &written), expected);
    }
}
