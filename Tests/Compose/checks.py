"""What must hold of images and containers, each check by itself."""

import json
import re
import socket
import subprocess
import time

import grpc

import engine

PROGRAMS = ["identity", "profile", "invites", "gateway"]
SERVICES = {"identity": "vestibule.identity.v1.IdentityService", "profile": "vestibule.profile.v1.ProfileService",
            "invites": "vestibule.invites.v1.InvitesService"}
HEALTH = "grpc.health.v1.Health/Check"
SECRETS = {
    "postgres": {"postgres_password"},
    "roles": {"postgres_password", "backup_database_password"} | {f"{name}_database_{what}" for name in SERVICES
                                      for what in ("password", "owner_password")},
    "identity": {"ca", "identity_certificate", "identity_key", "identity_database_password"},
    "profile": {"ca", "profile_certificate", "profile_key", "profile_database_password", "address_key"},
    "invites": {"ca", "invites_certificate", "invites_key", "invites_database_password", "address_key"},
    "gateway": {"ca", "gateway_certificate", "gateway_key"},
    "backup": {"backup_database_password"},
    "simulator": set(),
    "https": set(),
    "https-folder": set(),
    "prometheus": set(),
    "alertmanager": set(),
}
# The folder of keys that each is given, of the folder of secrets.
KEYS = {"identity": "keys", "profile": "profile-keys", "invites": "invites-keys"}
# Where they aren't those of all others.
USERS = {"postgres": "postgres", "https-folder": "0:0", "prometheus": "65534:65534", "alertmanager": "65534:65534"}
CAPABILITIES = {"https": ["NET_BIND_SERVICE"], "https-folder": ["CHOWN"]}
SPREAD_SECONDS = 20
SPREAD_CALLS = 200


def image_sizes(stack, max_mb, **others):
    """Each image's size over its base; `others` have a bound of their own."""
    base = stack.inspect("debian:bookworm-slim")[0]["Size"]
    sizes = {name: (stack.inspect(f"vestibule/{name}:local")[0]["Size"] - base) / 1e6 for name in [*PROGRAMS, "simulator", "vestibule"]}
    assert all(0 < size < others.get(name, max_mb) for name, size in sizes.items()), sizes
    return ", ".join(f"{name} {size:.0f} MB" for name, size in sizes.items())


def hardening(stack):
    containers = stack.all_containers()
    assert len(containers) >= 10, list(containers)
    for name, one in containers.items():
        host, service = one["HostConfig"], one["Config"]["Labels"]["com.docker.compose.service"]
        assert host["ReadonlyRootfs"] and host["CapDrop"] == ["ALL"] and not host["Privileged"], name
        assert "no-new-privileges:true" in host["SecurityOpt"], name
        capabilities = [capability.removeprefix("CAP_") for capability in host["CapAdd"] or []]
        assert capabilities == CAPABILITIES.get(service, []), (name, capabilities)
        assert one["Config"]["User"] == USERS.get(service, "10001:10001"), name
        assert host["Memory"] > 0 and host["NanoCpus"] > 0 and host["PidsLimit"] > 0, name
        is_once = service in ("roles", "https-folder") or service.endswith("-migrate")
        assert host["RestartPolicy"]["Name"] == ("no" if is_once else "unless-stopped"), name
        assert (one["State"]["ExitCode"] == 0) if is_once else (one["State"]["Health"]["Status"] == "healthy"), name
        mounted = {mount["Destination"].removeprefix("/run/secrets/") for mount in one["Mounts"]
                   if mount["Destination"].startswith("/run/secrets/")}
        owner = {f"{service.removesuffix('-migrate')}_database_owner_password"} if service.endswith("-migrate") else set()
        assert mounted == SECRETS[service.removesuffix("-migrate")] | owner, (name, mounted)
        keys = {mount["Source"] for mount in one["Mounts"] if mount["Destination"] == "/run/keys" and not mount["RW"]}
        folder = KEYS.get(service.removesuffix("-migrate"))
        assert keys == ({str(stack.secrets_folder / folder)} if folder else set()), (name, keys)
        assert not any(mount["RW"] for mount in one["Mounts"] if mount["Source"].startswith(str(stack.secrets_folder))), name
        assert not any("password" in text.lower() and "_FILE=" not in text for text in one["Config"]["Env"]), name
    with_secrets = {file.name for file in stack.secrets_folder.iterdir()}
    assert stack.secrets_folder.stat().st_mode & 0o777 == 0o700 and "ca-key.pem" in with_secrets
    assert (stack.secrets_folder / "ca-key.pem").stat().st_mode & 0o777 == 0o600


