"""A person at a terminal: a program whose standard input and error are a pseudo-terminal, and whose output is a pipe."""

import os
import pty
import select
import subprocess
import termios
import time

WAIT_SECONDS = 20


class Terminal:
    """Types at a program, and reads what it shows."""

    def __init__(self, arguments, environment, cwd=None):
        self._screen, inner = pty.openpty()
        self._inner = inner
        self.shown = ""
        # A session whose terminal it is, so that Ctrl-C comes as a signal.
        self.process = subprocess.Popen(
            arguments, env=environment, stdin=inner, stdout=subprocess.PIPE, stderr=inner, cwd=cwd, text=True,
            start_new_session=True, preexec_fn=self._take)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        os.close(self._inner)
        os.close(self._screen)

    @staticmethod
    def _take():
        import fcntl

        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def expect(self, text):
        """Waits until a text is shown behind what was expected before; returns what was shown up to it."""
        end = time.monotonic() + WAIT_SECONDS
        while text not in self.shown:
            left = end - time.monotonic()
            assert left > 0, f"waited for {text!r}; it shows {self.shown!r}"
            if select.select([self._screen], [], [], min(left, 0.2))[0]:
                self.shown += os.read(self._screen, 4096).decode()
            elif self.process.poll() is not None:
                raise AssertionError(f"it ended with {self.process.returncode} before {text!r}; it shows {self.shown!r}")
        before, self.shown = self.shown.split(text, 1)
        return before

    def type(self, text):
        os.write(self._screen, text.encode())

    def answer(self, question, text):
        """Waits for a question and answers it."""
        self.expect(question)
        self.expect(": ")
        self.type(f"{text}\n")

    def wait(self):
        """The exit status and the standard output, at the end."""
        output, _ = self.process.communicate(timeout=WAIT_SECONDS)
        while select.select([self._screen], [], [], 0)[0]:
            self.shown += os.read(self._screen, 4096).decode()
        return self.process.returncode, output

    @property
    def has_echo(self):
        return bool(termios.tcgetattr(self._inner)[3] & termios.ECHO)
