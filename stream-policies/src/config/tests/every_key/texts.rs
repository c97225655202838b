//! Policies that look at texts.

use stream_testkit::{Fragments, Script, WireKind};

use super::row::Row;

pub(super) fn rows() -> Vec<Row> {
    [redact(), stop_on(), notices()].into_iter().flatten().collect()
}

fn says(text: &str) -> Script {
    Script::new().text(text).text_fragments(Fragments::Chars(4))
}

fn redact() -> Vec<Row> {
    let row = |key: &str, keys: &str, values: [&str; 2], script: Script| {
        Row::new(format!("redact.{key}"), &format!("[[policy]]\nkind = \"redact\"\n{keys}\n"), values, script)
    };
    let long = || says("so abcdefghijklmnopqrstuvwxy, and on.");
    let open = "patterns = [{ name = \"long\", regex = \"a[a-z]+z\" }]";
    vec![
        row("presets", "presets = [@]", ["\"email\"", "\"iban\""], says("Ask me@example.com for it.")),
        row(
            "patterns[].name",
            "replacement = \"<{name}>\"\npatterns = [{ name = @, literal = \"secret\" }]",
            ["\"one\"", "\"other\""],
            says("My secret."),
        ),
        row(
            "patterns[].regex",
            "patterns = [{ name = \"p\", regex = @ }]",
            ["\"s[a-z]+t\"", "\"x[a-z]+t\""],
            says("My secret."),
        ),
        row(
            "patterns[].literal",
            "patterns = [{ name = \"p\", literal = @ }]",
            ["\"secret\"", "\"other\""],
            says("My secret."),
        ),
        row(
            "patterns[].ignore_case",
            "patterns = [{ name = \"p\", literal = \"secret\"@ }]",
            [", ignore_case = true", ""],
            says("My SECRET."),
        ),
        row(
            "places",
            "places = [@]\npatterns = [{ name = \"p\", literal = \"secret\" }]",
            ["\"content\"", "\"arguments\""],
            says("My secret."),
        ),
        row(
            "replacement",
            "patterns = [{ name = \"p\", literal = \"secret\" }]\n@",
            ["replacement = \"***\"", ""],
            says("My secret."),
        ),
        row(
            "block_ends",
            "patterns = [{ name = \"p\", literal = \"secret\" }]\n@",
            ["block_ends = \"decide\"", ""],
            Script::new().text("My sec").call("call_1", "look", "{}").text("ret."),
        ),
        row("hold_limit", &format!("{open}\n@"), ["hold_limit = 8", ""], long()),
        row("at_limit", &format!("{open}\nhold_limit = 8\n@"), ["at_limit = \"terminate\"", ""], long()),
    ]
}

fn stop_on() -> Vec<Row> {
    let row = |key: &str, keys: &str, values: [&str; 2], script: Script| {
        let file = format!("[[policy]]\nkind = \"stop-on\"\n{keys}\n");
        Row::new(format!("stop-on.{key}"), &file, values, script)
    };
    let stop = "patterns = [{ name = \"p\", literal = \"stop here\" }]";
    let text = || says("Please stop here or there.");
    vec![
        row(
            "patterns[].name",
            "patterns = [{ name = @, literal = \"stop\" }]",
            ["\"one\"", "\"two\""],
            text(),
        ),
        row(
            "patterns[].regex",
            "patterns = [{ name = \"p\", regex = @ }]",
            ["\"st[a-z]p\"", "\"x[a-z]p\""],
            text(),
        ),
        row(
            "patterns[].literal",
            "patterns = [{ name = \"p\", literal = @ }]",
            ["\"stop\"", "\"go\""],
            text(),
        ),
        row(
            "patterns[].ignore_case",
            "patterns = [{ name = \"p\", literal = \"STOP\"@ }]",
            [", ignore_case = true", ""],
            text(),
        ),
        row("places", &format!("{stop}\nplaces = [@]"), ["\"content\"", "\"reasoning\""], text()),
        row("ends", &format!("{stop}\n@"), ["ends = \"error\"", ""], text()),
        row("message", &format!("{stop}\n@"), ["message = \"no more\"", ""], text()),
        row(
            "hold_limit",
            "patterns = [{ name = \"long\", regex = \"a[a-z]+z\" }]\n@",
            ["hold_limit = 8", ""],
            says("so abcdefghijklmnopqrstuvwxy, and on."),
        ),
    ]
}

/// What is put in, or in the place of something.
fn notices() -> Vec<Row> {
    let inject = |key: &str, keys: &str, values: [&str; 2], script: Script| {
        let file = format!("[[policy]]\nkind = \"inject\"\n{keys}\n");
        Row::new(format!("inject.{key}"), &file, values, script)
    };
    vec![
        inject("before", "before = @", ["\"one \"", "\"two \""], says("Hello.")),
        inject("after", "after = @", ["\" one\"", "\" two\""], says("Hello.")),
        // Only behind a call of this API there is no place for a text.
        inject(
            "required",
            "after = \" bye\"\n@",
            ["required = true", ""],
            Script::new().call("call_1", "look", "{}"),
        )
        .only(&[WireKind::AnthropicMessages]),
        // Reasoning of the other APIs is signed, and never has another text.
        Row::new(
            "hide-reasoning.placeholder",
            "[[policy]]\nkind = \"hide-reasoning\"\n@\n",
            ["placeholder = \"(thinks)\"", ""],
            Script::new().reasoning("Hm.").text("Yes."),
        )
        .only(&[WireKind::OpenAiChat, WireKind::Gemini]),
    ]
}