def published(stack):
    services = json.loads(stack.compose("config", "--format", "json", development=False))["services"]
    assert "simulator" not in services
    assert [name for name, service in services.items() if service.get("ports")] == ["gateway"]
    assert [port["host_ip"] for port in services["gateway"]["ports"]] == ["127.0.0.1"]


def networks(stack):
    """Who has a way out of a deployment, who meets whom, and that an internal network is one."""
    whole = json.loads(stack.compose("config", "--format", "json", development=False))
    is_internal = {name: network.get("internal", False) for name, network in whole["networks"].items()}
    assert is_internal == {"edge": False, "front": True, "outside": False, "services": True, "data": True}, is_internal
    joined = {name: set(service["networks"]) for name, service in whole["services"].items()}
    with_way_out = {name for name, networks in joined.items() if not all(is_internal[network] for network in networks)}
    assert with_way_out == {"identity", "gateway"}, joined
    assert [name for name, networks in joined.items() if "edge" in networks] == ["gateway"], joined
    assert [name for name, networks in joined.items() if "outside" in networks] == ["identity"], joined
    for name in ("front", "services", "data"):
        assert stack.inspect(f"vestibule_{name}")[0]["Internal"] is True, name
    # Its metrics are served on one network and not on the other.
    gateway, = stack.containers("gateway")
    addresses = {network.removeprefix("vestibule_"): one["IPAddress"] for network, one
                 in stack.inspect(gateway)[0]["NetworkSettings"]["Networks"].items()}
    assert _connects(addresses["services"], 9464) and not _connects(addresses["edge"], 9464), addresses


def _connects(host, port):
    try:
        with socket.create_connection((host, port), timeout=3):
            return True
    except OSError:
        return False


# What a program serves for users; the others serve everything by one service.
FOR_USERS = {("invites", "ListGroups"): "vestibule.app.v1.GroupService"}


def allow_lists(stack):
    """Calls services from outside with each program's certificate; gives a line for people."""
    ports = {name: stack.compose("port", name, str(7001 + index)).strip() for index, name in enumerate(SERVICES)}
    allowed = {
        ("gateway", "identity", "CheckSession"), ("gateway", "identity", "GetAccount"), ("gateway", "profile", "GetProfile"),
        ("gateway", "invites", "ListGroups"), ("profile", "invites", "ApplyPhoneEvents"),
        # Identity asks for operators.
        ("identity", "profile", "LookUpProfile"),
        ("profile", "identity", "AcceptEvents"), ("invites", "identity", "AcceptEvents")}
    tried = {(caller, service, method) for caller in PROGRAMS for service, method in [
        ("identity", "CheckSession"), ("identity", "GetAccount"), ("identity", "LookUpAccount"), ("profile", "GetProfile"),
        ("profile", "LookUpProfile"), ("invites", "ListGroups"), ("invites", "ApplyPhoneEvents"), ("identity", "AcceptEvents")]}
    # Who may call them gets nothing without identity's proof of the person.
    for_persons = {("identity", "GetAccount"), ("profile", "GetProfile"), ("invites", "ListGroups")}
    for caller, service, method in sorted(tried):
        name = FOR_USERS.get((service, method), SERVICES[service])
        code = _call(stack, ports[service], service, f"{name}/{method}", caller)
        assert code != grpc.StatusCode.UNAVAILABLE, (caller, service, method)
        is_refused = code == grpc.StatusCode.PERMISSION_DENIED
        assert is_refused != ((caller, service, method) in allowed), (caller, service, method, code)
        if not is_refused and (service, method) in for_persons:
            assert code == grpc.StatusCode.UNAUTHENTICATED, (caller, service, method, code)
    for service in SERVICES:
        for caller in PROGRAMS:
            is_allowed = caller in ("gateway", service)
            code = _call(stack, ports[service], service, HEALTH, caller)
            assert code == (grpc.StatusCode.OK if is_allowed else grpc.StatusCode.PERMISSION_DENIED), (service, caller, code)
        # Without a certificate, and in clear text, nothing is answered at all.
        for caller in ["", None]:
            code = _call(stack, ports[service], service, HEALTH, caller)
            assert code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED), (service, caller, code)
    return f"{len(tried) + 6 * len(SERVICES)} calls by 4 certificates, by none, and in clear text"


