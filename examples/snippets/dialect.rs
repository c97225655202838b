//! A custom dialect: a model of your own writes its calls into the text, and a gate judges them like any other.
//!
//! `cargo run -p snippets --example dialect`

use std::error::Error;

use stream_core::Config;
use stream_core::text_calls::{Dialect, DialectSet};
use stream_policies::judge::rules::{Otherwise, Rule, RulesSettings};
use stream_policies::{PromoteTextCalls, ToolGate};
use stream_testkit::{Fragments, Replay, Script, WireKind};

/// `<do NAME><with KEY>VALUE</with></do>`
fn house_style() -> Dialect {
    Dialect::tagged("house-style").call("<do {name}>", "</do>").parameter("<with {key}>", "</with>")
}

fn main() -> Result<(), Box<dyn Error>> {
    let rules = RulesSettings::otherwise(Otherwise::Deny).allow(Rule::tools(["search"])).build()?;
    let gate = ToolGate::new(rules);

    let text = "Sure. <do search><with query>rust</with></do> And <do format_disk></do> done.";
    let answer = Script::new().text(text).text_fragments(Fragments::Chars(3));
    let config = Config::default().text_calls(DialectSet::new().with(house_style()));
    let replayed = Replay::new(answer.to_log(WireKind::AnthropicMessages))
        .config(config)
        .policy(move || gate.clone())
        // The client wants structured calls.
        .policy(PromoteTextCalls::new)
        .run();
    let view = replayed.view();
    println!("text {:?}", view.choices[0].content);
    for call in &view.choices[0].calls {
        println!("call {} with {}", call.name, call.arguments);
    }
    Ok(())
}
