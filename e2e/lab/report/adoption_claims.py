"""The hypotheses of an `adoption` run, judged against the paper's figures, and against the paper's code measured at the
same time."""

from dataclasses import replace

from .adoption import ALT_SVC, DEADLINE_MS, GO_RACE, RACES, paper_adopted, paper_row, times_of
from .estimates import Estimate, Mulberry32, ratio_of_means, ratio_of_shares, rule_of_three
from .hypotheses import Hypothesis, fixed, format_number, judge

# As many as P2 made in each cell; hypotheses are not judged on fewer.
JUDGED_TRIALS = 1000
MAX_MISSES_IN_1000 = 3
# Beyond the link's round trip, until the handshake is complete.
MAX_OVER_DELAY_MS = 2
# Race compared with Alt-Svc at this delay, for which P2 reports 0.51.
RATIO_DELAY_MS = 200
MAX_RATIO = 0.505
# Relative to the Go client's misses, for a known host.
MAX_MISS_RATIO = 0.5


def _judged(run, claim, *sides):
    """If one side crashed there is only a trend: the results of the turn in which it crashed are unknown, and may be
    the reason."""
    broken = "; ".join(
        f"{side.client['name']} crashed after {side.adopted.of} trials" for side in sides if side.broke_off
    )
    if broken:
        return judge(replace(claim, note=f"{claim.note}; {broken}") if claim.goal is None else claim, broken)
    least = min(side.adopted.of for side in sides)
    if run.asked["full"] and least >= JUDGED_TRIALS:
        return judge(claim)
    return judge(claim, "not a --full run" if least >= JUDGED_TRIALS else f"{least} of {JUDGED_TRIALS} trials")


def _unmeasured(run, claim, scenario, *names):
    def why(name):
        absent = next((each for each in run.absent if each["name"] == name), None)
        if absent is not None:
            return f"{absent['title']}: {absent['why']}"
        crashed = run.crashed.get((scenario["id"], name))
        return f"{name} was not measured here" if crashed is None else f"{name} crashed: {crashed}"

    missing = [name for name in names if run.find(scenario, name) is None]
    return judge(replace(claim, note="; ".join(map(why, missing))))


def _label(scenario):
    if scenario["loss"] == 0:
        return f"delay {scenario['delayMs']} ms"
    delay = f", delay {scenario['delayMs']} ms" if scenario["delayMs"] > 0 else ""
    return f"loss {format_number(100 * scenario['loss'])} %{delay}"


def _loss_label(scenario):
    return "loss 0 %" if scenario["loss"] == 0 else _label(scenario)


def _misses_by_delay(run, scenario, name):
    paper, go = paper_adopted(paper_row("race", scenario)), run.whole(scenario, GO_RACE)
    anchor = f"P2 {paper.of - paper.hits}" if paper else ""
    anchor += f"; Go client here {go.misses.hits} of {go.adopted.of}" if go else ""
    claim = Hypothesis(
        group="Misses of HTTP/3 by delay, in 1000 trials",
        name=f"{name}, {_label(scenario)}",
        goal=("at most", MAX_MISSES_IN_1000),
        anchor=anchor,
    )
    figures = run.find(scenario, name)
    if figures is None:
        return _unmeasured(run, claim, scenario, name)
    hits, of = figures.misses
    adoption = figures.adoption.scaled(-1000, 1000)
    note = (
        f"none of {of}: at most {format_number(1000 * rule_of_three(of))} by the rule of three"
        if hits == 0
        else f"{hits} of {of}, each explained below"
    )
    measured = Estimate(adoption.value, adoption.high, adoption.low)
    return _judged(run, replace(claim, measured=measured, note=note), figures)


def _established_by_delay(run, scenario, name):
    delay = scenario["delayMs"]
    paper = paper_row("race", scenario)
    over = "" if paper is None else f"P2 {format_number(paper['meanMs'] - delay)}"
    others = []
    for client in run.clients if name == "race" else []:
        peer = run.whole(scenario, client["name"])
        if client["kind"] == "peer" and ALT_SVC not in client["name"] and peer and peer.established:
            mean = float(fixed(peer.established.mean.value - delay, 2))
            others.append(f"{client['name']} {format_number(mean)}")
    claim = Hypothesis(
        group="Mean time to established by delay, over the delay",
        name=f"{name}, {_label(scenario)}",
        unit="ms",
        goal=("at most", MAX_OVER_DELAY_MS),
        anchor="; here ".join(text for text in (over, ", ".join(others)) if text),
    )
    figures = run.find(scenario, name)
    times = figures and figures.established
    if not times:
        return _unmeasured(run, claim, scenario, name)
    note = f"mean {format_number(times.mean.value)}, median {format_number(times.median_ms)}"
    return _judged(run, replace(claim, measured=times.mean.scaled(1, -delay), note=note), figures)


