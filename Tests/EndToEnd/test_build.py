"""What a build shows: how far it is in a line, and a file with what the compiler said. By a compiler that only talks."""

import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS = 30
LOG = ".build/build.log"

FAILURE = """\
/p/a.swift:3:5: error: cannot find 'answer' in scope
1 | func f() {
3 |     answer
  |     `- error: cannot find 'answer' in scope
[7/9] Compiling B c.swift
error: emit-module command failed with exit code 1 (use -v to see invocation)
/p/a.swift:3:5: error: cannot find 'answer' in scope
3 |     answer
/p/b.swift:1:1: warning: variable was never used
"""


@pytest.fixture
def project(tmp_path):
    """A folder with the scripts, and `swift` as the shell lines that are given."""
    (tmp_path / "Sources").mkdir()
    (tmp_path / "bin").mkdir()
    for name in ("build.sh", "build-with-progress.sh"):
        shutil.copy(ROOT / "Sources" / name, tmp_path / "Sources")

    def write(script):
        swift = tmp_path / "bin/swift"
        swift.write_text(f"#!/usr/bin/env bash\n{script}\n")
        swift.chmod(0o755)
        return tmp_path

    return write


def command(folder, *arguments, **variables):
    """What `subprocess` needs to start the build there."""
    environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "TERM": "xterm", **variables}
    return {"args": [folder / "Sources/build-with-progress.sh", *arguments], "env": environment}


def build(folder, *arguments, **variables):
    return subprocess.run(
        **command(folder, *arguments, **variables), capture_output=True, text=True, timeout=SECONDS,
        stdin=subprocess.DEVNULL)


class Terminal:
    """The build with a terminal for its output."""

    def __init__(self, folder):
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            **command(folder), stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            # Ignored where the tests run in the background of a script, and a shell can't trap what is ignored as it begins.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        os.close(theirs)
        self.text = ""

    def read_until(self, wanted):
        """Reads until this was shown, or to the end."""
        limit = time.monotonic() + SECONDS
        while wanted not in self.text:
            assert time.monotonic() < limit, self.text
            try:
                self.text += os.read(self._ours, 4096).decode()
            except OSError:  # Nobody has the other side any more.
                return self
        return self

    def to_the_end(self):
        self.read_until("\0")
        os.close(self._ours)
        return self.process.wait(timeout=SECONDS)


def test_a_build_with_nothing_to_do_is_silent(project):
    folder = project('echo "Building for production..."; echo "[0/3] Write version"; echo "Build complete! (0.1s)"')
    result = build(folder, "-c", "release")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert "Build complete!" in (folder / LOG).read_text()


def test_the_arguments_are_the_compilers(project):
    folder = project('printf "%s|" "$@" "$SWIFT_DETERMINISTIC_HASHING"')
    build(folder, "-c", "release", "--product", "two words")
    assert (folder / LOG).read_text() == "build|-c|release|--product|two words|1|\n"


def test_a_pipe_gets_a_line_now_and_then(project):
    folder = project("""
        echo 'Fetching https://example.com/some/swift-thing.git from cache'; sleep 3.3
        for step in $(seq 1 8 1037); do echo "[$step/1037] Compiling A file$step.swift"; done; sleep 2.5
        printf 'no end of line'""")
    result = build(folder, BUILD_REPORT_SECONDS="1")
    assert result.returncode == 0 and result.stderr == ""
    lines = result.stdout.splitlines()
    assert re.fullmatch(rf"Fetching packages \(swift-thing\) … 0:0[34]; the log is {LOG}", lines[0]), lines
    assert f"Building (1,033 of 1,037) … 0:0" in lines[-2] and lines[-2].endswith(LOG), lines
    assert re.fullmatch(r"Built in 0:\d\d", lines[-1]) and len(lines) <= 8, lines
    assert "\033" not in result.stdout
    said = (folder / LOG).read_text().splitlines()
    assert len(said) == 132 and said[-1] == "no end of line"


def test_a_long_build_is_a_few_lines_of_a_log(project):
    folder = project('for step in 1 2 3 4 5; do echo "[$step/5] Compiling A b.swift"; sleep 1; done')
    result = build(folder)
    assert len(result.stdout.splitlines()) == 2, result.stdout


def test_a_terminal_has_one_line_that_is_rewritten(project):
    folder = project('echo "[411/1037] Compiling A b.swift"; sleep 1.2; echo "[412/1037] Compiling A c.swift"; sleep 2.2')
    terminal = Terminal(folder)
    assert terminal.to_the_end() == 0
    assert "Building (412 of 1,037) … 0:0" in terminal.text
    # One line in place, emptied at the end, and what it took.
    *rewritten, last = terminal.text.split("\r\033[K")
    assert len(rewritten) == 1 and "\n" not in rewritten[0] and rewritten[0].count("\r") >= 3, terminal.text
    assert re.fullmatch(r"Built in 0:0\d\r\n", last), terminal.text


def test_a_failure_shows_each_error_once_and_names_the_file(project):
    folder = project(f"cat <<'END'\n{FAILURE}END\nexit 1")
    result = build(folder)
    assert (result.returncode, result.stdout) == (1, "")
    lines = result.stderr.splitlines()
    assert lines[:-1] == FAILURE.splitlines()[:4]
    assert re.fullmatch(rf"Building failed after 0:0\d; all that was said is in {LOG}", lines[-1])
    assert (folder / LOG).read_text() == FAILURE


def test_a_failure_without_an_error_shows_the_end_of_the_log(project):
    folder = project("seq 1 100; exit 137")
    result = build(folder)
    assert result.returncode == 137
    assert result.stderr.splitlines()[:-1] == [str(number) for number in range(81, 101)]


def test_a_linker_says_what_is_missing(project):
    folder = project("echo \"ld.gold: error: a.o: undefined reference to 'f'\"; echo 'error: fatalError'; exit 1")
    assert build(folder).stderr.splitlines()[0] == "ld.gold: error: a.o: undefined reference to 'f'"


def test_thousands_of_errors_are_not_all_shown(project):
    folder = project("for n in $(seq 1 3000); do echo \"a.swift:$n:1: error: fault $n\"; done; exit 1")
    lines = build(folder).stderr.splitlines()
    assert lines[0] == "a.swift:1:1: error: fault 1" and len(lines) == 61
    assert (folder / LOG).read_text().count("\n") == 3000


@pytest.mark.parametrize("how", ["Ctrl-C", "kill"])
def test_a_stop_ends_the_compiler_too(project, how):
    # As SwiftPM: at SIGINT it ends the compilers and then itself.
    folder = project('trap "exit 1" INT; echo $$ >pid; echo "[1/2] Compiling A b.swift"; while sleep 0.2; do :; done')
    terminal = Terminal(folder).read_until("Building (1 of 2)")
    if how == "kill":
        terminal.process.terminate()
    else:
        os.killpg(terminal.process.pid, signal.SIGINT)
    assert terminal.to_the_end() == (143 if how == "kill" else 130)
    assert not pathlib.Path(f"/proc/{(folder / 'pid').read_text().strip()}").exists()
    assert "failed" not in terminal.text


def test_two_builds_at_once_write_one_after_the_other(project):
    folder = project('echo "begin $2"; sleep 1.5; echo "end $2"')
    started = [subprocess.Popen(**command(folder, name), stdout=subprocess.PIPE, text=True) for name in ("one", "two")]
    for process in started:
        output, _ = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, output
    begin, end = (folder / LOG).read_text().split("\n")[:2]
    assert begin.split()[1] == end.split()[1]
