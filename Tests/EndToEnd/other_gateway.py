"""Another gateway to the services of a stack, with limits of its own."""

import contextlib
import subprocess

import process_table
from http_client import Client
from stack import free_ports, program


@contextlib.contextmanager
def another_gateway(stack, source=None, context=None, port=None, environment=None, **keys):
    """A client of a gateway that runs beside the stack's, asked from the address `source` and by the TLS of `context`; `keys`
    go without VESTIBULE_GATEWAY_ before them, those of `environment` as they are. What it logs is searched with the stack's
    logs."""
    port = port or free_ports(1)[0]
    others = environment or {}
    environment = process_table.environment(stack.process_of("gateway"))
    environment.pop("VESTIBULE_GATEWAY_METRICS_LISTEN", None)
    environment |= {"VESTIBULE_GATEWAY_LISTEN": f"127.0.0.1:{port}"}
    environment |= {f"VESTIBULE_GATEWAY_{name}": value for name, value in keys.items()} | others
    log = stack.folder / "logs" / f"gateway-{port}.log"
    with log.open("ab") as file:
        process = subprocess.Popen(
            [program("gateway"), "serve"], env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
    client = Client(f"127.0.0.1:{port}", source, context)
    client.log, client.process = log, process

    def is_listening():
        assert process.poll() is None, log.read_text()
        with contextlib.suppress(OSError):
            return client.get("/healthz").status in (200, 429)

    try:
        process_table.wait_until(is_listening, 30, "the other gateway")
        yield client
    finally:
        process.terminate()
        assert process.wait(timeout=30) == 0
