"""Why a race did not end with HTTP/3: one line per trial where misses should not occur, counts by cause where the link
loses packets."""

from collections import Counter

from .adoption import RACES
from .hypotheses import fixed
from .link import lateness_words

TITLE = "Races that did not adopt HTTP/3"
# In a scenario without loss up to this many misses are listed individually; more are counted by cause.
TOLD_ONE_BY_ONE = 20

# By the state of the QUIC attempts when the race ended.
CAUSES = {
    "silent": "no datagram had come back over QUIC when TCP was established",
    "unfinished": "QUIC had answered, but part of its flight was missing or still on its way",
    "quic-failed": "QUIC had failed before TCP was established",
    "not-tried": "no QUIC attempt was made",
    "nothing-adopted": "neither protocol was established in time",
    "unanswered": "what was adopted brought no answer in time",
    "untraced": "the client left no record of the trial",
}


def _quic(trace):
    return [attempt for attempt in trace["attempts"] if attempt["protocol"] == "h3"]


def cause_of(adopted, trace):
    """The cause for a trial that did not adopt HTTP/3; `trace` is our own client's complete record of it, or None."""
    if adopted is None:
        established = trace and any(attempt["establishedMs"] is not None for attempt in trace["attempts"])
        return "unanswered" if established else "nothing-adopted"
    if trace is None:
        return "untraced"
    quic = _quic(trace)
    if not quic:
        return "not-tried"
    over_ms = trace["establishedMs"]
    answers = [attempt["transportMs"] for attempt in quic if attempt.get("transportMs") is not None]
    if any(over_ms is None or answer <= over_ms for answer in answers):
        return "unfinished"
    return "quic-failed" if all(attempt["outcome"] == "failed" for attempt in quic) else "silent"


def _at(value):
    return "–" if value is None else fixed(value, 1)


def _attempt_words(attempt):
    name, first = ("QUIC", "first datagram") if attempt["protocol"] == "h3" else ("TCP", "connected")
    code = attempt.get("error", {}).get("code", "cancelled")
    failed = "" if code == "cancelled" else f", failed: {code}"
    fresh = "fresh " if attempt.get("fresh") else ""
    times = f"{first} {_at(attempt.get('transportMs'))}, established {_at(attempt['establishedMs'])}"
    return f"{fresh}{name} started {_at(attempt['startedMs'])}, {times}{failed}"


def _margin_words(trace):
    """By how much HTTP/3 was late."""
    if trace["establishedMs"] is None:
        return "nothing was adopted"
    quic = [attempt["establishedMs"] for attempt in _quic(trace) if attempt["establishedMs"] is not None]
    return f"HTTP/3 {fixed(min(quic) - trace['establishedMs'], 1)} ms late" if quic else "HTTP/3 was not established"


def trace_words(trace, error):
    """A trial's attempts with their times in milliseconds from its start, and its margin."""
    if trace is None:
        return error or "no record"
    return "; ".join([*map(_attempt_words, trace["attempts"]), _margin_words(trace)])


def known(value):
    """None for pandas' representation of a value that a record lacks."""
    return value if isinstance(value, (str, dict)) else None


def misses_of_run(run):
    """Every miss of our races, ordered by scenario and trial, which are numbered from 1."""
    misses = []
    for scenario in (each["id"] for each in run.asked["scenarios"]):
        for client in RACES:
            trials = run.trials_of(scenario, client)
            for index, trial in trials[trials["adopted"] != "h3"].iterrows():
                trace = known(trial["trace"])
                words = trace_words(trace, known(trial["error"]))
                misses.append(
                    {
                        "scenario": scenario,
                        "client": client,
                        "number": index + 1,
                        "cause": cause_of(known(trial["adopted"]), trace),
                        "words": f"{words}; {lateness_words(run.links[scenario, client, trial['turn']])}",
                    }
                )
    return misses


def told_misses(run):
    """For display, one entry per scenario and client: a title, counts by cause, and single trials if the link loses
    nothing."""
    told = []
    misses = misses_of_run(run)
    for scenario in run.asked["scenarios"]:
        for client in RACES:
            own = [each for each in misses if (each["scenario"], each["client"]) == (scenario["id"], client)]
            if not own:
                continue
            lines = [f"trial {each['number']}: {each['words']}" for each in own] if scenario["loss"] == 0 else []
            if len(lines) > TOLD_ONE_BY_ONE:
                lines = [*lines[:TOLD_ONE_BY_ONE], f"{len(lines) - TOLD_ONE_BY_ONE} more in the JSON file"]
            of = len(run.trials_of(scenario["id"], client))
            causes = Counter(each["cause"] for each in own).most_common()
            told.append(
                {
                    "title": f"{client}, {scenario['id']}: {len(own)} of {of} trials",
                    "causes": [f"{count}: {CAUSES[cause]}" for cause, count in causes],
                    "lines": lines,
                }
            )
    return told


def format_misses(run):
    told = [
        "\n".join([each["title"], *(f"  {line}" for line in each["causes"] + each["lines"])])
        for each in told_misses(run)
    ]
    return "\n".join([TITLE, *(told or ["none"])])
