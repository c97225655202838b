//! Rule 28: what was judged is what every client reads. A frame that clients read in different ways is written anew from
//! what was judged, or closes the stream.

mod chat;
mod gemini;
mod lines;
mod passed_over;
mod pings;
