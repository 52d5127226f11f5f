"""How many tests of a suite passed and failed, by what the suite printed. Each function returns (passed, failed)."""

import re

FAILURES = re.compile(r"^✘ Test .*(recorded an issue|failed after)|^(FAILED|ERROR|ERROR:|FAIL|FAIL:) |^SUMMARY: |^error: |^↳ "
                      r"|: fault: |^Tests/.*: \d+: |: Fatal error: |error: Process '.*exited with unexpected signal")
# Swift's tests begin with these, which look like the comment of a failure.
HEADER = re.compile(r"^↳ (Testing Library Version|Target Platform): ")
COLORS = re.compile(r"\033\[[0-9;]*m")


def count_swift(text):
    """Swift Testing: a line for each test, and one for the whole run."""
    passed = len(re.findall(r"^✔ Test (?!run with )", text, re.MULTILINE))
    failed = len(re.findall(r"^✘ Test (?!run with ).* failed after", text, re.MULTILINE))
    return passed, failed


def count_pytest(text):
    """pytest: its last line of counts; what could not start counts as failed."""
    summaries = [line for line in text.splitlines() if re.search(r"\d+ (passed|failed|error)", line)]
    if not summaries:
        return 0, 0

    def number(word):
        found = re.search(rf"(\d+) {word}", summaries[-1])
        return int(found.group(1)) if found else 0

    return number("passed"), number("failed") + number("error")


def count_sum(text):
    """Scripts of ours: every line that is 'N passed, N failed' and nothing else; those that count for a sum have more words."""
    lines = re.findall(r"^(\d+) passed, (\d+) failed$", text, re.MULTILINE)
    return (int(lines[-1][0]), int(lines[-1][1])) if lines else (0, 0)


def count_unittest(text):
    """unittest: a line for each run, which is OK or FAILED."""
    ran = sum(int(number) for number in re.findall(r"^Ran (\d+) tests? in ", text, re.MULTILINE))
    failed = sum(int(number) for number in re.findall(r"(?:failures|errors)=(\d+)", text))
    faults = re.findall(r"^tidy: \d+ files, (\d+) faults", text, re.MULTILINE)
    return max(ran - failed, 0), failed + sum(map(int, faults))


def failures_of(text):
    """The lines that say which tests failed, and their comments."""
    lines = COLORS.sub("", text).splitlines()
    return [line[:300] for line in lines if FAILURES.search(line) and not HEADER.search(line)]


def last_lines(text, count):
    """The last lines that say something; Swift's lines of tests that passed or started don't."""
    lines = [line for line in COLORS.sub("", text).splitlines() if line.strip() and not line.startswith(("◇ ", "✔ Test "))]
    return [line[:300] for line in lines[-count:]]
