"""What the benchmark tells: a table on the terminal and the same, with machine and versions, in bench.md."""

import dataclasses
import os
import platform
import re
import subprocess
import time

import envoy_peer
import http_peers
import peers


@dataclasses.dataclass
class Figure:
    """One line of what was measured."""
    what: str
    result: str
    server_cpu: str
    note: str


@dataclasses.dataclass
class Bar:
    """One bar that the result must clear."""
    what: str
    measured: str
    wanted: str
    is_cleared: bool

    @property
    def verdict(self):
        """The word that the table shows."""
        return "pass" if self.is_cleared else "fail"


def table(head, rows):
    """Lines of a table that reads well both as text and as Markdown."""
    cells = [head, *rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in cells]
    return [lines[0], "| " + " | ".join("-" * width for width in widths) + " |", *lines[1:]]


def figures_table(figures):
    """All figures."""
    rows = [(figure.what, figure.result, figure.server_cpu, figure.note) for figure in figures]
    return table(("measured", "result", "server CPU a call", "note"), rows)


def bars_table(bars):
    """All bars with their verdicts."""
    rows = [(bar.what, bar.measured, bar.wanted, bar.verdict) for bar in bars]
    return table(("bar", "measured", "wanted", "verdict"), rows)


def _first_line(command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=20, check=False)
        return done.stdout.decode(errors="replace").strip().splitlines()[0]
    except (OSError, IndexError, subprocess.TimeoutExpired):
        return "unknown"


def _field(path, name):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            found = re.search(rf"^{name}\s*:\s*(.+)$", file.read(), re.MULTILINE)
            return found[1].strip() if found else "unknown"
    except OSError:
        return "unknown"


def machine():
    """Facts of the machine, as pairs."""
    memory_kb = _field("/proc/meminfo", "MemTotal").split()[0]
    return [
        ("processor", f"{_field('/proc/cpuinfo', 'model name')}, {len(os.sched_getaffinity(0))} cores for us"),
        ("memory", f"{int(memory_kb) / 1048576:.0f} GiB" if memory_kb.isdigit() else memory_kb),
        ("system", f"{platform.system()} {platform.release()} {platform.machine()}"),
        ("load average", ", ".join(f"{value:.2f}" for value in os.getloadavg())),
    ]


def versions(options):
    """Versions of what took part, as pairs."""
    swift_peers = []
    for package in (peers.SWIFT_PACKAGE, http_peers.JSON_SWIFT_PACKAGE):
        with open(os.path.join(package, "Package.swift"), encoding="utf-8") as file:
            swift_peers += re.findall(r'github\.com/[\w-]+/([\w-]+)", exact: "([\d.]+)"', file.read())
    commit = _first_line(["git", "-C", options.root, "rev-parse", "--short", "HEAD"])
    return [
        ("commit", commit),
        ("Swift", _first_line(["swift", "--version"])),
        *swift_peers,
        ("gRPC C++", _first_line(["pkg-config", "--modversion", "grpc++"])),
        ("grpc-go", _first_line(["dpkg-query", "--show", "--showformat=${Version}", "golang-google-grpc-dev"])),
        ("nghttpd", _first_line(["nghttpd", "--version"])),
        ("nginx", _first_line([http_peers.nginx_program() or "nginx", "-v"])),
        ("Go", _first_line(["go", "version"])),
        ("h2load", _first_line(["h2load", "--version"])),
        ("pgbench", _first_line(["pgbench", "--version"])),
        ("Envoy", envoy_peer.version()),
        ("OpenSSL", _first_line(["openssl", "version"])),
    ]


def write(path, options, results):
    """Writes bench.md."""
    lines = ["# Benchmark", "", f"{time.strftime('%Y-%m-%d %H:%M:%S %Z')}; medians of {options.rounds} runs of "
             f"{options.seconds} s, ours and the other in turn.", "", *bars_table(results.bars), "", *figures_table(results.figures), ""]
    for note in results.notes:
        lines += [note, ""]
    rows = [(name, value) for name, value in [*machine(), *versions(options)]]
    lines += [*table(("part", "version or kind"), rows), ""]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
