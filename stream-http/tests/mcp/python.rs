//! The Python package `mcp`, in an environment of its own below `target`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The interpreter that has the package; `None` if it cannot be had.
///
/// # Panics
///
/// When it cannot be had and `MCP_PYTHON` is `required`.
pub(crate) fn interpreter() -> Option<String> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mcp-{VERSION}"));
    let python = target.join("bin/python");
    if !works(&python) {
        let made = run(Command::new("python3").args(["-m", "venv"]).arg(&target))
            && run(Command::new(&python).args([
                "-m",
                "pip",
                "install",
                "--quiet",
                &format!("mcp=={VERSION}"),
            ]));
        if !made || !works(&python) {
            let required = std::env::var_os("MCP_PYTHON").is_some_and(|value| value == "required");
            assert!(!required, "no Python with the package mcp {VERSION}");
            return None;
        }
    }
    Some(python.to_str().unwrap().to_owned())
}

/// Where the server's source is.
pub(crate) fn server() -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/server.py").to_str().unwrap().to_owned()
}

fn works(python: &Path) -> bool {
    python.exists() && run(Command::new(python).args(["-c", "from mcp.server import MCPServer"]))
}

fn run(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

pub(crate) const VERSION: &str = "2.3.0";
