#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]
use stream_testkit::{laws::{Laws, Law}, Script, WireKind, Fragments};
use stream_core::*;
struct A;
#[async_trait]
impl Policy for A {
    async fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> { ctx.send(chunk); Ok(()) }
}
#[test]
fn t() {
    let log = Script::new().text("Let me look at the thing").text_fragments(Fragments::Chars(3)).to_log(WireKind::OpenAiChat);
    println!("{}", log.bytes().len());
    for law in Law::ALL {
        for cut in ["event","whole","original","7","random:1","byte"] {
        let t = std::time::Instant::now();
        let r = Laws::of(|| A).only(law).cut(cut.parse().unwrap()).check(&log);
        println!("{law} {cut} {:?} {:?}", t.elapsed(), r.is_ok());
        }
    }
}
