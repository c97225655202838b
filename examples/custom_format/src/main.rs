//! A stream of the house's own format through a gate: `cargo run -p custom_format`.

use std::sync::Arc;

use custom_format::House;
use stream_core::{Config, Verdict, each_call};
use stream_testkit::{ChunkLog, Replay};

fn main() {
    let stream = concat!(
        "{\"text\":\"On it.\"}\n",
        "{\"call\":{\"id\":\"call_1\",\"name\":\"rm\",\"args\":{\"path\":\"/\"}}}\n",
        "{\"call\":{\"id\":\"call_2\",\"name\":\"ls\",\"args\":{\"path\":\"/\"}}}\n",
        "{\"done\":{\"reason\":\"calls\"}}\n",
    );
    let no_rm = || {
        each_call(|call, _| match call.name() {
            "rm" => Verdict::drop("rm is not allowed"),
            _ => Verdict::Release,
        })
    };
    let log = ChunkLog::from_chunks("house", [(Default::default(), stream.into())]);
    let replayed = Replay::new(&log).config(Config::default().format(Arc::new(House))).policy(no_rm).run();
    print!("{}", String::from_utf8_lossy(&replayed.bytes()));
}
