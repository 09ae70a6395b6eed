"""A run's tables: the same cells go to the terminal, the page and the JSON document."""

from dataclasses import dataclass, field
from typing import NamedTuple

# The cell text where nothing was measured.
NONE = "–"


class Column(NamedTuple):
    title: str
    right: bool = False


class Row(NamedTuple):
    # Rows of one scenario are adjacent.
    scenario: str
    cells: list[str]
    kind: str = ""
    # Of the client, or `paper`.
    client: str = ""


@dataclass(frozen=True)
class Table:
    id: str
    title: str
    # What is needed to understand it.
    caption: str
    # The scenario's column first.
    columns: list[Column]
    rows: list[Row] = field(default_factory=list)


def right(*titles):
    return [Column(title, right=True) for title in titles]


def format_table(columns, rows):
    """Columns as wide as their widest cell, numbers right-aligned, a rule under the header."""
    rows = [list(row) for row in rows]
    widths = [
        max([len(column.title), *(len(row[index]) for row in rows if index < len(row))])
        for index, column in enumerate(columns)
    ]

    def line(cells):
        padded = [
            cell.rjust(width) if column.right else cell.ljust(width)
            for column, width, cell in zip(columns, widths, cells)
        ]
        return "  ".join(padded).rstrip()

    rule = "  ".join("─" * width for width in widths)
    return "\n".join([line([column.title for column in columns]), rule, *map(line, rows)])


def format_result_table(table):
    """For the terminal, where a scenario is named only in its first row."""
    above = [None, *(row.scenario for row in table.rows)]
    rows = [["" if row.scenario == last else row.scenario, *row.cells] for last, row in zip(above, table.rows)]
    return f"{table.title}\n{table.caption}\n{format_table(table.columns, rows)}"


def format_markdown(table):
    """For a release note; the scenario is in every row."""
    rules = ["---:" if column.right else "---" for column in table.columns]
    rows = [[column.title for column in table.columns], rules, *([row.scenario, *row.cells] for row in table.rows)]
    lines = [f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in rows]
    return "\n".join([f"**{table.title}**", "", *lines, ""])
