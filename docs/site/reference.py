"""Makes the reference pages of the site: of the programs' --help, of the Makefile, of the Swift sources and of the migrations."""

import html
import re
import subprocess

PROGRAMS = ("gateway", "identity", "profile", "invites", "simulator", "vestibule")
SERVICES = ("identity", "profile", "invites")

_ENTRY = re.compile(r"^(VESTIBULE_\w+(?: or VESTIBULE_\w+)?) \(((?:[^()]|\([^()]*\))*)\) (.+)$")
_BOUNDED = re.compile(r"\bto\b")
_METRIC = re.compile(
    r'(\w+)\(\s*"(vestibule_\w+)",\s*(?:\.(\w+),\s*)?help:\s*((?:"(?:[^"\\]|\\.)*"\s*\+?\s*)+)', re.DOTALL)
_TABLE = re.compile(r"CREATE TABLE (\w+) \((.*?)\n\s*\)[^;]*;", re.DOTALL)
_REFERENCE = re.compile(r"REFERENCES (\w+)")
_TARGET = re.compile(r"^([a-z0-9-]+):.*?## (.*)$", re.MULTILINE)


def help_of(folder, program, *arguments):
    result = subprocess.run([f"{folder}/{program}", *arguments, "--help"], capture_output=True, text=True, timeout=60, check=True)
    return result.stdout


def keys(text):
    """(name, kind, description) of each configuration key of a program's --help."""
    for paragraph in re.split(r"\n\s*\n", text):
        match = _ENTRY.match(" ".join(paragraph.split()))
        if match:
            yield match.groups()


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def configuration(helps):
    page = "# Configuration of each program\n\nEach key is an environment variable, or a line of `KEY=VALUE` in the file that `--config` names.\n"
    for program, text in helps.items():
        rows = list(keys(text))
        if rows:
            page += f"\n## {program}\n\n| key | value | what it does |\n| --- | --- | --- |\n"
            page += "".join(f"| `{name.replace(' or ', '` or `')}` | {cell(kind)} | {cell(words)} |\n" for name, kind, words in rows)
    return page


def limits(helps):
    page = "# Limits\n\nEvery bound that an operator can change, with its range and default.\n"
    for program, text in helps.items():
        rows = [row for row in keys(text) if _BOUNDED.search(row[1])]
        if rows:
            page += f"\n## {program}\n\n| what | range and default | key |\n| --- | --- | --- |\n"
            page += "".join(f"| {cell(words)} | {cell(kind)} | `{name}` |\n" for name, kind, words in rows)
    return page


def subcommands(text):
    part = text.partition("SUBCOMMANDS:")[2]
    return re.findall(r"^  ([a-z-]+)\s{2,}", part, re.MULTILINE)


def commands(root, folder):
    targets = _TARGET.findall((root / "Makefile").read_text())
    page = "# Commands\n\n## make\n\n| command | what it does |\n| --- | --- |\n"
    page += "".join(f"| `make {name}` | {cell(words)} |\n" for name, words in targets)
    for name in subcommands(help_of(folder, "vestibule")):
        page += f"\n## vestibule {name}\n\n```\n{help_of(folder, 'vestibule', name).partition('CONFIGURATION:')[0].strip()}\n```\n"
    return page


def metrics(root):
    rows = {}
    for path in sorted((root / "Sources").rglob("*.swift")):
        for function, name, kind, words in _METRIC.findall(path.read_text()):
            kind = kind or ("histogram" if function in ("times", "TimeFamily") else "counter")
            text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', words)).replace('\\"', '"')
            rows[name] = (kind, text, path.relative_to(root / "Sources").parts[0])
    page = "# Metrics\n\nWhat `/metrics` of a program has, in the format of Prometheus.\n\n| name | kind | what it counts | module |\n"
    page += "| --- | --- | --- | --- |\n"
    return page + "".join(f"| `{name}` | {kind} | {cell(words)} | {module} |\n" for name, (kind, words, module) in sorted(rows.items()))


_ALERT = re.compile(r"- alert: (\w+)\n(.*?)(?=\n\s*- alert:|\n\s*- name:|\Z)", re.DOTALL)


def alerts(root):
    """A table of the alerts, for the page about monitoring."""
    table = "| alert | severity | when |\n| --- | --- | --- |\n"
    for name, body in _ALERT.findall((root / "docker/prometheus/alerts.yaml").read_text()):
        severity = re.search(r"severity: (\w+)", body)
        summary = re.search(r"summary: [\"']?(.+?)[\"']?$", body, re.MULTILINE)
        table += f"| `{name}` | {severity[1] if severity else ''} | {cell(summary[1]) if summary else ''} |\n"
    return table


def tables(root, service):
    """(table, columns) of a service's schema, a column as (name, type, the table that it refers to)."""
    folder = root / "Sources" / f"{service.capitalize()}Service" / "Migrations"
    for path in sorted(folder.glob("*.swift")):
        for table, body in _TABLE.findall(path.read_text()):
            columns = []
            for line in body.split("\n"):
                match = re.match(r"\s*([a-z_]+) ([a-z]\w*(?:\[\])?)", line)
                if match:
                    reference = _REFERENCE.search(line)
                    columns.append((match[1], match[2], reference[1] if reference else ""))
            yield table, columns


def picture(schema):
    """An SVG of a schema: a box for each table, in three columns."""
    width, line, gap = 330, 17, 18
    heights, boxes = [gap] * 3, []
    for table, columns in schema:
        column = heights.index(min(heights))
        x, y = gap + column * (width + gap), heights[column]
        height = line * (len(columns) + 1) + 14
        heights[column] += height + gap
        rows = "".join(
            f'<text x="{x + 10}" y="{y + 20 + line * (index + 1)}" class="c">{html.escape(name)}'
            f'<tspan class="t"> {html.escape(kind)}{" → " + html.escape(target) if target else ""}</tspan></text>'
            for index, (name, kind, target) in enumerate(columns))
        boxes.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5"/>'
                     f'<text x="{x + 10}" y="{y + 19}" class="h">{html.escape(table)}</text>{rows}')
    total = 3 * (width + gap) + gap
    style = ("svg{background:#fff}rect{fill:#f5f6f8;stroke:#8892a0}text{font:13px sans-serif;fill:#1c2430}"
             ".h{font-weight:bold}.c{font-family:monospace;font-size:12px}.t{fill:#667080}")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {max(heights)}"><style>{style}</style>'
            f'<rect x="0" y="0" width="{total}" height="{max(heights)}" style="fill:#fff;stroke:none"/>{"".join(boxes)}</svg>\n')


def data_model(root):
    """The page, and the pictures by file name."""
    page = ("# The data model\n\nEach service has a schema of its own in PostgreSQL, and reads no other. The pictures are made from the "
            "migrations: → names the table that a column refers to. [Deleted accounts](../run/deleted-accounts.md) says how long rows "
            "are kept.\n")
    pictures = {}
    for service in SERVICES:
        schema = list(tables(root, service))
        pictures[f"data-{service}.svg"] = picture(schema)
        page += f"\n## {service}\n\n![The {len(schema)} tables of {service}](data-{service}.svg)\n"
    return page, pictures
