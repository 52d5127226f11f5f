"""What a program does in user space, counted by callgrind: its instructions, and the calls of chosen functions.

A jump from one function to another counts as a call, so Swift's tail calls are there. A function that the compiler inlined has no calls.
"""

import collections
import contextlib
import os
import re
import statistics
import time

from processes import run, running

INSTRUCTIONS = "instructions"
# Requests before the first count, which start what is started once; requests of the shorter and of the longer count.
WARM_UP, FEW, MANY = 300, 300, 2_300
# With fewer, one new connection to PostgreSQL would decide: valgrind counts its hashes, and it comes about once a minute.
ROUNDS_MIN = 3
# For connections to close, log lines to be written, and a program that stood still to catch up.
SETTLE_SECONDS = 0.5
IDLE_SECONDS = 4
_NAME = re.compile(r"(c?(?:fn|ob))=\((\d+)\)(?: (.*))?$")


def readable(program, scratch, name):
    """A copy without debugging information, which the valgrind of Debian 12 can't read as Swift writes it."""
    copy = os.path.join(scratch, f"{name}-without-debugging-information")
    run(["strip", "--strip-debug", "-o", copy, program])
    return copy


def symbols(program):
    """The names of the functions that a program has or links to."""
    return {line.split()[-1].split("@")[0] for line in run(["nm", program]).splitlines() if line.strip()}


def _calls(path):
    """Yields the calls of a file of callgrind: the called function, how often, and whether another library or program called it.

    Names stand in full where they come first, as `fn=(7) swift_retain`, and later as `fn=(7)`. The object of the called function is only
    told if it is another one. The second level of a recursion is `swift_retain'2`.
    """
    names = {"fn": {}, "ob": {}}
    now = {}
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("calls="):
                yield now["cfn"].split("'")[0], int(line[len("calls="):].split()[0]), now.pop("cob", now["ob"]) != now["ob"]
            elif found := _NAME.match(line.rstrip()):
                place, number, name = found.groups()
                known = names[place[-2:]]
                if name is not None:
                    known[number] = name
                now[place] = known[number]


def _read(path, rows):
    """The counts of one file by the labels of rows."""
    counts = collections.Counter()
    for name, number, is_foreign in _calls(path):
        for row in rows:
            if row.pattern.fullmatch(name) and (is_foreign or not row.is_foreign):
                counts[row.label] += number
    with open(path, encoding="utf-8", errors="replace") as file:
        counts[INSTRUCTIONS] = int(re.search(r"^summary: (\d+)", file.read(), re.MULTILINE)[1])
    return counts


class Row:
    """Calls to count: of the functions whose names match, or only of those from another library or program, `is_foreign`."""

    def __init__(self, label, pattern, is_foreign=False):
        self.label, self.pattern, self.is_foreign = label, re.compile(pattern), is_foreign


class CountedProgram:
    """A program under callgrind."""

    def __init__(self, process_id, path, rows):
        self.process_id, self.path, self.rows = process_id, path, rows
        self.labels = [INSTRUCTIONS, *(row.label for row in rows)]
        self.parts = 0

    def _since_last(self):
        """The counts since the last time, which valgrind writes to a file, and then begins again."""
        time.sleep(SETTLE_SECONDS)
        run(["vgdb", f"--pid={self.process_id}", "dump"])
        self.parts += 1
        return _read(f"{self.path}.{self.parts}", self.rows)

    def _while(self, work):
        """The counts while something is done, and how many seconds that took."""
        start = time.monotonic()
        # While it wrote the file, it stood still, and others took it for lost.
        time.sleep(SETTLE_SECONDS)
        work()
        return self._since_last(), time.monotonic() - start

    def per_request(self, load, rounds):
        """The counts of a request, where `load` makes so many of them: the median of so many rounds, or more.

        A shorter load is taken from a longer one, so that connections fall out; and so does what the program does by its clock, which is
        counted while nothing is asked of it. What it does once a minute is left to the median.
        """
        load(WARM_UP)
        self._since_last()
        idle, idle_seconds = min(
            (self._while(lambda: time.sleep(IDLE_SECONDS)) for _ in range(2)), key=lambda found: found[0][INSTRUCTIONS])
        found = []
        for _ in range(max(rounds, ROUNDS_MIN)):
            (few, few_seconds), (many, many_seconds) = (self._while(lambda: load(count)) for count in (FEW, MANY))
            share = (many_seconds - few_seconds) / idle_seconds
            found.append({label: (many[label] - few[label] - idle[label] * share) / (MANY - FEW) for label in self.labels})
        return {label: statistics.median_low([one[label] for one in found]) for label in self.labels}


@contextlib.contextmanager
def counted(program, environment, folder, rows):
    """A service that runs under callgrind as long as the block does."""
    path = os.path.join(folder, f"callgrind-{os.path.basename(program)}")
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={path}", program, "serve"]
    for part in os.listdir(folder):
        if part.startswith(f"{os.path.basename(path)}."):
            os.remove(os.path.join(folder, part))
    with running(command, f"{path}.log", environment=environment) as process:
        yield CountedProgram(process.pid, path, rows)
