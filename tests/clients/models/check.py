"""Holds the readings of the SDKs against readings.json; `--write` writes them down.

Usage: check.py [--write] FILE…, each with the lines of a driver.
"""

import json
import sys
from pathlib import Path

TABLE = Path(__file__).parent / "readings.json"


def main():
    write = "--write" in sys.argv
    files = [Path(name) for name in sys.argv[1:] if name != "--write"]
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    found = sorted(lines, key=lambda line: (line["case"], line["client"]))
    text = "[\n" + ",\n".join(json.dumps(line, sort_keys=True) for line in found) + "\n]\n"
    if write:
        TABLE.write_text(text)
    known = {(line["case"], line["client"]): line for line in json.loads(TABLE.read_text())}
    wrong = 0
    for line in found:
        expected = known.pop((line["case"], line["client"]), None)
        if expected != line:
            wrong += 1
            print(f"{line['client']}, {line['case']}: expected {expected}, found {line}")
    for case, client in known:
        wrong += 1
        print(f"{client}, {case}: not read")
    print(f"{len(found)} readings of odd and plain streams, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
