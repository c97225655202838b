//! Calls in text: the scanner of stream-text-calls beside `tool-parser`, over the same texts.
//!
//! The first table is a call with one long argument in the dialects that both know, and prose, in chunks of 4 bytes. The second one is
//! the scanner alone, with three dialects: long arguments, texts made of openers, prose.

#[path = "../../benches/common/cpu.rs"]
mod cpu;
#[path = "../../benches/common/table.rs"]
mod table;

use cpu::CpuTime;
use criterion::{Criterion, Throughput};
use futures::executor::block_on;
use openai_protocol::common::Tool as OfferedTool;
use stream_text_calls::{Dialect, DialectSet, Event, ScanOptions, Scanner, Tool, known};
use tool_parser::parsers::QwenXmlParser;
use tool_parser::{
    DeepSeek31Parser, DeepSeekParser, Glm4MoeParser, KimiK2Parser, MistralParser, QwenParser, ToolParser,
};

type Parser = fn() -> Box<dyn ToolParser>;

/// The dialects of both.
fn dialects() -> [(Dialect, Parser); 7] {
    [
        (known::hermes(), || Box::new(QwenParser::new())),
        (known::qwen3_coder(), || Box::new(QwenXmlParser::new())),
        (known::mistral(), || Box::new(MistralParser::new())),
        (known::deepseek_v3(), || Box::new(DeepSeekParser::new())),
        (known::deepseek_v3_1(), || Box::new(DeepSeek31Parser::new())),
        (known::kimi_k2(), || Box::new(KimiK2Parser::new())),
        (known::glm(), || Box::new(Glm4MoeParser::glm45())),
    ]
}

const SENTENCE: &str = "The quick brown fox jumps over the lazy dog, and 2 is more than 1. ";
/// Both are for parsers that look at all of a call again with every chunk: longer ones would take minutes.
const LENGTHS: [(&str, usize); 2] = [("call of 1 kB", 1000), ("call of 8 kB", 8000)];
const PROSE: (&str, usize) = ("prose of 8 kB", 8000);

fn main() {
    let mut criterion = cpu::criterion();
    let beside = beside(&mut criterion);
    let alone = alone(&mut criterion);
    criterion.final_summary();
    if !cpu::is_test() {
        print_beside(&beside);
        print_alone(&alone);
    }
}

/// Names and lengths of what was measured: a group for each text.
type Texts = Vec<(String, usize)>;

fn beside(criterion: &mut Criterion<CpuTime>) -> Texts {
    let mut texts = Texts::new();
    for (dialect, parser) in dialects() {
        let argument = |bytes: usize| serde_json::json!({ "text": SENTENCE.repeat(bytes / SENTENCE.len()) });
        let call = |bytes| dialect.write("write", &argument(bytes).to_string()).expect("a call it can say");
        let calls = LENGTHS.map(|(name, bytes)| (name, call(bytes), 1));
        let prose = (PROSE.0, SENTENCE.repeat(PROSE.1 / SENTENCE.len()), 0);
        let set = DialectSet::new().with(dialect.clone());
        for (what, text, found) in calls.into_iter().chain([prose]) {
            let name = format!("{}, {what}", dialect.name());
            assert_eq!(scan(&set, &text, 4), found, "{name}");
            let is_read = parse(parser, &text, 4) == found;
            let mut group = criterion.benchmark_group(&name);
            group.throughput(Throughput::Bytes(text.len() as u64));
            group.bench_function("Scanner", |bencher| bencher.iter(|| scan(&set, &text, 4)));
            // A call that is not found is not compared: its cell says so.
            if is_read {
                group.bench_function("tool-parser", |bencher| bencher.iter(|| parse(parser, &text, 4)));
            }
            texts.push((name, text.len()));
        }
    }
    texts
}

fn print_beside(texts: &Texts) {
    let head = ["", "`Scanner`, ns per byte", "`tool-parser`, ns per byte", "ratio"].map(str::to_owned);
    let rows: Vec<_> = texts
        .iter()
        .map(|(name, bytes)| {
            let [own, other] = ["Scanner", "tool-parser"].map(|way| cost(name, way, *bytes));
            vec![name.clone(), format!("{own:.1}"), format!("{other:.1}"), format!("{:.1}", other / own)]
        })
        .collect();
    table::print(&head, &rows);
}

