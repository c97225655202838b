"""Runs every SDK through every scenario, and holds the outcomes against expected.toml and docs/clients.md.

`--write` writes both files anew. Some things no file can excuse: they are in `laws.py`.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import laws
import table
import through_envoy

HERE = Path(__file__).parent
EXPECTED = HERE / "expected.toml"
GUIDE = HERE.parent.parent / "docs" / "clients.md"
PYTHON = ["openai_sdk.py", "anthropic_sdk.py", "google_sdk.py"]
# What each gateway is called in the drivers' environment, and its file.
GATEWAYS = {"GATEWAY": "gateway.toml", "BY_STATUS": "by-status.toml", "LOOP": "loop.toml"}
NODE = ["openai_sdk.mjs", "anthropic_sdk.mjs", "google_sdk.mjs", "ai_sdk.mjs"]


def main():
    options = argparse.ArgumentParser()
    for name in ("--upstream", "--gateway", "--python", "--node"):
        options.add_argument(name, required=True)
    options.add_argument("--write", action="store_true")
    options.add_argument("--through", choices=["serve", "envoy"], default="serve")
    options.add_argument("--envoy", default=os.environ.get("ENVOY_BIN"))
    options = options.parse_args()
    if options.through == "envoy" and (options.write or not options.envoy):
        raise SystemExit("expected --envoy PROGRAM and no --write beside --through envoy")

    lines = measure(options)
    wrong = laws.broken(lines)
    found = table.outcomes(lines)
    guide = table.fill(GUIDE.read_text(), found)
    if options.write:
        EXPECTED.write_text(table.to_toml(found))
        GUIDE.write_text(guide)
    expected = tomllib.loads(EXPECTED.read_text())
    if options.through == "envoy":
        for by_scenario in [*expected.values(), *found.values()]:
            for scenario in [*through_envoy.EXCEPTIONS, *through_envoy.LEFT_OUT]:
                by_scenario.pop(scenario, None)
                by_scenario.pop(f"whole/{scenario}", None)
    wrong += table.differences(expected, found)
    if options.through == "serve" and guide != GUIDE.read_text():
        wrong.append("docs/clients.md: its tables are not those of expected.toml; run with --write")
    print(*wrong, sep="\n")
    clients = {(line["api"], line["client"]) for line in lines}
    print(f"{len(lines)} outcomes of {len(clients)} clients, {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


def measure(options):
    """The lines of all drivers."""
    with contextlib.ExitStack() as running:
        upstream = running.enter_context(process([options.upstream], stdin=subprocess.PIPE))
        env = os.environ | json.loads(upstream.stdout.readline())
        for name, config in GATEWAYS.items():
            if options.through == "envoy" and name in through_envoy.WITHOUT:
                continue
            if options.through == "envoy":
                address = through_envoy.envoy(options, HERE / config, env["UPSTREAM"], process)
                env[name] = running.enter_context(address)
                continue
            serve = [options.gateway, "serve", "--config", HERE / config, "--listen", "127.0.0.1:0"]
            gateway = running.enter_context(process([*serve, "--upstream", env["UPSTREAM"], "--log", "error"]))
            env[name] = gateway.stdout.readline().split()[-1]
        if options.through == "envoy":
            for scenario, why in through_envoy.LEFT_OUT.items():
                print(f"left out: {scenario}: {why}")
            for form in ("STREAMED", "WHOLE"):
                env[form] = " ".join(name for name in env[form].split() if name not in through_envoy.LEFT_OUT)
        drivers = [[options.python, HERE / "python" / name] for name in PYTHON]
        drivers += [["node", Path(options.node) / name] for name in NODE]
        run = lambda driver: subprocess.run(driver, env=env, stdout=subprocess.PIPE, text=True, check=True)
        with ThreadPoolExecutor(len(drivers)) as pool:
            outputs = list(pool.map(run, drivers))
    return [json.loads(line) for output in outputs for line in output.stdout.splitlines()]


@contextlib.contextmanager
def process(command, **options):
    """A program that runs meanwhile, and ends without a complaint when it is asked to."""
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
    try:
        yield running
    finally:
        if running.stdin:
            running.stdin.close()
        else:
            running.terminate()
        if running.wait() != 0:
            raise SystemExit(f"{command[0]} ended with {running.returncode}")


if __name__ == "__main__":
    main()
