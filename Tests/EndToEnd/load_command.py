"""`vestibule load` against a stack, and what it wrote."""

import json
import os
import re
import subprocess
import xml.etree.ElementTree

from stack import program

RUN_SECONDS = 60


class Report:
    """The two files of a run, read strictly, and what was printed."""

    def __init__(self, name, status, table, progress):
        self.status, self.table, self.progress = status, table, progress
        self.json = json.loads(name.with_suffix(".json").read_text())
        self.page = name.with_suffix(".html").read_text()
        self.elements = [
            element.tag.rpartition("}")[2] for element in xml.etree.ElementTree.fromstring(self.page).iter()]

    @property
    def total(self):
        return self.json["total"]

    @property
    def calls(self):
        """Calls by their kind."""
        return {row["name"]: row["calls"] for row in self.json["operations"]}

    @property
    def errors(self):
        return {(error["code"], error["reason"]): error["count"] for error in self.total["errors"]}

    def expect_consistent(self):
        """What must hold of every report, whatever happened."""
        operations = self.json["operations"]
        assert sum(row["calls"] for row in operations) == self.total["calls"]
        for row in [*operations, self.total]:
            assert row["succeeded"] + row["failed"] == row["calls"]
            assert sum(error["count"] for error in row["errors"]) == row["failed"]
            latency = row["latency_ns"]
            ordered = [latency[name] for name in ("p0", "p50", "p90", "p99", "p99.9", "p100")]
            assert ordered == sorted(ordered)
        assert 0 < self.json["processor"]["cores_used"] <= self.json["processor"]["machine_cores"]
        assert not re.search(r"<script|src=|href=|url\(|@import", self.page)
        assert f"{self.json['plan']['workers']}" in self.table and "the load generator used" in self.table


class Run:
    """A run that has begun."""

    def __init__(self, stack, folder, *arguments, environment=None, stderr=subprocess.PIPE):
        self._name = folder / "report"
        self._stdout = (folder / "table").open("w+")
        self._stderr = (folder / "progress").open("w+") if stderr is subprocess.PIPE else stderr
        self.process = subprocess.Popen(
            [program("vestibule"), "load", *arguments, "--output", str(self._name)],
            env={**stack.environment, **(environment or {})}, stdin=subprocess.DEVNULL, stdout=self._stdout,
            stderr=self._stderr, start_new_session=True, cwd=folder)
        self._folder = folder

    @property
    def progress(self):
        return (self._folder / "progress").read_text()

    @property
    def table(self):
        return (self._folder / "table").read_text()

    def wait(self, seconds=RUN_SECONDS):
        """The exit status."""
        try:
            return self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"the run did not end in {seconds} s; it said:\n{self.progress}") from None

    def report(self, seconds=RUN_SECONDS):
        """The report, once the run has ended."""
        status = self.wait(seconds)
        assert self._name.with_suffix(".json").exists(), f"no report; it said:\n{self.progress}\n{self.table}"
        told = self.progress if os.path.exists(self._folder / "progress") else ""
        report = Report(self._name, status, self.table, told)
        report.expect_consistent()
        return report
