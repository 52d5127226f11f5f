"""Load by h2load, and single calls by curl whose every part is looked at."""

import contextlib
import dataclasses
import os
import re
import statistics
import time

from processes import BenchError, cpu_and_waiting_ns, run

CONNECTIONS = 8
IN_FLIGHT_PER_CONNECTION = 32
PREFIX_BYTES = 5
HEADERS = ["-H", "content-type: application/grpc", "-H", "te: trailers"]


def framed(message):
    """A message behind gRPC's prefix: not compressed, length in four bytes."""
    return b"\0" + len(message).to_bytes(PREFIX_BYTES - 1, "big") + message


@dataclasses.dataclass
class Run:
    """What one run of h2load showed."""
    calls: int
    calls_per_second: float
    mean_latency_us: float
    server_ns_per_call: float
    # Of the time that the run took, the share for which the server was ready and others had its core.
    disturbed_share: float


class Target:
    """One method of a server, with the request to send and the answer to expect.

    The request is a message of gRPC, or with a content type of its own a body as it is; without one it is GET.
    """

    def __init__(self, process_id, port, path, request, answer_bytes, scratch, is_encrypted=False, content_type=None):
        self.process_id = process_id
        self.url = f"{'https' if is_encrypted else 'http'}://127.0.0.1:{port}/{path}"
        self.is_grpc = request is not None and content_type is None
        self.has_body = request is not None
        self.answer_bytes = answer_bytes
        # How much shorter or longer an answer may be: it has a number whose length changes with time.
        self.answer_bytes_spread = 0
        self.more_headers = [] if content_type is None else [f"content-type: {content_type}"]
        self.connections = CONNECTIONS
        self.in_flight = IN_FLIGHT_PER_CONNECTION
        self.h2load_options = []
        self.is_http1 = False
        kind = "grpc" if content_type is None else os.path.basename(content_type)
        self.request_path = os.path.join(scratch, f"request-{process_id}-{os.path.basename(path)}-{kind}")
        if self.has_body:
            with open(self.request_path, "wb") as file:
                file.write(framed(request) if self.is_grpc else request)
        self.scratch = scratch

    def speak(self, is_http1):
        """HTTP/1.1 or HTTP/2, the latter in clear text with prior knowledge."""
        self.is_http1 = is_http1
        self.h2load_options = ["--h1"] if is_http1 else []

    def http_options(self):
        """What makes curl speak what h2load speaks."""
        if self.is_http1:
            return ["--http1.1"]
        return ["--http2"] if self.url.startswith("https") else ["--http2-prior-knowledge"]

    def call(self, request=None):
        """One call by curl: the status that the trailers tell, and the answer's message."""
        if request is None:
            request_path = self.request_path
        else:
            request_path = os.path.join(self.scratch, "request-of-one-call")
            with open(request_path, "wb") as file:
                file.write(framed(request))
        answer_path = os.path.join(self.scratch, "answer-of-one-call")
        open(answer_path, "wb").close()
        told = run([
            "curl", "--silent", "--show-error", "--insecure", "--max-time", "10", *self.http_options(), "--request", "POST",
            *HEADERS, *(word for header in self.more_headers for word in ("-H", header)), "--data-binary", f"@{request_path}", "--output", answer_path, "--dump-header", "-", self.url])
        status = re.search(r"^grpc-status: (\d+)\s*$", told, re.MULTILINE)
        if not told.startswith("HTTP/2 200") or not status:
            raise BenchError(f"{self.url} answered without a gRPC status: {told.splitlines()[:1]}")
        with open(answer_path, "rb") as file:
            answer = file.read()
        return int(status[1]), answer[PREFIX_BYTES:]

    def status(self):
        """The HTTP status of one GET; None if nobody answers."""
        headers = [word for header in self.more_headers for word in ("--header", header)]
        with contextlib.suppress(BenchError):
            return int(run([
                "curl", "--silent", "--insecure", "--max-time", "5", *self.http_options(), *headers, "--output", os.devnull,
                "--write-out", "%{http_code}", self.url]))
        return None

    def answer(self):
        """The body of the answer to one request that is not gRPC's, which must be answered 200."""
        headers = [word for header in self.more_headers for word in ("--header", header)]
        sent = ["--data-binary", f"@{self.request_path}"] if self.has_body else []
        body = os.path.join(self.scratch, "answer-of-one-call")
        told = run([
            "curl", "--silent", "--show-error", "--insecure", "--max-time", "10", *self.http_options(), *headers, *sent,
            "--output", body, "--write-out", "%{http_code}", self.url])
        if told != "200":
            raise BenchError(f"{self.url} answered with status {told}")
        with open(body, "rb") as file:
            return file.read()

    def check(self, wanted, request=None):
        """Calls once and throws unless the answer is exactly the wanted one."""
        status, answer = self.call(request)
        if (status, answer) != (0, wanted):
            raise BenchError(f"{self.url} answered with status {status} and {answer[:80]!r}, not {wanted[:80]!r}")

    def load(self, calls, core=None):
        """Calls so often, and throws unless each call was answered with a message of the expected size.

        h2load takes an error in the trailers for a success; but such an answer has no message, so the sum of the
        message bytes tells it apart.
        """
        used, waited = cpu_and_waiting_ns(self.process_id)
        start = time.monotonic_ns()
        text = run([
            "h2load", f"--requests={calls}", f"--clients={self.connections}", "--threads=1",
            f"--max-concurrent-streams={self.in_flight}", *self.h2load_options, *self.sent(), self.url],
            core=core, timeout_seconds=180)
        took = time.monotonic_ns() - start
        used_after, waited_after = cpu_and_waiting_ns(self.process_id)
        found = _parse(text)
        if found["2xx"] != calls or found["succeeded"] != calls:
            raise BenchError(f"{self.url}: {found['succeeded']} of {calls} calls were answered")
        wanted = calls * (self.answer_bytes + (PREFIX_BYTES if self.is_grpc else 0))
        if abs(found["data"] - wanted) > calls * self.answer_bytes_spread:
            raise BenchError(f"{self.url}: {calls} answers had {found['data']} bytes instead of {wanted}: some failed")
        return Run(
            calls=calls,
            calls_per_second=found["rate"],
            mean_latency_us=found["mean_us"],
            server_ns_per_call=(used_after - used) / calls,
            disturbed_share=(waited_after - waited) / took,
        )

    def sent(self):
        """The arguments about the request."""
        headers = [word for header in self.more_headers for word in ("-H", header)]
        return [*(HEADERS if self.is_grpc else []), *headers, *([f"--data={self.request_path}"] if self.has_body else [])]

    def median_latency_us(self, calls, core=None):
        """The median of so many calls that are made one after the other, each of which must succeed."""
        log = os.path.join(self.scratch, "latencies")
        with contextlib.suppress(FileNotFoundError):
            os.remove(log)
        run([
            "h2load", f"--requests={calls}", "--clients=1", "--threads=1", "--max-concurrent-streams=1",
            f"--log-file={log}", *self.h2load_options, *self.sent(), self.url], core=core, timeout_seconds=180)
        with open(log, encoding="ascii") as file:
            rows = [line.split("\t") for line in file]
        if len(rows) != calls or any(status != "200" for _, status, _ in rows):
            raise BenchError(f"{self.url}: not all of {calls} calls were answered one after the other")
        return statistics.median(int(took) for _, _, took in rows)

    def calls_for(self, seconds, core=None):
        """How many calls take about so long, found by a short run that also warms the server up."""
        calls_min = self.connections * self.in_flight
        calls = calls_min * 8
        while True:
            rate = self.load(calls, core).calls_per_second
            if calls / rate > 0.3:
                return max(calls_min, int(rate * seconds) // calls_min * calls_min)
            calls *= 4


def _parse(text):
    numbers = {
        "rate": r"finished in [\d.]+\w+, ([\d.]+) req/s",
        "succeeded": r"(\d+) succeeded",
        "2xx": r"(\d+) 2xx",
        "data": r"\((\d+)\) data",
    }
    found = {}
    for name, pattern in numbers.items():
        match = re.search(pattern, text)
        if not match:
            raise BenchError(f"h2load printed no {name}: {' | '.join(text.strip().splitlines()[-4:])}")
        found[name] = float(match[1]) if name == "rate" else int(match[1])
    mean = re.search(r"time for request:\s+\S+\s+\S+\s+([\d.]+)(us|ms|s)\s", text)
    found["mean_us"] = float(mean[1]) * {"us": 1, "ms": 1e3, "s": 1e6}[mean[2]] if mean else 0.0
    return found
