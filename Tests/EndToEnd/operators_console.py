"""The operators' console beside a stack, and a browser at it."""

import contextlib
import subprocess
import urllib.parse

import process_table
from browser import Browser
from stack import clean_environment, free_ports, program

PEOPLE = {"maria": "maria.santos@example.com", "ana": "ana.cruz@example.com", "ben": "ben.reyes@example.com"}


def without(stack, folder, *names):
    """The file that `vestibule run` writes for commands, without some of its keys: an empty variable leaves what the file has."""
    file = folder / "operator.env"
    lines = (stack.folder / "operator.env").read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if line.split("=")[0] not in names))
    return file


class Console:
    """A console that runs; `environment` is added to the stack's."""

    def __init__(self, stack, folder, **environment):
        self.stack, self.log = stack, folder / "console.log"
        self.port = free_ports(1)[0]
        self.address = f"127.0.0.1:{self.port}"
        self.environment = {"VESTIBULE_CONSOLE_LISTEN": self.address, **environment}
        self.configuration = without(stack, folder, *(name for name, value in environment.items() if not value))

    @contextlib.contextmanager
    def running(self):
        command = [program("vestibule"), "console", "--config", str(self.configuration)]
        with self.log.open("ab") as file:
            process = subprocess.Popen(
                command, env={**clean_environment(), **self.environment}, stdin=subprocess.DEVNULL, stdout=file, stderr=file)

        self.process = process

        def listens():
            assert process.poll() is None, self.log.read_text()
            return "open the console" in self.log.read_text()

        try:
            process_table.wait_until(listens, 30, "the console")
            yield self
        finally:
            process.terminate()
            assert process.wait(timeout=30) == 0


class Operator(Browser):
    """A browser at the console."""

    def __init__(self, console):
        super().__init__(console.address, console.stack.addresses["simulator"])
        self.base = f"http://{console.address}"

    def visit(self, path, status=200):
        assert self.open(f"{self.base}{path}") is None
        assert self.response.status_code == status, (self.response.status_code, self.response.text)
        return self

    @property
    def path(self):
        return urllib.parse.urlsplit(self.response.url).path

    @property
    def text(self):
        return self.response.text

    @property
    def forms(self):
        return [form["action"] for form in self.page.forms]

    def send(self, to, status=200, **more):
        assert self.submit(to, **more) is None
        assert self.response.status_code == status, (self.response.status_code, self.text)
        return self

    def sign_in(self, email, path="/accounts"):
        self.visit(path)
        return self.pass_sign_in(email)

    def pass_sign_in(self, email):
        assert self.path == "/sign-in", self.text
        assert self.follow("/sign-in/begin") is None
        given, family = email.split("@")[0].split(".")
        assert self.submit(action="continue", email=email, given_name=given, family_name=family) is None
        return self
