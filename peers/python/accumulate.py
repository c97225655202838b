"""What an event costs in the official Python SDKs: CPU time over recorded streams, one event for each read.

`accumulate.py [PEERS]` prints a table for each API, with ratios to `json.loads` of the same events. PEERS is the program of this
crate, which then takes the same streams in the same run. A stream that a way cannot read is left out for that way.
"""

import json
import re
import subprocess
import sys
import time
from os import environ
from pathlib import Path

import anthropic
import httpx2
import openai

MESSAGES = [{"role": "user", "content": "Go on."}]
BLANK_LINE = re.compile(rb"(?<=\n\n)|(?<=\r\n\r\n)")
FEWEST_EVENTS = 30


def http(events):
    """A client that gets these events, whatever it asks for."""

    def answer(_):
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=iter(events))

    return httpx2.Client(transport=httpx2.MockTransport(answer))


def open_ai(events):
    return openai.OpenAI(base_url="http://upstream/v1", api_key="x", max_retries=0, http_client=http(events))


def claude(events):
    return anthropic.Anthropic(base_url="http://upstream", api_key="x", max_retries=0, http_client=http(events))


def parse(events):
    for event in events:
        for line in event.splitlines():
            if line.startswith(b"data: ") and line != b"data: [DONE]":
                json.loads(line[6:])


def drain(stream):
    with stream as events:
        for _ in events:
            pass


WAYS = {
    "openai-chat": {
        "json.loads": parse,
        "openai, iterated": lambda events: drain(
            open_ai(events).chat.completions.create(model="m", messages=MESSAGES, stream=True)
        ),
        "openai, accumulated": lambda events: drain(
            open_ai(events).chat.completions.stream(model="m", messages=MESSAGES)
        ),
    },
    "openai-responses": {
        "json.loads": parse,
        "openai, iterated": lambda events: drain(
            open_ai(events).responses.create(model="m", input="Go on.", stream=True)
        ),
        "openai, accumulated": lambda events: drain(open_ai(events).responses.stream(model="m", input="Go on.")),
    },
    "anthropic-messages": {
        "json.loads": parse,
        "anthropic, iterated": lambda events: drain(
            claude(events).messages.create(model="m", max_tokens=9, messages=MESSAGES, stream=True)
        ),
        "anthropic, accumulated": lambda events: drain(
            claude(events).messages.stream(model="m", max_tokens=9, messages=MESSAGES)
        ),
    },
}


def recorded(api):
    for path in sorted((Path(environ["STREAM_CORPUS"]) / api).glob("*.sse")):
        events = [event for event in BLANK_LINE.split(path.read_bytes()) if event]
        if len(events) >= FEWEST_EVENTS:
            yield events


def cost(way, streams):
    """Microseconds of CPU time per event, and how many streams were read."""
    spent, events, read = 0.0, 0, 0
    for stream in streams:
        start = time.process_time()
        try:
            way(stream)
        except Exception:
            continue
        spent += time.process_time() - start
        events += len(stream)
        read += 1
    return spent * 1e6 / events, read


def own(program, way, api):
    """The same for a way of this project, which reads every stream."""
    run = subprocess.run([program, way, f"recorded-{api}"], capture_output=True, text=True, check=True)
    return float(run.stderr.split()[0]) / 1e3


def main():
    for api, ways in WAYS.items():
        streams = list(recorded(api))
        rows = []
        for name, way in ways.items():
            cost(way, streams[:3])
            rows.append((name, *cost(way, streams)))
        for program in sys.argv[1:]:
            rows.append(("`gate`", own(program, "gate", api), len(streams)))
        print(f"| {api}, {len(streams)} streams | µs per event | of `json.loads` | streams read |\n|---|---:|---:|---:|")
        for name, spent, read in rows:
            print(f"| {name} | {spent:.2f} | {spent / rows[0][1]:.2f} | {read} |")
        print(flush=True)


main()