fn alone(criterion: &mut Criterion<CpuTime>) -> Texts {
    let set = DialectSet::for_model("qwen3-coder").with(known::bare_json()).with(known::anthropic());
    let mut texts = Vec::new();
    for (size, name) in [(64 << 10, "64 kB"), (4 << 20, "4 MB")] {
        texts.push((format!("JSON argument of {name}"), json(size)));
        texts.push((format!("tagged argument of {name}"), tagged(size)));
        texts.push((format!("prose of {name}"), SENTENCE.repeat(size / SENTENCE.len())));
        texts.push((format!("HTML of {name}"), "<p>a &lt; b</p> <code>x</code>\n".repeat(size / 31)));
    }
    for unit in ["{", "<", "`", "<tool_call>", "{\"name\":", "<tool_call>{\"a\":"] {
        for (size, name) in [(10_000, "10 kB"), (100_000, "100 kB")] {
            texts.push((
                format!("{name} of {}", unit.replace('<', "‹").replace('>', "›").replace([':', '"'], "'")),
                unit.repeat(size / unit.len()),
            ));
        }
    }
    let measured = |(name, text): (String, String)| {
        let mut group = criterion.benchmark_group(&name);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function("Scanner", |bencher| bencher.iter(|| scan(&set, &text, 7)));
        (name, text.len())
    };
    texts.into_iter().map(measured).collect()
}

fn print_alone(texts: &Texts) {
    let head = ["chunks of 7 bytes", "ns per byte", "ns per chunk"].map(str::to_owned);
    let rows: Vec<_> = texts
        .iter()
        .map(|(name, bytes)| {
            let cost = cost(name, "Scanner", *bytes);
            vec![name.clone(), format!("{cost:.1}"), format!("{:.0}", cost * 7.0)]
        })
        .collect();
    table::print(&head, &rows);
}

fn cost(group: &str, way: &str, bytes: usize) -> f64 {
    cpu::median(group, way).unwrap_or(f64::NAN) / bytes as f64
}

/// How many calls the scanner finds.
fn scan(set: &DialectSet, text: &str, chunk: usize) -> usize {
    let mut scanner = Scanner::new(set, ScanOptions::new().tools(&[Tool::new("write")]));
    let mut calls = 0;
    for piece in pieces(text, chunk) {
        calls += scanner.push(piece).filter(|event| matches!(event, Event::CallEnd(_))).count();
    }
    calls += scanner.end().filter(|event| matches!(event, Event::CallEnd(_))).count();
    assert_eq!(scanner.decided(), text.len() as u64, "all of the text is reported");
    calls
}

/// How many calls `tool-parser` finds.
fn parse(parser: Parser, text: &str, chunk: usize) -> usize {
    let offered = serde_json::json!([{ "type": "function", "function": {
        "name": "write", "parameters": { "type": "object", "properties": { "text": { "type": "string" } } },
    } }]);
    let tools: Vec<OfferedTool> = serde_json::from_value(offered).expect("a tool");
    let mut parser = parser();
    block_on(async {
        let mut calls = 0;
        for piece in pieces(text, chunk) {
            let Ok(parsed) = parser.parse_incremental(piece, &tools).await else { break };
            calls += parsed.calls.iter().filter(|call| call.name.is_some()).count();
        }
        calls
    })
}

/// The text in pieces of so many bytes, or a little more where a character would be cut.
fn pieces(text: &str, bytes: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = (bytes.min(rest.len())..=rest.len()).find(|end| rest.is_char_boundary(*end))?;
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        (!piece.is_empty()).then_some(piece)
    })
}

fn json(size: usize) -> String {
    format!(r#"<tool_call>{{"name":"write","arguments":{{"text":"{}"}}}}</tool_call>"#, "x".repeat(size))
}

fn tagged(size: usize) -> String {
    let text = "x < y; ".repeat(size / 7);
    format!("<tool_call><function=write><parameter=text>{text}</parameter></function></tool_call>")
}
