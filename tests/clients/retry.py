"""Clients beyond their limits: the gateway answers 429 with `retry-after`, and each SDK's own retry gets the answer.

Every SDK has a client of its own for either limit (requests in a minute, answers under way). The driver uses the limit up, then
asks with the SDK as its callers do; the gateway's log tells how often it was asked, and when.
"""

import argparse
import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from run import process

HERE = Path(__file__).parent
# SDKs that wait for as long as `retry-after` says, and those that wait for as long as they think right.
HONOURS = ["openai-python", "openai-python-responses", "anthropic-python", "openai-node", "anthropic-node", "ai"]
OWN_WAY = ["google-genai-python", "google-genai-node"]
RATE = 20
LIMITS = {"rate": f"requests_per_minute = {RATE}", "streams": "streams = 1"}
TEXT = "Let me look."


def main():
    options = argparse.ArgumentParser()
    for name in ("--upstream", "--gateway", "--python", "--node"):
        options.add_argument(name, required=True)
    options = options.parse_args()
    clients = [(name, limit) for name in HONOURS + OWN_WAY for limit in LIMITS]
    with tempfile.TemporaryDirectory() as directory:
        config = Path(directory) / "gateway.toml"
        config.write_text(written(clients))
        told = measure(options, config)
        log = [json.loads(line) for line in (Path(directory) / "requests.jsonl").read_text().splitlines()]
    wrong = []
    for name, limit in clients:
        wrong += [f"{name} beyond its {limit}: {what}" for what in broken(name, limit, told, log)]
    print(*wrong, sep="\n")
    print(f"{len(clients)} refusals of {len(HONOURS + OWN_WAY)} SDKs, {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


def written(clients):
    """The gateway's file."""
    text = 'request_log = "requests.jsonl"\n[[policy]]\nkind = "passthrough"\n'
    for name, limit in clients:
        key = hashlib.sha256(f"key-of-{name}-{limit}".encode()).hexdigest()
        text += f'[[client]]\nname = "{name}-{limit}"\nkey_sha256 = "{key}"\n{LIMITS[limit]}\n'
    return text


def measure(options, config):
    """What each caller got."""
    with contextlib.ExitStack() as running:
        upstream = running.enter_context(process([options.upstream], stdin=subprocess.PIPE))
        env = os.environ | json.loads(upstream.stdout.readline())
        serve = [options.gateway, "serve", "--config", config, "--listen", "127.0.0.1:0", "--log", "error"]
        gateway = running.enter_context(process([*serve, "--upstream", env["UPSTREAM"]]))
        env["REQUESTS"] = str(config.parent / "requests.jsonl")
        env["GATEWAY"] = gateway.stdout.readline().split()[-1]
        drivers = [[options.python, HERE / "python" / "retry_sdk.py"], ["node", Path(options.node) / "retry_sdk.mjs"]]
        outputs = [
            subprocess.run(driver, env=env, stdout=subprocess.PIPE, text=True, check=True, timeout=120)
            for driver in drivers
        ]
    lines = [json.loads(line) for output in outputs for line in output.stdout.splitlines()]
    return {(line["client"], line["limit"]): line["text"] for line in lines}


def broken(name, limit, told, log):
    """What is wrong with an SDK's coming back."""
    if told.get((name, limit)) != TEXT:
        yield f"expected the text {TEXT!r}, found {told.get((name, limit))!r}"
    asked = [line for line in log if line["client"] == f"{name}-{limit}" and line["path"].startswith("/passthrough/")]
    statuses = [line["status"] for line in asked]
    if name in HONOURS:
        if statuses != [429, 200]:
            yield f"expected one refusal and one answer, found {statuses}"
        else:
            waited = began(asked[1]) - asked[0]["time_ms"]
            least = told_to_wait(limit, f"{name}-{limit}", asked[0], log)
            # The clock of the log has a millisecond.
            if waited < least - 20:
                yield f"expected it to wait {least} ms, found {waited} ms"
    elif statuses[:1] != [429] or statuses[-1:] != [200] or set(statuses[:-1]) != {429}:
        yield f"expected refusals and then one answer, found {statuses}"


def told_to_wait(limit, client, refused, log):
    """For how long the gateway has nothing for a client that it refuses, in milliseconds."""
    if limit == "streams":
        return 1000
    # The requests of a minute are there at once, and each comes back after its share of the minute, from the first one on.
    taken = [began(line) for line in log if line["client"] == client and line["path"] == "/used-up" and line["status"] != 429]
    return min(taken) + (len(taken) - RATE + 1) * 60_000 // RATE - refused["time_ms"]


def began(line):
    return line["time_ms"] - line["took_ms"]


if __name__ == "__main__":
    main()
