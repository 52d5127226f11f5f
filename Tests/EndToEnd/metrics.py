"""What a program says at /metrics, read strictly: Prometheus's text format 0.0.4."""

import re
import subprocess

from http_client import Client

_SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\]|\\.)*",?)*)\})? (\S+)')
_LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


class Metrics:
    """One scrape."""

    def __init__(self, address):
        answer = Client(address).get("/metrics")
        assert answer.status == 200
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        self.text = answer.content.decode()
        self.samples = {}
        for line in self.text.splitlines():
            if line.startswith("#"):
                continue
            match = _SAMPLE.fullmatch(line)
            assert match, f"no sample: {line!r}"
            key = (match[1], frozenset(_LABEL.findall(match[2] or "")))
            assert key not in self.samples, f"told twice: {line!r}"
            self.samples[key] = float(match[3])

    @property
    def names(self):
        return {name for name, _ in self.samples}

    def sum(self, name, **labels):
        """Of all samples of a name that have these labels."""
        wanted = set(labels.items())
        return sum(value for (found, has), value in self.samples.items() if found == name and wanted <= has)

    def labels(self, name, label):
        """The values that a label has."""
        return {dict(has)[label] for found, has in self.samples if found == name and label in dict(has)}


def lint(text):
    """What promtool has to say of metrics; nothing if they are clean."""
    result = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=30)
    return f"{result.stdout}{result.stderr}".strip() or ("" if result.returncode == 0 else f"exit {result.returncode}")
