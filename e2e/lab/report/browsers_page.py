"""The page of `browsers`: for each sweep the table, and a drawing of how many visits waited at each delay."""

from . import browsers, plots
from .page import Figure, Page, Section
from .pages import HOW, conditions

WIDTH = 1056


def _figure(run, sweep, signs):
    cells = run.of(sweep)
    delays = run.asked["delaysMs"]
    series = [
        (
            signs[cell.client["name"]],
            [browsers.share(cell.waits[delay]) if delay in cell.waits else None for delay in delays],
        )
        for cell in cells
    ]
    name = f"waits-{sweep['name']}"
    drawing = plots.points(
        name,
        f"{sweep['title']}: how many visits {browsers.WAITS[sweep['late']]}, by delay.",
        [f"{delay:g}" for delay in delays],
        ("delay, ms", f"visits that {browsers.WAITS[sweep['late']]}"),
        series,
        ticks=list(range(0, 101, 20)),
        unit="%",
        width=WIDTH,
    )
    legend = [(plots.legend(signs[cell.client["name"]], f"{name}-of-{cell.client['name']}"), cell.client["title"]) for cell in cells]
    return Figure(sweep["title"], "Shares of all visits with 95 % Wilson intervals.", [drawing], legend)


def page(run, tables):
    signs = plots.signs((client["name"], client["kind"]) for client in run.asked["clients"])
    versions = {client["title"]: client["version"] for client in run.asked["clients"] if client["kind"] == "browser"}
    load = [] if run.load is None else [("Load per processor", "median {:.2f}, at most {:.2f}".format(*run.load))]
    absent = [client["title"] for client in run.found["absent"]]
    return Page(
        title="What browsers really do",
        lead="Which delay of QUIC, of IPv6 and of DNS answers clients wait for: by their packets and the server's log.",
        conditions=conditions(
            run.meta,
            ("Versions", ", ".join(f"{name} {each}" for name, each in {**run.found["versions"], **versions}.items())),
            ("Visits at each delay", str(run.asked["trials"])),
            *load,
        ),
        rows=[],
        sections=[
            *(
                Section(sweep["title"], figures=[_figure(run, sweep, signs)], tables=[table])
                for sweep, table in zip(run.asked["sweeps"], tables)
                if run.of(sweep)
            ),
            *(
                [Section("QUIC that fails", tables=[each for each in tables[len(run.asked["sweeps"]) :] if each.rows])]
                if run.asked["ways"]
                else []
            ),
            *([Section("Not measured", lists=[{"title": "Clients", "lines": absent}])] if absent else []),
        ],
        footer=[HOW],
    )
