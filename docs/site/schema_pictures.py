"""Pictures of tables as SVG, and the pages' parts about them."""

from html import escape

import schema
from swift_source import cell, name as code, table

COLUMNS = 3  # Of tables beside each other.
WIDTH, GAP, ROW, HEAD, MARGIN = 244, 28, 18, 28, 14
LANE = 7  # From the edge of the picture: where arrows pass.
PALETTE = {"paper": "#f8fafc", "line": "#94a3b8", "head": "#e2e8f0", "text": "#0f172a", "type": "#475569", "arrow": "#4f46e5"}
#: Titles of tables that several schemas have, and of one whose documentation has no short one.
TITLES = {
    "quotastore": "Quotas", "worktable": "Work that is done later", "eventrows": "Events for identity", "userlocks": "Locks of users", "groupeventtables": "Changes of groups"}


def place_of(service, section):
    return f"inside/data-model/{service}-{section.name}.svg"


def pictures(root):
    """The place in the site and the text of each picture."""
    for service in schema.SERVICES:
        for section in schema.sections(service, root):
            yield place_of(service, section), draw(section.tables)


def data_model(service, root):
    """The part of the page about a service's schema."""
    parts = []
    for section in schema.sections(service, root):
        names = ", ".join(found.name for found in section.tables)
        rows = [[code(found.name), cell(found.comment) or "-"] for found in section.tables]
        place = place_of(service, section).removeprefix("inside/")
        title = TITLES.get(section.name, section.title)
        parts.append(f"### {title}\n\n![Tables: {names}]({place})\n\n{table(['table', 'what it holds'], rows)}")
    return "\n".join(parts)


def draw(tables):
    """An SVG of tables: the bold columns are the primary key, and a question mark stands for a column that may be null."""
    boxes = _boxes(tables)
    height = max(y + _height(found) for found, _, y in boxes) + MARGIN
    columns = min(COLUMNS, len(tables))
    width = 2 * MARGIN + columns * WIDTH + (columns - 1) * GAP
    label = escape("; ".join(f"{found.name}: {', '.join(column.name for column in found.columns)}" for found in tables), quote=True)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="12" aria-label="{label}">',
        f'<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" fill="{PALETTE["arrow"]}"/></marker></defs>',
        f'<rect width="{width}" height="{height}" rx="10" fill="{PALETTE["paper"]}"/>',
    ]
    for box in boxes:
        parts += _table(*box, {found.name for found in tables})
    parts += _arrows(boxes)
    return "\n".join([*parts, "</svg>", ""])


def _height(found):
    return HEAD + ROW * len(found.columns) + 8


def _boxes(tables):
    """(table, x, y): each table in the column that is the shortest so far."""
    ends = [MARGIN] * min(COLUMNS, len(tables))
    boxes = []
    for found in tables:
        column = ends.index(min(ends))
        boxes.append((found, MARGIN + column * (WIDTH + GAP), ends[column]))
        ends[column] += _height(found) + GAP
    return boxes


def _table(found, x, y, shown):
    yield (f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{_height(found)}" rx="6" fill="#fff" stroke="{PALETTE["line"]}"/>'
           f'<path d="M{x} {y + HEAD}V{y + 6}a6 6 0 0 1 6-6h{WIDTH - 12}a6 6 0 0 1 6 6V{y + HEAD}z" fill="{PALETTE["head"]}"/>'
           f'<text x="{x + 10}" y="{y + 19}" font-weight="600" font-size="13" fill="{PALETTE["text"]}">{escape(found.name)}</text>')
    if found.is_unlogged:
        yield f'<text x="{x + WIDTH - 10}" y="{y + 19}" text-anchor="end" fill="{PALETTE["type"]}">unlogged</text>'
    for index, column in enumerate(found.columns):
        line = y + HEAD + ROW * index + 15
        weight = ' font-weight="600"' if column.is_key else ""
        words = column.type + ("?" if column.is_nullable else "")
        if column.references and column.references not in shown:
            words += f" → {column.references}"
        yield (f'<text x="{x + 10}" y="{line}"{weight} fill="{PALETTE["text"]}">{escape(column.name)}</text>'
               f'<text x="{x + WIDTH - 10}" y="{line}" text-anchor="end" fill="{PALETTE["type"]}">{escape(words)}</text>')


def _arrows(boxes):
    """From a column to the head of the table that it refers to: through the gaps between the tables, and above those between the two."""
    places = {found.name: (x, y) for found, x, y in boxes}
    for found, x, y in boxes:
        for index, column in enumerate(found.columns):
            if column.references not in places or column.references == found.name:
                continue
            there, top = places[column.references]
            line, head = y + HEAD + ROW * index + 11, top + 14
            way = f"M{x} {line}h-{GAP // 2}"
            if there == x:
                way = f"M{x} {line}h-{LANE}V{head}H{x}"
            elif there > x:
                way = f"M{x + WIDTH} {line}h{GAP // 2}"
                way += f"V{head}H{there}" if there - x == WIDTH + GAP else f"V{LANE}H{there - GAP // 2}V{head}H{there}"
            else:
                end = there + WIDTH
                way += f"V{head}H{end}" if x - there == WIDTH + GAP else f"V{LANE}H{end + GAP // 2}V{head}H{end}"
            yield f'<path d="{way}" fill="none" stroke="{PALETTE["arrow"]}" stroke-width="1.5" marker-end="url(#a)"/>'
