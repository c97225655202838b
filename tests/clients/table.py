"""Outcomes as tables: for the file that holds them, and for people."""

import json

ORDER = ["openai-chat", "openai-responses", "anthropic-messages", "gemini"]
TITLES = {
    "openai-chat": "Chat Completions",
    "openai-responses": "Responses",
    "anthropic-messages": "Messages",
    "gemini": "Gemini",
}
KEYS = ["returns", "raises", "message", "text", "calls", "ran", "why", "second", "upstream", "asked"]


def outcomes(lines):
    """API, scenario, client: outcome."""
    found = {}
    for line in lines:
        scenarios = found.setdefault(line["api"], {})
        # A table of TOML has no null.
        outcome = {key: "nothing" if value is None else value for key, value in line["outcome"].items()}
        scenarios.setdefault(line["scenario"], {})[line["client"]] = outcome
    return found


def to_toml(found):
    text = "# What every SDK makes of every scenario, measured: written by `tests/clients/run --write`.\n"
    for api in ORDER:
        for scenario, clients in found[api].items():
            text += f"\n[{api}.{json.dumps(scenario)}]\n"
            for client, outcome in clients.items():
                fields = [f"{key} = {json.dumps(outcome[key])}" for key in KEYS if key in outcome]
                text += f"{json.dumps(client)} = {{ {', '.join(fields)} }}\n"
    return text


def differences(expected, found):
    """A line for each outcome that is not as expected."""
    wrong = []
    for api in ORDER:
        old, new = expected.get(api, {}), found.get(api, {})
        for scenario in [*old, *(s for s in new if s not in old)]:
            clients = {**old.get(scenario, {}), **new.get(scenario, {})}
            for client in clients:
                want = old.get(scenario, {}).get(client)
                have = new.get(scenario, {}).get(client)
                if want != have:
                    wrong.append(f"{api}, {client}, {scenario}: expected {want}, found {have}")
    return wrong


def fill(guide, found):
    """The guide, with tables that say what was found."""
    for api in ORDER:
        start, end = f"<!-- {api} -->\n", f"<!-- end of {api} -->"
        before, rest = guide.split(start)
        after = rest.split(end)[1]
        guide = before + start + markdown(found[api]) + end + after
    return guide


def markdown(scenarios):
    return overview(scenarios) + "\n" + details(scenarios)


def overview(scenarios):
    """What returns, and what raises: a column for each client."""
    clients = list(dict.fromkeys(client for by_client in scenarios.values() for client in by_client))
    text = row(["scenario", *(f"`{client}`" for client in clients)])
    text += row(["---"] * (len(clients) + 1))
    for scenario, by_client in scenarios.items():
        # The helpers over streams have no whole answers.
        cells = [cell(by_client[client]) if client in by_client else "–" for client in clients]
        text += row([scenario, *cells])
    return text


def details(scenarios):
    """What is seen where an answer does not simply go on: a row for clients that see the same."""
    text = row(["scenario", "clients", "outcome", "text", "calls", "reason given"])
    text += row(["---"] * 6)
    for scenario, by_client in scenarios.items():
        if all("second" in outcome for outcome in by_client.values()):
            continue
        groups = {}
        for client, outcome in by_client.items():
            reason = outcome.get("message") or outcome.get("why") or ""
            seen = (cell(outcome), code(outcome["text"]), code(*outcome.get("calls", [])), plain(reason))
            groups.setdefault(seen, []).append(client)
        for seen, clients in groups.items():
            text += row([scenario, code(*clients), *seen])
    return text


def cell(outcome):
    if "upstream" in outcome:
        return f"upstream {outcome['upstream']}"
    if "raises" in outcome:
        return f"raises `{outcome['raises']}`"
    return f"`{outcome['returns']}`"


def code(*texts):
    return ", ".join(f"`{text}`" for text in texts if text)


def plain(text):
    return text.replace("|", "\\|").replace("\n", " ")


def row(cells):
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|\n"
