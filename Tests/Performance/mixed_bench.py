"""Minutes of mixed load at a fixed rate: no call may fail, and the memory of the services must stop growing.

It asks for little of the machine, so what needs no quiet, such as building the peers, is done meanwhile.
"""

import contextlib
import json
import os
import statistics
import subprocess
import threading
import time

from processes import BenchError, resident_bytes
from report import Bar, Figure
from service_stack import service_stack

CALLS_PER_SECOND = 500
PROGRAMS = ("identity", "profile", "invites", "gateway")
GROWTH_MAX = 0.02
SAMPLE_SECONDS = 2
WARM_UP_SECONDS = 5
# The parts of the run whose medians are compared: the beginning of its second half, and its end.
MIDDLE, END = (0.5, 0.6), (0.9, 1.0)


class MixedLoad:
    """A run under way, whose memory is looked at from time to time."""

    def __init__(self, options, stack, process, output):
        self.seconds = options.mixed_minutes * 60
        self.process = process
        self.output = output
        self.process_ids = {name: stack.process_of(name) for name in PROGRAMS}
        self.samples = []
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self):
        while self.process.poll() is None:
            with contextlib.suppress(FileNotFoundError, KeyError):
                memory = {name: resident_bytes(process_id)[0] for name, process_id in self.process_ids.items()}
                self.samples.append((time.monotonic() - self._began, memory))
            time.sleep(SAMPLE_SECONDS)

    def _memory(self, name, part):
        """A program's median in a part of the run."""
        end = self.samples[-1][0]
        return statistics.median(
            memory[name] for seconds, memory in self.samples if part[0] <= seconds / end <= part[1])

    def result(self, say):
        """Waits for the end. Gives the figures and the bars."""
        left = self.seconds - (time.monotonic() - self._began)
        if left > 0:
            say(f"mixed load: {left / 60:.0f} minutes to go")
        try:
            _, said = self.process.communicate(timeout=max(left, 0) + 120)
        except subprocess.TimeoutExpired as error:
            raise BenchError("the mixed load does not end") from error
        self._thread.join()
        if self.process.returncode not in (0, 1) or not os.path.exists(f"{self.output}.json"):
            raise BenchError(f"the mixed load failed: {said.decode(errors='replace')[-300:].strip()}")
        with open(f"{self.output}.json", encoding="utf-8") as file:
            report = json.load(file)
        return self._judge(report)

    def _judge(self, report):
        total = report["total"]
        figures = [Figure(
            f"{self.seconds / 60:.0f} minutes of mixed load", f"{total['succeeded']:,} calls", "",
            f"{CALLS_PER_SECOND} a second; p99 {total['latency_ns']['p99'] / 1e6:.1f} ms beside other work")]
        errors = report["error_count"]
        bars = [Bar("errors in the mixed load", f"{errors}", "none", errors == 0 and total["succeeded"] > 0)]
        for name in PROGRAMS:
            middle, end = self._memory(name, MIDDLE), self._memory(name, END)
            growth = end / middle - 1
            figures.append(Figure(f"{name}'s memory at its end", f"{end / 1e6:.1f} MB resident", "", ""))
            bars.append(Bar(
                f"growth of {name}'s memory in the second half", f"{growth:+.1%}", f"under {GROWTH_MAX:.0%}",
                growth < GROWTH_MAX))
        return figures, bars


@contextlib.contextmanager
def mixed_load(options, scratch):
    """A stack with mixed load on it; ended with the block, if it has not come to its end."""
    with service_stack(options, os.path.join(scratch, "mixed"), VESTIBULE_LOG_CALLS="all") as stack:
        output = os.path.join(scratch, "load-mixed")
        command = stack.load_command(
            "mixed", output, duration=f"{options.mixed_minutes * 60:.0f}s", warm_up=f"{WARM_UP_SECONDS}s",
            rate=CALLS_PER_SECOND)
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            yield MixedLoad(options, stack, process, output)
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait()
            process.stderr.close()
