//! Somebody who is asked over a network.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A server that gives every question to a function, with the number of questions before it. What it returns is sent, and
/// the connection closed; questions of Redis have one connection.
pub(super) struct Oracle(SocketAddr);

impl Oracle {
    pub(super) fn new(answer: fn(&str, usize) -> String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        // The thread waits for its next client until the tests are over.
        std::thread::spawn(move || {
            for socket in listener.incoming() {
                let (socket, asked) = (socket.unwrap(), Arc::clone(&asked));
                std::thread::spawn(move || serve(socket, answer, &asked));
            }
        });
        Self(address)
    }

    pub(super) fn address(&self) -> String {
        self.0.to_string()
    }
}

fn serve(mut socket: TcpStream, answer: fn(&str, usize) -> String, asked: &AtomicUsize) {
    let mut heard = String::new();
    let mut piece = [0; 4096];
    loop {
        let count = socket.read(&mut piece).unwrap_or(0);
        if count == 0 {
            return;
        }
        heard += std::str::from_utf8(&piece[..count]).unwrap();
        if heard.starts_with('*') {
            // Redis is asked for a count, and told things that it agrees with.
            let commands = heard.lines().filter(|line| line.starts_with('*')).count();
            let is_count = heard.contains("EVALSHA");
            let said = if is_count {
                answer(&heard, asked.fetch_add(1, Ordering::SeqCst))
            } else {
                "+OK\r\n".repeat(commands)
            };
            heard.clear();
            let _ = socket.write_all(said.as_bytes());
        } else if is_whole(&heard) {
            let body = answer(&heard, asked.fetch_add(1, Ordering::SeqCst));
            let status = if body.is_empty() { "503 Busy" } else { "200 OK" };
            let head = format!(
                "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            let _ = socket.write_all(head.as_bytes());
            return;
        }
    }
}

/// Whether the head and the body of a request are there.
fn is_whole(heard: &str) -> bool {
    let Some((head, body)) = heard.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    length.is_some_and(|length| body.len() >= length.parse().unwrap())
}