def operator(stack, session):
    """The command of the page about operators, but for the folder of secrets and for whom it looks."""
    page = (stack.root / "docs/run/operators.md").read_text()
    command, = re.findall(r"```\n(docker run .*?)\n```", page, re.DOTALL)
    for written, meant in [("$PWD/docker/secrets", str(stack.secrets_folder)), ("+639171234567", session["email"])]:
        assert command.count(written) == 1, command
        command = command.replace(written, meant)
    found = engine.run("bash", "-c", command, cwd=stack.root, env=stack.environment)
    assert session["user_id"] in found, found


def _call(stack, address, service, method, caller):
    """The status of a call with an empty message; `caller` "" has no certificate, and None speaks clear text."""
    if caller is None:
        channel = grpc.insecure_channel(address)
    else:
        read = lambda name: (stack.secrets_folder / name).read_bytes()
        pair = (read(f"{caller}-key.pem"), read(f"{caller}.pem")) if caller else (None, None)
        credentials = grpc.ssl_channel_credentials(read("ca.pem"), *pair)
        channel = grpc.secure_channel(address, credentials, [("grpc.ssl_target_name_override", service)])
    with channel:
        try:
            channel.unary_unary(f"/{method}")(b"", timeout=3)
            return grpc.StatusCode.OK
        except grpc.RpcError as error:
            return error.code()


def spread(stack, load):
    """Waits until each of three containers has a fair part of the calls; gives their counts."""
    containers = stack.containers("identity")
    assert len(containers) == 3, containers
    limit = time.monotonic() + SPREAD_SECONDS
    begun = {container: _checks_logged(stack, container) for container in containers}
    while True:
        counts = {container: _checks_logged(stack, container) - begun[container] for container in containers}
        total = sum(counts.values())
        if total >= SPREAD_CALLS:
            if min(counts.values()) >= total * 0.2:
                break
            # Names are looked up again every few seconds: what came before the answer doesn't count.
            begun = {container: begun[container] + counts[container] for container in containers}
        assert time.monotonic() < limit, f"after {SPREAD_SECONDS} s calls still go like {list(counts.values())}"
        time.sleep(0.2)
    assert not load.failed(), load.summary()
    return "CheckSession calls by container: " + ", ".join(str(count) for count in counts.values())


def _checks_logged(stack, container):
    return container_logs(stack, container).count("CheckSession")


def container_logs(stack, container):
    done = subprocess.run(["docker", "logs", container], env=stack.environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=True)
    return done.stdout.decode(errors="replace")


def logs(stack, sessions):
    """Debug logs of all that has run."""
    words = {"Loadsen"} | {session["email"] for session in sessions}
    words |= {session[name] for session in sessions for name in ("access_token", "refresh_token")}
    for ring in stack.secrets_folder.glob("keys/*.json"):
        keys = [key["key"].splitlines() for key in json.loads(ring.read_text())["keys"]]
        # Of PEM a line of the key, which is not what all keys of its kind begin with.
        words |= {lines[1 if len(lines) > 1 else 0] for lines in keys}
    for file in (each for each in stack.secrets_folder.iterdir() if each.is_file()):
        content = file.read_bytes()
        if file.name.endswith("password"):
            words.add(content.decode())
        elif file.name.endswith("key.pem"):
            words.add(content.decode().splitlines()[1])
    lines = 0
    for name in stack.all_containers():
        text = container_logs(stack, name)
        lines += text.count("\n")
        for word in words:
            assert word not in text, f"{name}'s log has something confidential: {word[:3]}…"
    assert lines > 100, "there are hardly any logs"


def down(stack):
    """Asks them to stop as `make down` does, and looks how they ended before they are removed."""
    programs = [name for name, one in stack.all_containers().items() if one["State"]["Running"]]
    begun = time.monotonic()
    stack.compose("stop")
    seconds = time.monotonic() - begun
    assert seconds < 25, f"it took {seconds:.0f} s"
    for name, one in stack.all_containers().items():
        if name in programs:
            # 137 would be SIGKILL.
            assert one["State"]["ExitCode"] == 0 and not one["State"]["OOMKilled"], (name, one["State"])
    stack.make("down")
    assert not stack.all_containers()
    networks = stack.docker("network", "ls", "--format", "{{.Name}}").split()
    assert not [name for name in networks if re.match("vestibule", name)], networks
    kept = ["backup", "certificates", "prometheus", *(f"{program}-crashes" for program in ("gateway", "identity", "invites", "profile"))]
    # A restore has given the database another one.
    database = stack.environment.get("VESTIBULE_DATABASE_VOLUME", "vestibule_database")
    volumes = stack.docker("volume", "ls", "--format", "{{.Name}}").split()
    assert sorted(volumes) == sorted([database, *(f"vestibule_{name}" for name in kept)]), volumes
