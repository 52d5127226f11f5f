"""The suites, the longest first: whichever starts last then ends soon after the others."""

import dataclasses
import re
from typing import Callable

import counting


@dataclasses.dataclass(frozen=True)
class Suite:
    name: str
    summary: str
    command: list
    count: Callable
    #: Whether it tests the programs as they are shipped, built for release.
    tests_release: bool = False


def pytest_suite(name, folder, summary, *arguments, tests_release=False):
    return Suite(name, summary, [f"Tests/{folder}/run.sh", "--quiet", *arguments], counting.count_pytest, tests_release)


def swift_suite(name, summary, *arguments):
    return Suite(name, summary, ["swift", "test", "--skip-build", "--disable-xctest", *arguments], counting.count_swift)


def script_suite(name, summary, *command):
    return Suite(name, summary, list(command), counting.count_sum)


#: Three workers with a running system each. They take files in the order of LONGEST_FIRST in Tests/EndToEnd/conftest.py, not by size.
PARALLEL_FILES = ["-n", "3", "--dist", "loadfile", "--no-loadscope-reorder", "--durations", "25"]

#: They wait more than they compute.
KITS_FILES = ["-n", "3", "--dist", "loadfile", "--durations", "25"]

#: What a change can break: `make test`.
TESTS = [
    pytest_suite("end-to-end", "EndToEnd", "the whole running system, from outside", *PARALLEL_FILES, tests_release=True),
    swift_suite("swift", "each module, in Swift, with real sockets and a private PostgreSQL"),
    pytest_suite("kits", "Kits", "the client kits: cases, histories, kills, Node and Chromium", *KITS_FILES, tests_release=True),
    pytest_suite("clients", "Clients", "five apps that were made for other backends", tests_release=True),
    pytest_suite("interop", "Interop", "server and client against gRPC's own for Python"),
    script_suite("crpc", "the C layer, under AddressSanitizer and UndefinedBehaviorSanitizer", "Tests/CRPC/run.sh"),
    pytest_suite("attack", "Attack", "the server against hostile peers"),
    script_suite("http1", "how HTTP/1.x is read, against h11 and llhttp", "Tests/HTTP1/run.sh"),
    script_suite("phones", "how phone numbers are read, against PyPI's phonenumbers", "Tests/PhoneNumbers/run.sh"),
    script_suite("fuzz-corpus", "inputs that once showed a fault", "Tests/Fuzz/run.sh", "0"),
    Suite("tidy", "the style rules", ["make", "--no-print-directory", "tidy"], counting.count_unittest),
]

#: What needs builds of its own or finds more the longer it runs: `make check` has these, too.
CHECKS = [
    script_suite("sanitizers", "Swift and C of the RPC layer, under ThreadSanitizer and AddressSanitizer", "Tests/Sanitizers/run.sh"),
    script_suite("fuzz", "the C layer with random inputs, 5 s a fuzzer", "Tests/Fuzz/run.sh", "5"),
]

#: End-to-end tests of a part that has Swift tests, too.
END_TO_END = {
    "gateway": ["test_app_api", "test_bad_requests", "test_description", "test_home_page", "test_limits"],
    "identity": ["test_sign_in", "test_bad_tokens", "test_session_list", "test_linking"],
    "invites": ["test_groups", "test_group_management", "test_invitations"],
    "profile": ["test_profile", "test_avatars"],
}


def only(name, root):
    """The suite of that name, or the tests of that part; empty if there is none."""
    named = [suite for suite in TESTS + CHECKS if suite.name == name.lower()]
    if named:
        return named
    targets = sorted(path.name for path in (root / "Tests").glob("*Tests") if path.name.lower().startswith(name.lower()))
    if not targets:
        return []
    pattern = "^(" + "|".join(map(re.escape, targets)) + r")\."
    part = [swift_suite("swift", ", ".join(targets), "--filter", pattern)]
    files = END_TO_END.get(name.lower())
    if files:
        part.append(pytest_suite("end-to-end", "EndToEnd", ", ".join(files), *PARALLEL_FILES, "-k", " or ".join(files)))
    return part