def _compare_means(run, claim, scenario, names, key):
    """The ratio of two clients' means in one scenario."""
    sides = [run.find(scenario, name) for name in names]
    if None in sides:
        return _unmeasured(run, claim, scenario, *names)
    ours, theirs = (times_of(side.trials, key) for side in sides)
    if len(ours) == 0 or len(theirs) == 0:
        return judge(replace(claim, note="not told by both clients"))
    failed = [side.failed for side in sides]
    counted = f"; failed trials at {DEADLINE_MS} ms: {failed[0]} and {failed[1]}" if any(failed) else ""
    note = f"{format_number(ours.mean())} ms against {format_number(theirs.mean())}{counted}"
    measured = ratio_of_means(ours, theirs, Mulberry32(run.meta["seed"]))
    return _judged(run, replace(claim, measured=measured, note=note), *sides)


def _race_against_alt_svc(run):
    scenario = next((each for each in run.delays if each["delayMs"] == RATIO_DELAY_MS), None)
    if scenario is None:
        return
    race, alt_svc = (paper_row(side, scenario) for side in ("race", "altSvc"))
    anchor = f"P2 {format_number(race['meanMs'] / alt_svc['meanMs'])}" if race and alt_svc else ""
    go = [run.whole(scenario, name) for name in (GO_RACE, "go-alt-svc")]
    if all(side and side.established for side in go):
        anchor += f"; Go client here {format_number(go[0].established.mean.value / go[1].established.mean.value)}"
    for name in RACES:
        claim = Hypothesis(
            group="Mean time to established, race over Alt-Svc",
            name=f"{name} over {ALT_SVC}, {_label(scenario)}",
            unit="x",
            goal=("at most", MAX_RATIO) if name == "race" else None,
            anchor=anchor,
        )
        yield _compare_means(run, claim, scenario, (name, ALT_SVC), "establishedMs")


def _misses_by_loss(run, scenario, name):
    paper = paper_adopted(paper_row("race", scenario))
    claim = Hypothesis(
        group="Misses of HTTP/3 by loss, over the Go client's",
        name=f"{name}, {_loss_label(scenario)}",
        unit="x",
        goal=("at most", MAX_MISS_RATIO) if name == "race-known" else None,
        anchor=f"P2 {paper.of - paper.hits} of {paper.of}" if paper else "",
    )
    ours, go = run.find(scenario, name), run.find(scenario, GO_RACE)
    if ours is None or go is None:
        return _unmeasured(run, claim, scenario, name, GO_RACE)
    own, theirs = ours.misses, go.misses
    none = "; without any miss there is no ratio" if own.hits == theirs.hits == 0 else ""
    three = f"; ours at most {format_number(100 * rule_of_three(own.of))} % by the rule of three" if own.hits == 0 else ""
    note = f"{own.hits} of {own.of} against {theirs.hits} of {theirs.of}{none}{three}"
    return _judged(run, replace(claim, measured=ratio_of_shares(own, theirs), note=note), ours, go)


def _means_by_loss(run, key, group):
    for scenario in run.losses:
        for name in RACES:
            paper = paper_row("race", scenario) if key == "establishedMs" else None
            claim = Hypothesis(
                group=group,
                name=f"{name}, {_loss_label(scenario)}",
                unit="x",
                goal=("at most" if name == "race" else "below", 1),
                anchor=f"P2 mean {format_number(paper['meanMs'])} ms" if paper else "",
            )
            yield _compare_means(run, claim, scenario, (name, GO_RACE), key)


def hypotheses(run):
    """In the order of the report."""
    return [
        *(_misses_by_delay(run, scenario, name) for scenario in run.delays for name in RACES),
        *(_established_by_delay(run, scenario, name) for scenario in run.delays for name in RACES),
        *_race_against_alt_svc(run),
        *(_misses_by_loss(run, scenario, name) for scenario in run.losses for name in RACES),
        *_means_by_loss(run, "establishedMs", "Mean time to established by loss, over the Go client's"),
        *_means_by_loss(run, "firstByteMs", "Mean time to first byte by loss, over the Go client's first response"),
    ]
