//! Debian's chromium, without a window.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Loads a page in the browser and gives what it made of it; `None`, with a note, where there is no browser. The gate
/// says `GATEWAY_BROWSER=required`. With `GATEWAY_PAGES=DIR` the page is kept there.
#[allow(clippy::print_stdout)]
pub(super) fn browse(name: &str, page: &str) -> Option<Dom> {
    let directory = Directory::new(name);
    let file = directory.0.join("page.html");
    std::fs::write(&file, page).unwrap();
    if let Some(kept) = std::env::var_os("GATEWAY_PAGES") {
        std::fs::write(Path::new(&kept).join(format!("{name}.html")), page).unwrap();
    }
    let run = Command::new("chromium")
        .args(FLAGS)
        .arg(format!("--user-data-dir={}", directory.0.join("profile").display()))
        .arg("--dump-dom")
        .arg(format!("file://{}", file.display()))
        .output();
    let Ok(output) = run else {
        assert!(std::env::var_os("GATEWAY_BROWSER").is_none(), "expected chromium, found none");
        println!("note: no chromium, the page is not rendered");
        return None;
    };
    let html = String::from_utf8(output.stdout).unwrap();
    assert!(html.ends_with("</html>\n"), "{}", String::from_utf8_lossy(&output.stderr));
    Some(Dom(html))
}

/// What the browser made of a page.
pub(super) struct Dom(String);

impl Dom {
    pub(super) fn html(&self) -> &str {
        &self.0
    }

    /// The text of the first element that is opened so.
    pub(super) fn text(&self, opening: &str) -> String {
        text(self.inside(opening))
    }

    /// The rows of a table, with a bar between their cells.
    pub(super) fn rows(&self, table: &str) -> Vec<String> {
        let body = self.inside(&format!("table id=\"{table}\""));
        let body = body.split_once("<tbody>").unwrap().1;
        body.split("</tr>")
            .filter(|row| row.contains("<td"))
            .map(|row| text(&row.replace("</td><td", "|</td><td")))
            .collect()
    }

    /// The terms of a list, each with what is said of it.
    pub(super) fn pairs(&self, list: &str) -> Vec<String> {
        let list = self.inside(&format!("dl id=\"{list}\""));
        list.split("</dd>")
            .filter(|pair| pair.contains("<dt"))
            .map(|pair| text(&pair.replace("</dt>", ": </dt>")))
            .collect()
    }

    /// What stands at the start of each lane.
    pub(super) fn labels(&self) -> Vec<String> {
        self.each("<div class=\"label\">", "</div>")
    }

    /// What is written along the bars.
    pub(super) fn told(&self) -> Vec<String> {
        self.each("<span class=\"told\"", "</span>")
    }

    fn each(&self, from: &str, to: &str) -> Vec<String> {
        self.0
            .split(from)
            .skip(1)
            .map(|rest| {
                let element = rest.split_once(to).unwrap().0;
                text(
                    element
                        .split_once('>')
                        .filter(|_| !from.ends_with('>'))
                        .map_or(element, |(_, inside)| inside),
                )
            })
            .collect()
    }

    fn inside(&self, opening: &str) -> &str {
        let name = opening.split(' ').next().unwrap();
        let rest = self.0.split_once(&format!("<{opening}>")).unwrap_or_else(|| panic!("no {opening}")).1;
        rest.split_once(&format!("</{name}>")).unwrap().0
    }
}

/// What a person reads: without tags, with what was escaped, spaces as one.
fn text(html: &str) -> String {
    let mut read = String::new();
    for part in html.split('<') {
        match part.split_once('>') {
            Some((_, text)) => {
                read.push(' ');
                read.push_str(text);
            }
            None => read.push_str(part),
        }
    }
    let read = ["&lt;<", "&gt;>", "&quot;\"", "&nbsp; ", "&amp;&"].iter().fold(read, |read, pair| {
        let (entity, char) = pair.split_once(';').unwrap();
        read.replace(&format!("{entity};"), char)
    });
    read.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace(" |", "|")
        .replace("| ", "|")
        .replace(" :", ":")
}

struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("gateway-page-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const FLAGS: [&str; 8] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];
