"""How the runner counts, chooses, stops and reports."""

import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import counting  # noqa: E402
import run  # noqa: E402
import suites  # noqa: E402


class CountingTests(unittest.TestCase):
    def test_swift(self):
        text = ('◇ Test "a" started.\n✔ Test "a" passed after 0.1 seconds.\n✔ Test b() passed after 0.1 seconds.\n'
                '✘ Test "c" recorded an issue at A.swift:1:2: Expectation failed\n↳ Why.\n'
                '✘ Test "c" failed after 0.1 seconds with 1 issue.\n'
                '✘ Test run with 3 tests failed after 1 second with 1 issue.\n')
        self.assertEqual(counting.count_swift(text), (2, 1))
        self.assertEqual(len(counting.failures_of(text)), 4)
        self.assertEqual(counting.count_swift("✔ Test run with 2 tests in 1 suite passed after 1 seconds.\n"), (0, 0))

    def test_a_crash_of_swifts_tests(self):
        # SwiftPM writes it into whichever line it was at.
        line = "◇ Test case passing 2 error: Process '.build/debug/a.xctest' exited with unexpected signal code 11"
        self.assertEqual(counting.failures_of(f'◇ Test "a" started.\n{line}\n◇ Test "b" started.\n'), [line])

    def test_pytest(self):
        self.assertEqual(counting.count_pytest("..F\nFAILED a.py::b\n1 failed, 20 passed, 2 errors in 3.2s\n"), (20, 3))
        self.assertEqual(counting.count_pytest("12 passed in 3.2s\n"), (12, 0))
        self.assertEqual(counting.count_pytest("no tests ran in 0.1s\n"), (0, 0))

    def test_scripts(self):
        self.assertEqual(counting.count_sum("ok   a\nthread: 2 passed, 0 failed\n3 passed, 1 failed\n"), (3, 1))
        self.assertEqual(counting.count_sum("nothing\n"), (0, 0))

    def test_unittest(self):
        text = "Ran 4 tests in 0.1s\n\nFAILED (failures=1, errors=1)\ntidy: 9 files, 2 faults\n"
        self.assertEqual(counting.count_unittest(text), (2, 4))
        self.assertEqual(counting.count_unittest("Ran 1 test in 0.1s\n\nOK\ntidy: 9 files, 0 faults\n"), (1, 0))


class RunningTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.logs, run.LOGS = run.LOGS, pathlib.Path(folder.name).resolve()
        self.root, run.ROOT = run.ROOT, run.LOGS
        self.addCleanup(self.restore)

    def restore(self):
        run.LOGS, run.ROOT = self.logs, self.root

    def run_suites(self, *scripts, jobs=2):
        chosen = [suites.script_suite(f"s{number}", "", "sh", "-c", script) for number, script in enumerate(scripts)]
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            return run.run_all(chosen, dict(os.environ), jobs), output.getvalue()

    def test_what_suites_printed_is_summed(self):
        (passed, failed, summary), output = self.run_suites(
            "echo '3 passed, 0 failed'", "echo 'FAIL that one'; echo '2 passed, 1 failed'; false", "echo '5 passed, 0 failed'", jobs=1)
        self.assertEqual((passed, failed), (10, 1))
        self.assertIn("  FAIL that one", summary)
        self.assertRegex(output, r"FAIL s1 +2 passed +1 failed")

    def test_a_suite_that_ran_nothing_or_failed_without_a_reason_failed(self):
        self.assertEqual(self.run_suites("true")[0][:2], (0, 1))
        self.assertEqual(self.run_suites("echo '3 passed, 0 failed'; exit 2")[0][:2], (3, 1))

    def test_the_last_lines_of_a_suite_that_ended_early_are_shown(self):
        _, _, summary = self.run_suites("echo 'no space left'; echo '3 passed, 0 failed'; kill -9 $$")[0]
        self.assertEqual(summary[1:], [
            "  It ended with status -9; the last lines that it printed:", "  no space left", "  3 passed, 0 failed"])
        self.assertEqual(self.run_suites("echo 'FAIL that one'; echo '2 passed, 1 failed'; false")[0][2][1:], ["  FAIL that one"])

    def test_lines_of_swift_tests_that_did_not_fail_are_not_shown_as_the_last_ones(self):
        text = '◇ Test "a" started.\nA.swift:1: Fatal error: that\n✔ Test "b" passed after 0.1 seconds.\n◇ Suite B started.\n\n'
        self.assertEqual(counting.last_lines(text, 2), ["A.swift:1: Fatal error: that"])

    def test_an_interrupted_run_leaves_no_process(self):
        suite = suites.script_suite("waiting", "", "sh", "-c", "trap '' INT; sleep 60 & echo $! >child; wait")
        started = run.Run.start(suite, dict(os.environ))
        while not (run.ROOT / "child").exists() or not (run.ROOT / "child").read_text().strip():
            pass
        run.STOP_SECONDS, before = 0.2, run.STOP_SECONDS
        try:
            started.stop()
        finally:
            run.STOP_SECONDS = before
        self.assertIsNotNone(started.process.poll())
        child = int((run.ROOT / "child").read_text())
        states = subprocess.run(["ps", "-o", "stat=", "-p", str(child)], capture_output=True, text=True).stdout.strip()
        self.assertTrue(states == "" or states.startswith("Z"), states)


class ChoosingTests(unittest.TestCase):
    ROOT = pathlib.Path(__file__).resolve().parents[2]

    def test_suites_and_parts(self):
        self.assertEqual([suite.name for suite in suites.only("crpc", self.ROOT)], ["crpc"])
        invites = suites.only("invites", self.ROOT)
        self.assertEqual([suite.name for suite in invites], ["swift", "end-to-end"])
        self.assertIn(r"^(InvitesDomainTests|InvitesServiceTests)\.", invites[0].command)
        self.assertEqual(suites.only("nothing", self.ROOT), [])

    def test_end_to_end_files_are_there(self):
        for files in suites.END_TO_END.values():
            for file in files:
                self.assertTrue((self.ROOT / "Tests" / "EndToEnd" / f"{file}.py").exists(), file)

    def test_names_are_unique(self):
        names = [suite.name for suite in suites.TESTS + suites.CHECKS]
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main()
