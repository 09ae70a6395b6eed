"""The part of `browsers` in which QUIC fails: when each client tried it again, and when it used HTTP/3 again."""

from .hypotheses import fixed
from .tables import NONE, Column, Row, Table, right

LATE = "late-quic"
LATE_COLUMNS = ("late visit", "on the same connections", "on new connections, not late")


def tried(visit):
    """Whether a QUIC Initial left."""
    return any(attempt["transport"] == "udp" for attempt in visit["attempts"])


def _protocol(visit):
    return NONE if visit["request"] is None else visit["request"]["protocol"]


def _seconds(visit):
    return fixed(visit["startedMs"] / 1000, 0)


def turns_of(lines, way, client):
    """The visits of each turn of a client in a way."""
    return [
        each["visits"]
        for line in lines
        if line["kind"] == "avoidance" and line["way"] == way
        for each in line["clients"]
        if each["client"] == client
    ]


def tries(visits):
    """The visits after the first in which QUIC was tried."""
    return [visit for visit in visits[1:] if tried(visit)]


def returned(visits):
    """The first visit after the first that used HTTP/3; None if none did."""
    return next((visit for visit in visits[1:] if _protocol(visit) == "h3"), None)


def _between(visits, visit):
    """Something that a visit showed happened between the previous visit and this one."""
    return NONE if visit is None else f"{_seconds(visits[visits.index(visit) - 1])} to {_seconds(visit)}"


def _row(client, turns):
    return [
        client["version"],
        "; ".join(_protocol(visits[0]) for visits in turns),
        "; ".join(_between(visits, next(iter(tries(visits)), None)) for visits in turns),
        "; ".join(", ".join(_seconds(visit) for visit in tries(visits)) or NONE for visits in turns),
        "; ".join(_between(visits, returned(visits)) for visits in turns),
        "; ".join(_seconds(visits[-1]) for visits in turns),
    ]


def _late_row(client, turns):
    return [client["version"], *("; ".join(_protocol(visits[nth]) for visits in turns) for nth in range(len(LATE_COLUMNS)))]


def tables(asked, lines):
    found = []
    for way in asked["ways"]:
        late = way["name"] == LATE
        titles = LATE_COLUMNS if late else ("failing visit", "QUIC tried again, s", "tried at, s", "HTTP/3 again, s", "visits until, s")
        rows = [
            Row(client["title"], _late_row(client, turns) if late else _row(client, turns), client["kind"], client["name"])
            for client in asked["clients"]
            if (turns := turns_of(lines, way["name"], client["name"]))
        ]
        caption = (
            "The protocol of each visit by the server's log; turns are separated by semicolons."
            if late
            else "Seconds since the failing visit, at visits over new connections; from the last visit without to the first with"
            " it. Turns are separated by semicolons."
        )
        found.append(Table(way["name"], way["title"], caption, [Column("client"), Column("version"), *right(*titles)], rows))
    return found
