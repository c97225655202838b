"""The policies in Envoy in place of the gateway: `run.py --through envoy`.

The tables are those of the gateway. What Envoy forces to be different is listed here, with its reason; the laws hold there, too.
"""

import contextlib
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

# Scenario: why it is not as in expected.toml.
EXCEPTIONS = {
    "upstream-cut": "an upstream that breaks off makes Envoy reset the client's stream: no ending can be sent",
}
# Scenario: why it cannot be asked for at all. `gateway envoy` refuses their file.
LOOP = "the tool loop asks the upstream again, and Envoy's external processor cannot make Envoy send a request twice"
LEFT_OUT = {"loop-0": LOOP, "loop-1": LOOP, "loop-3": LOOP}
# The gateways that only those are asked of.
WITHOUT = {"LOOP"}
APIS = ["openai-chat", "openai-responses", "anthropic-messages", "gemini"]


@contextlib.contextmanager
def envoy(options, config, upstream, process):
    """An Envoy with the policies of a file; yields its address."""
    with contextlib.ExitStack() as running:
        place = Path(running.enter_context(tempfile.TemporaryDirectory()))
        text = config.read_text().replace('policies = "', f'policies = "{config.parent}/')
        text += "".join(f'\n[upstream.{api}]\nurl = "{upstream}"\n' for api in APIS)
        text += '\n[envoy]\nclients = "127.0.0.1:0"\nenvoy_admin = "127.0.0.1:0"\n'
        file = place / "gateway.toml"
        file.write_text(text)
        command = [options.gateway, "envoy", "--config", file, "--log", "error"]
        listen = ["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"]
        processor = running.enter_context(process([*command, *listen]))
        address = processor.stdout.readline().split()[-1]
        printed = subprocess.run([*command, "--listen", address, "--print-config"], check=True, capture_output=True)
        (place / "envoy.yaml").write_bytes(printed.stdout)
        arguments = ["--use-dynamic-base-id", "--concurrency", "1", "--log-level", "error", "--log-path", place / "log"]
        arguments += ["-c", place / "envoy.yaml", "--admin-address-path", place / "admin"]
        running.enter_context(process([options.envoy, *arguments]))
        yield f"http://{listening(place / 'admin')}"


def listening(file):
    """Where Envoy listens for clients, once it does."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            admin = f"http://{file.read_text().strip()}"
            with urllib.request.urlopen(f"{admin}/ready") as ready:
                ready.read()
            with urllib.request.urlopen(f"{admin}/listeners") as listeners:
                for line in listeners.read().decode().splitlines():
                    if line.startswith("clients::"):
                        return line.removeprefix("clients::")
        time.sleep(0.1)
    raise SystemExit("expected an Envoy that listens, found none")
