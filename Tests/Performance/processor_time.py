"""Processor time of services for some work, and of the cryptography that the work can't do without, by libcrypto."""

import re
import time

from processes import BenchError, cpu_and_waiting_ns, run


class Meter:
    """Processor time of processes in microseconds, without what each uses while nothing is asked of it."""

    IDLE_SECONDS = 3

    def __init__(self, process_ids):
        self.process_ids = process_ids
        start = self._used()
        time.sleep(self.IDLE_SECONDS)
        self.idle = [(end - begin) / self.IDLE_SECONDS for begin, end in zip(start, self._used())]

    def _used(self):
        return [cpu_us([process_id]) for process_id in self.process_ids]

    def of(self, work):
        """What some work gives, and what it took of each process."""
        start, began = self._used(), time.monotonic()
        found = work()
        seconds = time.monotonic() - began
        return found, [end - begin - idle * seconds for begin, end, idle in zip(start, self._used(), self.idle)]


def cpu_us(process_ids):
    """The processor time that these processes have used so far, in microseconds."""
    return sum(cpu_and_waiting_ns(process_id)[0] for process_id in process_ids) / 1e3


def _rates(options, algorithm, row):
    """The rates of `openssl speed` for signatures and verifications of an algorithm, on the server's core."""
    text = run(["openssl", "speed", "-seconds", str(options.seconds), algorithm], core=options.server_core)
    found = re.search(rf"^ *{row}(?:\s+[\d.]+s?){{2}}\s+([\d.]+)\s+([\d.]+)\s*$", text, re.MULTILINE)
    if not found:
        raise BenchError(f"openssl speed printed no rate: {text[-200:]}")
    return float(found[1]), float(found[2])


def signature_us(options):
    """The processor time of one ES256 signature by libcrypto, in microseconds."""
    return 1e6 / _rates(options, "ecdsap256", r"256 bits ecdsa \(nistp256\)")[0]


def ecdsa_verification_us(options):
    """The processor time of one verification of an ES256 signature by libcrypto, in microseconds."""
    return 1e6 / _rates(options, "ecdsap256", r"256 bits ecdsa \(nistp256\)")[1]


def verification_us(options, bits):
    """The processor time of the verification of one RSA signature by libcrypto, in microseconds."""
    return 1e6 / _rates(options, f"rsa{bits}", rf"rsa +{bits} bits")[1]
