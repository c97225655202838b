"""Runs every SDK through every scenario, and holds the outcomes against expected.toml and docs/clients.md.

`--write` writes both files anew. Some things no file can excuse: they are in `laws.py`.
"""

import argparse
import json
import os
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import laws
import table

HERE = Path(__file__).parent
EXPECTED = HERE / "expected.toml"
GUIDE = HERE.parent.parent / "docs" / "clients.md"
PYTHON = ["openai_sdk.py", "anthropic_sdk.py", "google_sdk.py"]
NODE = ["openai_sdk.mjs", "anthropic_sdk.mjs", "google_sdk.mjs", "ai_sdk.mjs"]


def main():
    options = argparse.ArgumentParser()
    for name in ("--host", "--python", "--node"):
        options.add_argument(name, required=True)
    options.add_argument("--write", action="store_true")
    options = options.parse_args()

    lines = measure(options)
    wrong = laws.broken(lines)
    found = table.outcomes(lines)
    guide = table.fill(GUIDE.read_text(), found)
    if options.write:
        EXPECTED.write_text(table.to_toml(found))
        GUIDE.write_text(guide)
    expected = tomllib.loads(EXPECTED.read_text())
    wrong += table.differences(expected, found)
    if guide != GUIDE.read_text():
        wrong.append("docs/clients.md: its tables are not those of expected.toml; run with --write")
    print(*wrong, sep="\n")
    clients = {(line["api"], line["client"]) for line in lines}
    print(f"{len(lines)} outcomes of {len(clients)} clients, {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


def measure(options):
    """The lines of all drivers."""
    host = subprocess.Popen([options.host], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        env = os.environ | json.loads(host.stdout.readline())
        drivers = [[options.python, HERE / "python" / name] for name in PYTHON]
        drivers += [["node", Path(options.node) / name] for name in NODE]
        run = lambda driver: subprocess.run(driver, env=env, stdout=subprocess.PIPE, text=True, check=True)
        with ThreadPoolExecutor(len(drivers)) as pool:
            outputs = list(pool.map(run, drivers))
    finally:
        host.stdin.close()
        host.wait()
    return [json.loads(line) for output in outputs for line in output.stdout.splitlines()]


if __name__ == "__main__":
    main()
