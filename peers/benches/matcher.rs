//! What looking for secrets costs per byte of prose, how often it holds a chunk back, and what its tables take.
//!
//! Each row is one preset, some of them together or all: the time to build, the bytes of its tables, nanoseconds per byte of prose
//! (the median of several runs) in chunks of 4, of 4 to 12 and of 64 bytes, and the share of chunks of 4 bytes, and of words, that wait
//! for the next one.

mod common;

use std::hint::black_box;

use common::{cpu, table};
use cpu_time::ThreadTime;
use stream_policies::{Preset, Redact, RedactSettings};

fn main() {
    let singles = Preset::ALL.iter().map(|preset| (preset.name().to_owned(), vec![*preset]));
    let keys = vec![Preset::ApiKey, Preset::CloudKey, Preset::PrivateKey, Preset::Jwt];
    let together = [("keys and tokens".to_owned(), keys), ("all".to_owned(), Preset::ALL.to_vec())];
    let rows: Vec<_> = singles.chain(together).map(|(name, presets)| row(name, &presets)).collect();
    let head =
        ["presets", "build, ms", "tables, kB", "chunks of 4", "4 to 12", "64", "held, 4", "held, words"];
    table::print(&head.map(str::to_owned), &rows);
}

fn row(name: String, presets: &[Preset]) -> Vec<String> {
    let start = ThreadTime::now();
    let settings = presets.iter().copied().fold(RedactSettings::default(), RedactSettings::preset);
    let redact = settings.build().expect("settings");
    let built = start.elapsed().as_secs_f64() * 1e3;
    let costs = [chunks(|_| 4), chunks(|at| 4 + at * 7 % 9), chunks(|_| 64)].map(|cut| cost(&redact, &cut));
    let words: Vec<&str> = PROSE.split_inclusive(' ').collect();
    let mut row = vec![name, format!("{built:.1}"), (redact.tables() / 1000).to_string()];
    row.extend(costs.map(|cost| format!("{cost:.1}")));
    row.extend([held(&redact, &chunks(|_| 4)), held(&redact, &words)].map(|held| format!("{held:.1} %")));
    row
}

/// The prose in chunks of so many bytes.
fn chunks(size: impl Fn(usize) -> usize) -> Vec<&'static str> {
    let mut rest = PROSE;
    let mut cut = Vec::new();
    while !rest.is_empty() {
        let mut end = size(cut.len()).min(rest.len());
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (chunk, behind) = rest.split_at(end);
        cut.push(chunk);
        rest = behind;
    }
    cut
}

/// Nanoseconds on the processor for each byte.
fn cost(redact: &Redact, chunks: &[&str]) -> f64 {
    const ROUNDS: usize = 40;
    let mut times: Vec<f64> = (0..if cpu::is_test() { 1 } else { 15 })
        .map(|_| {
            let mut probe = redact.probe();
            let start = ThreadTime::now();
            for _ in 0..ROUNDS {
                for chunk in chunks {
                    black_box(probe.push(chunk));
                }
            }
            assert_eq!(probe.found(), 0, "the prose holds no secret");
            start.elapsed().as_nanos() as f64 / (ROUNDS * PROSE.len()) as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The share of chunks that do not leave at once, in percent.
fn held(redact: &Redact, chunks: &[&str]) -> f64 {
    let mut probe = redact.probe();
    let held = chunks.iter().filter(|chunk| probe.push(chunk) > 0).count();
    100.0 * held as f64 / chunks.len() as f64
}

/// What models write: sentences, lists, numbers, names, a little code.
const PROSE: &str = "The first thing to check is whether the service listens on the port that the client asks for. If it \
does, the connection is refused only when a firewall stands between the two, and then the log says so. In 2023 about 41 % \
of the reports were of this kind; of the other 1,250 most had to do with certificates that had run out on the last day \
of a month. Here is what I would do:\n\n1. Open the settings, and note the name of the host (for example db-7 or \
cache_02).\n2. Call `status()` and compare what it returns with the table below; a value under 0.95 is a warning.\n3. \
Write down the time, since you will need it when you talk to the people who run the network.\n\nIt is also worth asking \
why the task was scheduled at night. A job that takes forty minutes, and that nobody waits for, can as well run at noon, \
when the disks are idle. Müller and Søndergaard (2019) describe a similar case: after the move to another building the \
copies took three times as long, and it turned out that a switch had fallen back to a tenth of its speed. \"We looked at \
everything but the cable\", they write. So: look at the cable. Then restart the worker with `systemctl restart worker`, \
wait for the line `ready in 3.2 s`, and run the query again:\n\n```sql\nselect id, name, created_at from orders where \
total > 100 order by created_at desc limit 20;\n```\n\nIf the answer is empty, the index was not built, and the skills of \
a database administrator are needed. Otherwise the risk is small, and you can go on as before. Shall I write the script \
that checks all twelve hosts, or do you want to see the numbers first? ";
