"""An experiment's record: `meta.json` and the complete lines of `trials.jsonl`."""

import json
from pathlib import Path

SCHEMA = "photofinish.lab/1"


def read(folder):
    """The meta document and the lines. Raises ValueError for content that no experiment has written."""
    meta = json.loads((Path(folder) / "meta.json").read_text())
    if meta.get("schema") != SCHEMA:
        raise ValueError(f"{folder}: not a record of {SCHEMA}")
    whole, _, _torn = (Path(folder) / "trials.jsonl").read_text().rpartition("\n")
    return meta, [json.loads(line) for line in whole.split("\n") if line]
