"""Several processes of each program over one database, beside a stack: how much processor time each program needs for a call."""

import contextlib
import os
import re
import time
import urllib.request

from processes import BenchError, children, running, wait_until
from service_stack import free_ports

# In the order in which they start; each is called by the later ones.
PROGRAMS = ("profile", "identity", "gateway")
POSTGRES = "PostgreSQL"
START_SECONDS = 30
# One line of /metrics: the name, the labels and the value.
SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)
# What is counted as a call, in the metrics of the program that a load calls.
HTTP_CALLS, RPC_CALLS = "vestibule_http_requests_total", "vestibule_rpc_server_calls_total"


def environment_of(process_id):
    """What a process was started with."""
    with open(f"/proc/{process_id}/environ", encoding="utf-8") as file:
        return dict(word.split("=", 1) for word in file.read().split("\0") if "=" in word)


def cpu_ns(process_ids):
    """Processor time so far, by process id, of those that live; with that of threads that have ended."""
    used = {}
    for process_id in process_ids:
        with contextlib.suppress(OSError):
            # The clock of another process: clock_getcpuclockid(3), which Python does not have.
            used[process_id] = time.clock_gettime_ns((~process_id << 3) | 2)
    return used


def samples(address, name):
    """The samples of a metric: (labels as they are written, value)."""
    try:
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
            text = answer.read().decode()
    except OSError as error:
        raise BenchError(f"{address}/metrics: {error}") from error
    return [(labels or "", float(value)) for found, labels, value in SAMPLE.findall(text) if found == name]


class Replica:
    """One process of a program."""

    def __init__(self, process_id, port, metrics_port):
        self.process_id = process_id
        self.address = f"127.0.0.1:{port}"
        self.port = port
        self.metrics_port = metrics_port
        self.metrics_address = f"127.0.0.1:{metrics_port}"



class Fleet:
    """The same number of processes of each program, which call each other and share PostgreSQL with the stack."""

    def __init__(self, stack, replicas):
        self.stack = stack
        self.replicas = replicas

    def addresses(self, program):
        """Of all processes of a program, with commas between, as the configuration takes them."""
        return ",".join(replica.address for replica in self.replicas[program])

    def _cpu_ns(self):
        used = {
            name: cpu_ns(replica.process_id for replica in replicas) for name, replicas in self.replicas.items()}
        return used | {POSTGRES: cpu_ns([self.stack.postmaster, *children(self.stack.postmaster)])}

    def _calls(self, program, metric, label):
        """Calls so far of one method or route: (those that succeeded, those that failed); what its caller gave up is neither."""
        made = failed = 0
        for replica in self.replicas[program]:
            for labels, value in samples(replica.metrics_address, metric):
                if label in labels and ('status="200"' in labels or 'code="OK"' in labels):
                    made += value
                elif label in labels and "CANCELLED" not in labels and 'status="499"' not in labels:
                    failed += value
        return made, failed

    def cost(self, program, metric, label, seconds):
        """What calls cost that are being made now: (calls per second, microseconds of each program for a call)."""
        calls, used, began = self._calls(program, metric, label), self._cpu_ns(), time.monotonic()
        time.sleep(seconds)
        took, used_after = time.monotonic() - began, self._cpu_ns()
        made, failed = (now - before for now, before in zip(self._calls(program, metric, label), calls))
        if made <= 0 or failed > 0:
            raise BenchError(f"{program} answered {made:.0f} calls and failed {failed:.0f}")
        return made / took, {
            name: sum(after - used[name].get(process_id, 0) for process_id, after in some.items()) / made / 1e3
            for name, some in used_after.items()}


@contextlib.contextmanager
def fleet(stack, scratch, count, loops, **settings):
    """`count` processes of each of profile, identity and gateway with `loops` event loops each, as long as the block runs."""
    replicas = {}
    called = {}
    with contextlib.ExitStack() as entered:
        for program in PROGRAMS:
            base = environment_of(stack.process_of(program)) | called | settings | {"VESTIBULE_EVENT_LOOPS": str(loops)}
            key = f"VESTIBULE_{program.upper()}"
            replicas[program] = []
            for port, metrics_port in zip(*[iter(free_ports(2 * count))] * 2):
                own = {f"{key}_LISTEN": f"127.0.0.1:{port}", f"{key}_METRICS_LISTEN": f"127.0.0.1:{metrics_port}"}
                log = os.path.join(scratch, f"{program}-{port}.log")
                process = entered.enter_context(running([f"{stack.binaries}/{program}", "serve"], log, environment=base | own))
                replicas[program].append(Replica(process.pid, port, metrics_port))
            for replica in replicas[program]:
                for port in (replica.port, replica.metrics_port):
                    wait_until(lambda: stack.listens(port), f"{program} at {port} serves", START_SECONDS)
            called[f"{key}_ADDRESS"] = ",".join(replica.address for replica in replicas[program])
        yield Fleet(stack, replicas)
