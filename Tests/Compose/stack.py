"""The stack on the test's engine: Docker, Compose, `make`, the programs' `demo`, and people who sign in."""

import hashlib
import http.client
import json
import os
import secrets
import socket
import ssl
import subprocess
import time

import engine


class Stack:
    def __init__(self, root, host, scratch, gateway_port, simulator_port):
        self.root = root
        # A range, so that the gateway can be replaced.
        self.gateway = f"127.0.0.1:{gateway_port}"
        published = f"{self.gateway}-{gateway_port + 1}"
        self.simulator = f"127.0.0.1:{simulator_port}"
        self.secrets_folder = scratch / "secrets"
        compose = root / ".venv-compose/bin/docker-compose"
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("DOCKER_", "VESTIBULE_", "COMPOSE_"))}
        self.environment |= {
            "DOCKER_HOST": host, "DOCKER_BUILDKIT": "1", "DOCKER_COMPOSE": str(compose), "DOCKER_CONFIG": str(scratch),
            "VESTIBULE_PROGRAMS": "prebuilt", "VESTIBULE_PUBLISH": published,
            "VESTIBULE_SIMULATOR_PUBLISH": self.simulator, "VESTIBULE_SECRETS": str(self.secrets_folder)}
        self._compose = [compose, "--progress", "quiet", "--file", root / "docker/compose.yaml"]
        self._development = ["--file", root / "docker/compose.dev.yaml"]

    def docker(self, *arguments, **how):
        return engine.run("docker", *arguments, env=self.environment, **how).strip()

    def compose(self, *arguments, development=True):
        files = self._development if development else []
        return engine.run(*self._compose, *files, *arguments, env=self.environment)

    def make(self, *arguments):
        return engine.run("make", "--no-print-directory", *arguments, cwd=self.root, env=self.environment)

    def follow(self, said):
        """Calls the gateway where `up` says that it is: of a range of ports, Docker chooses one. Gives that line."""
        line = next(line for line in said.splitlines() if line.startswith("Vestibule is ready"))
        self.gateway = line.split("://")[1]
        return line

    def containers(self, service):
        """The ids of a service's containers, oldest first."""
        lines = self.docker(
            "ps", "--filter", f"label=com.docker.compose.service={service}", "--format", "{{.CreatedAt}}|{{.ID}}")
        return [line.split("|")[1] for line in sorted(lines.splitlines())]

    def inspect(self, *names):
        return json.loads(self.docker("inspect", *names))

    def all_containers(self):
        names = self.docker("ps", "--all", "--quiet").split()
        return {one["Name"].lstrip("/"): one for one in self.inspect(*names)} if names else {}

    def starts(self):
        """When each container was started, and how often it was started again."""
        return {name: (one["State"]["StartedAt"], one["RestartCount"]) for name, one in self.all_containers().items()}

    def secrets(self):
        files = (file for file in self.secrets_folder.rglob("*") if file.is_file())
        return {str(file.relative_to(self.secrets_folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}

    def renew(self, service):
        """A new key and certificate for a service, as `make renew` makes them in the last third of the old one's life."""
        engine.run(self.root / "docker/renew.sh", "--renew", service, env=self.environment)

    def keys(self, *arguments):
        """What `vestibule keys` says of the deployment's keys."""
        return engine.run(self.root / "docker/keys.sh", *arguments, env=self.environment)

    def certificates(self, service, port):
        """What each of a service's containers serves with, in PEM."""
        found = []
        for container in self.containers(service):
            address = self.docker("port", container, str(port)).splitlines()[0]
            host, number = address.rsplit(":", 1)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            context.set_alpn_protocols(["h2"])
            with socket.create_connection((host, int(number)), timeout=5) as plain, context.wrap_socket(plain) as secure:
                found.append(ssl.DER_cert_to_PEM_cert(secure.getpeercert(binary_form=True)))
        return found

    def demo(self):
        """Tells the story; gives the number of its steps."""
        environment = self.environment | {
            "VESTIBULE_GATEWAY_LISTEN": self.gateway, "VESTIBULE_SIMULATOR_LISTEN": self.simulator}
        said = engine.run(self.root / ".build/release/vestibule", "demo", env=environment)
        steps = [line for line in said.splitlines() if "  ok  " in line]
        assert len(steps) == 12 and "FAILED" not in said, said
        return len(steps)

    def wait_until_ready(self, seconds):
        limit = time.monotonic() + seconds
        while True:
            try:
                if send(self.gateway, "GET", "/readyz")[0] == 200:
                    return
            except OSError:
                pass
            assert time.monotonic() < limit, f"not ready within {seconds} s"
            time.sleep(0.05)

    def sign_in(self, index):
        """A new person's session."""
        nonce = secrets.token_hex(16)
        person = {"email": f"load-{index}-{secrets.token_hex(4)}@example.com", "given_name": "Load", "family_name": "Loadsen"}
        status, told, _ = send(self.simulator, "POST", "/control/google/sign-in", {
            "client_id": "example.apps.googleusercontent.com",
            "nonce": hashlib.sha256(nonce.encode()).hexdigest(), "person": person})
        assert status == 200, told
        status, session, _ = send(self.gateway, "POST", "/auth/google", {"id_token": told["id_token"], "nonce": nonce})
        assert status == 200, session
        return session | {"email": person["email"]}

    def last_words(self):
        """What a reader of a failure wants: the state of all containers and the end of their logs."""
        texts = []
        for name, one in self.all_containers().items():
            state = one["State"]
            health = state.get("Health", {}).get("Status", "")
            done = subprocess.run(["docker", "logs", "--tail", "8", name], env=self.environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            texts.append(f"--- {name}: {state['Status']} {health} exit {state['ExitCode']}\n{done.stdout}")
        return "\n".join(texts)

    def remove(self):
        """Everything, data too; can be repeated."""
        self.compose("down", "--volumes", "--remove-orphans", "--timeout", "5")


def send(address, method, path, body=None, context=None, headers=None):
    """Sends a request, by TLS if there is a context for it; gives status, JSON and header fields of the answer."""
    host, port = address.rsplit(":", 1)
    if context:
        connection = http.client.HTTPSConnection(host, int(port), timeout=10, context=context)
    else:
        connection = http.client.HTTPConnection(host, int(port), timeout=10)
    sent = dict(headers or {}) | ({"Content-Type": "application/json"} if body is not None else {})
    try:
        connection.request(method, path, json.dumps(body) if body is not None else None, sent)
        response = connection.getresponse()
        content = response.read()
        return response.status, json.loads(content) if content else {}, response.headers
    finally:
        connection.close()
