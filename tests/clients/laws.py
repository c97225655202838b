"""What has to hold for every SDK, whatever the tables say."""

import re

# What the caller of any SDK gets where the answer goes on: the text, and the calls to run.
READ = 'read_file {"path":"notes.txt"}'
ANSWERS = {
    "passthrough": ("Let me look.", [READ]),
    "one-dropped": ("Let me look.", [READ]),
    "all-dropped": ("On it.", []),
    "only-calls-dropped": ("[withheld by policy]", []),
    "replaced": ("Let me run it.", ['run {"command":"ls -l"}']),
    "redacted": ("The key [redacted] is in place.", ['read_file {"path":"[redacted].txt"}']),
    "long-hold": ("Let me look.", [READ]),
    "loop-0": ("It is 3.", []),
    "loop-1": ("Count.It is 3.", []),
    "loop-3": ("Count.Count.Count.It is 3.", []),
}

# Endings that a caller takes for an answer.
NORMAL = {"stop", "tool_calls", "tool-calls", "end_turn", "tool_use", "completed", "STOP", None}
# Those of an answer that has no calls.
FINISHED = {"stop", "end_turn", "completed", "STOP"}


def broken(lines):
    """A line for each law that an outcome breaks."""
    wrong = []
    for line in lines:
        for law in (no_trace, answered, blocked, cancelled, looped):
            problem = law(line["scenario"].removeprefix("whole/"), line["outcome"], line)
            if problem:
                wrong.append(f"{line['api']}, {line['client']}, {line['scenario']}: {problem}")
    return wrong


def no_trace(_, outcome, line):
    """Nothing that was dropped, redacted or blocked is in anything the SDK handed out."""
    for thing in [*line["handed_out"], str(outcome)]:
        if "canary" in thing.lower():
            return f"expected no trace of what was withheld, found {thing}"


def answered(scenario, outcome, _):
    """What goes on returns, without an exception, and so does the next turn."""
    if scenario not in ANSWERS:
        return None
    text, calls = ANSWERS[scenario]
    found = {key: outcome.get(key) for key in ("text", "calls", "second")}
    expected = {"text": text, "calls": calls, "second": "Fine."}
    if "ran" in outcome and outcome["ran"] != calls:
        return f"expected {calls} to be run, found {outcome['ran']}"
    if found != expected or outcome.get("returns") not in NORMAL - {None}:
        return f"expected an answer with {expected}, found {outcome}"


def blocked(scenario, outcome, _):
    """A block, and an upstream that fails, is never taken for an answer; a block is not asked for again."""
    if not scenario.startswith(("blocked-", "upstream-")):
        return None
    if scenario == "blocked-status" and "raises" not in outcome:
        return f"expected an exception, found {outcome}"
    if outcome.get("asked", "1") != "1":
        return f"expected to be asked once, found {outcome}"
    if "raises" not in outcome and outcome.get("returns") in NORMAL:
        return f"expected an exception or the ending of a refusal, found {outcome}"


def cancelled(scenario, outcome, _):
    """A client that leaves takes the upstream with it."""
    if scenario == "cancel" and outcome.get("upstream") != "cancelled":
        return f"expected the upstream to be cancelled, found {outcome}"


def looped(scenario, outcome, line):
    """What the gateway runs itself is not seen, the answer ends as one, and the counts of all answers are added up."""
    if not scenario.startswith("loop-"):
        return None
    if outcome.get("returns") not in FINISHED:
        return f"expected the end of an answer without calls, found {outcome}"
    for thing in line["handed_out"]:
        if "count_letters" in thing:
            return f"expected no trace of the gateway's own call, found {thing}"
    answers = int(scenario.removeprefix("loop-")) + 1
    for count in (12 * answers, 7 * answers):
        if not any(re.search(rf"\b{count}\b", thing) for thing in line["handed_out"]):
            return f"expected a count of {count}, found none"
