"""The alerts, read from the rules for Prometheus."""

import re

from swift_source import cell, table

ALERT = re.compile(
    r"- alert: (?P<name>\w+)\n.*?severity: (?P<severity>\w+).*?\n\s+summary: (?P<summary>[^\n]+)\n\s+description: (?P<text>.*?)(?=\n\s*\n|\n\s+- alert|\Z)",
    re.DOTALL)


def page(root):
    rules = (root / "docker/prometheus/alerts.yaml").read_text(encoding="utf-8")
    rows = [[f"`{match['name']}`", match["severity"], cell(_plain(match["summary"])), cell(_plain(match["text"]))]
            for match in ALERT.finditer(rules)]
    return table(["alert", "severity", "what happened", "what to do"], rows)


def _plain(text):
    """A text of YAML without quotes, with the names of labels in place of their templates."""
    words = " ".join(text.split())
    if words.startswith(">"):
        words = words[1:].lstrip("- ")
    if len(words) > 1 and words[0] == words[-1] == '"':
        words = words[1:-1].replace('\\"', '"').replace("\\n", " ")
    words = re.sub(r"\{\{ \$labels\.(\w+) \}\}", r"(\1)", words)
    return re.sub(r"\{\{ \$value[^}]*\}\}", "(value)", words)
