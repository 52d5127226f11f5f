"""Who is hit when: a schedule out of a seed, and who carries it out on the parts of a stack."""

import contextlib
import dataclasses
import heapq
import random
import signal
import time

from parts import POSTGRESQL

SERVICES = ("identity", "profile", "invites", "gateway")
# Twice as often a service as the database, whose crash ends what all of them do.
TARGETS = (*SERVICES, *SERVICES, POSTGRESQL)
KILL, FREEZE, STOP = "kill -9", "freeze", "immediate stop"
GAP_SECONDS = (0.5, 2.5)
# Between a death and the start, as long as what watches over programs takes: at once, or after a look around.
DEAD_SECONDS = (0.0, 1.5)
# Rather short than long: what is frozen for seconds is as good as dead.
FROZEN_SECONDS = (0.2, 5.0, 0.2)
# A little peace after a start, or nothing would ever be acknowledged by the part that is hit most.
PEACE_SECONDS = 1.0


@dataclasses.dataclass(frozen=True)
class Fault:
    """Seconds are counted from the first request on."""

    at: float
    kind: str
    target: str
    # How long the part is away or does nothing.
    lasts: float

    def __str__(self):
        return f"{self.at:6.2f} s  {self.kind} of {self.target} for {self.lasts:.2f} s"


def schedule(seed, seconds):
    """The faults of a run, in order; the same for the same seed. None hits a part that is away, and a frozen one may be killed."""
    chance = random.Random(f"faults {seed}")
    faults, free_at, frozen_until, now = [], dict.fromkeys(TARGETS, 0.0), dict.fromkeys(TARGETS, 0.0), 0.0
    while True:
        now += chance.uniform(*GAP_SECONDS)
        if now >= seconds:
            return faults
        there = [each for each in TARGETS if now >= free_at[each] or now < frozen_until[each]]
        if not there:
            continue
        target = chance.choice(there)
        kinds = (KILL,) if now < free_at[target] else (KILL, FREEZE, STOP) if target == POSTGRESQL else (KILL, FREEZE)
        kind = chance.choice(kinds)
        lasts = chance.triangular(*FROZEN_SECONDS) if kind == FREEZE else chance.uniform(*DEAD_SECONDS)
        faults.append(Fault(now, kind, target, lasts))
        free_at[target] = now + lasts + PEACE_SECONDS
        frozen_until[target] = now + lasts if kind == FREEZE else 0.0


class Supervisor:
    """Carries a schedule out, and starts what was ended; it alone touches the parts. A part that ends by itself is a finding."""

    def __init__(self, parts):
        self._parts = parts
        # What puts a frozen part on again, by its name.
        self._frozen = {}
        self._away = set()
        self.done = []
        self.findings = []

    def carry_out(self, faults, seconds):
        """Takes that many seconds; some parts may be away or frozen after it."""
        start = time.monotonic()
        steps = [(fault.at, number, fault) for number, fault in enumerate(faults)]
        heapq.heapify(steps)
        number = len(steps)
        while True:
            now = time.monotonic() - start
            self._look_after()
            while steps and steps[0][0] <= now:
                fault = heapq.heappop(steps)[2]
                if isinstance(fault, Fault):
                    # On a machine that is slow the end of the one before may come after this one's time: there is nothing to hit.
                    if fault.target in self._away:
                        continue
                    self._begin(fault)
                    self.done.append(fault)
                    number += 1
                    heapq.heappush(steps, (time.monotonic() - start + fault.lasts, number, (self._end, fault)))
                else:
                    end, fault = fault
                    end(fault)
            if now >= seconds:
                return
            time.sleep(0.02)

    def restore(self):
        """Has everything run and answer."""
        for target in list(self._frozen):
            self._thaw(target)
        self._look_after()
        self._away.clear()
        self._parts.expect_back()

    def restart(self, name):
        """Stops and starts a program like an operator."""
        self._finish(name)
        self._parts.start(name)
        self._parts.expect_back()

    def end(self):
        """Stops all programs like an operator; they must end with status 0."""
        for name in SERVICES:
            self._finish(name)

    def _finish(self, name):
        status = self._parts.end(name, signal.SIGTERM)
        if status != 0:
            self.findings.append(f"{name} ended with status {status} on SIGTERM")

    def _begin(self, fault):
        if fault.kind == FREEZE:
            # What froze before was killed since, or is on again.
            frozen = contextlib.ExitStack()
            frozen.enter_context(self._parts.frozen(fault.target))
            self._frozen[fault.target] = frozen
            return
        self._away.add(fault.target)
        if fault.kind == STOP:
            self._parts.end(fault.target, signal.SIGQUIT)
        else:
            self._parts.kill(fault.target)
            self._frozen.pop(fault.target, None)

    def _end(self, fault):
        if fault.kind == FREEZE:
            self._thaw(fault.target)
        elif fault.target in self._away:
            self._parts.start(fault.target)
            self._away.remove(fault.target)

    def _thaw(self, target):
        frozen = self._frozen.pop(target, None)
        if frozen:
            frozen.close()

    def _look_after(self):
        """Starts what ended without us, which nothing should."""
        for name in (name for name in (*SERVICES, POSTGRESQL) if name in self._parts.names):
            if name not in self._parts.running and name not in self._away:
                self.findings.append(f"{name} ended by itself with {self._parts.status(name)}")
                self._parts.start(name)
