"""The manifests in docker/kubernetes: valid, of one piece, and with the settings of docker/compose.yaml, which is tested on an engine."""

import pathlib
import re
import shutil
import subprocess

import kubernetes_validate
import pytest
import yaml

import process_table
from stack import free_ports
from stack import program as path_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
BASE = ROOT / "docker/kubernetes/base"
PAGE = (ROOT / "docs/run/kubernetes.md").read_text()
PORTS = {"identity": 7001, "profile": 7002, "invites": 7003, "gateway": 8080}
#: What is not as in containers: the database is another one, the owner's password is a job's alone, and an ingress is in front.
OF_COMPOSE = {
    "VESTIBULE_DATABASE_HOST", "VESTIBULE_DATABASE_NAME", "VESTIBULE_DATABASE_PORT", "VESTIBULE_DATABASE_TLS",
    "VESTIBULE_GATEWAY_TRUSTED_PROXIES",
    "VESTIBULE_GATEWAY_METRICS_LISTEN"}
OF_KUBERNETES = {"VESTIBULE_GATEWAY_DRAIN_DELAY": "10s", "VESTIBULE_GATEWAY_METRICS_LISTEN": "0.0.0.0:9464"}


def documents():
    """All documents of the base, by kind and name."""
    found = {}
    for path in sorted(BASE.glob("*.yaml")):
        if path.name == "kustomization.yaml":
            continue
        for document in yaml.safe_load_all(path.read_text()):
            name = (document["kind"], document["metadata"]["name"])
            assert name not in found, name
            found[name] = document
    return found


def kustomization(folder="base"):
    return yaml.safe_load((BASE.parent / folder / "kustomization.yaml").read_text())


def pods():
    """The pods' specifications by the name of what makes them."""
    return {name: document["spec"]["template"]["spec"] for (kind, name), document in documents().items() if kind in ("Deployment", "Job")}


def settings_in_containers(service):
    """As `docker compose` sets them without any variable."""
    services = yaml.safe_load((ROOT / "docker/compose.yaml").read_text())["services"]

    def resolved(value):
        value = re.sub(r"\$\{\w+:\+[^}]*\}", "", str(value))
        value = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value)
        return "\n".join(line.strip() for line in value.splitlines() if line.strip())
    return {key: resolved(value) for key, value in services[service]["environment"].items() if resolved(value)}


@pytest.mark.parametrize("version", ["1.31", "1.37"])
def test_each_document_is_valid(version):
    for document in documents().values():
        kubernetes_validate.validate(document, version, strict=True)


def test_the_kustomizations_have_everything():
    assert sorted(kustomization()["resources"]) == sorted(path.name for path in BASE.glob("*.yaml") if path.name != "kustomization.yaml")
    images = {container["image"] for pod in pods().values() for container in pod["containers"]}
    assert {image["name"] for image in kustomization("example")["images"]} == images
    generated = {entry["name"] for entry in kustomization()["configMapGenerator"]}
    assert {entry["name"] for entry in kustomization("example")["configMapGenerator"]} <= generated


@pytest.mark.parametrize("service", PORTS)
def test_settings_are_those_of_containers(service):
    data = {
        key: "\n".join(line.strip() for line in value.splitlines() if line.strip())
        for key, value in documents()["ConfigMap", f"vestibule-{service}"]["data"].items()}
    expected = {key: value for key, value in settings_in_containers(service).items() if key not in OF_COMPOSE}
    own = {key: value for key, value in OF_KUBERNETES.items() if key in data}
    assert data == expected | own


def test_what_pods_refer_to_is_there_or_on_the_page():
    made = {name for kind, name in documents() if kind == "ConfigMap"} | {entry["name"] for entry in kustomization()["configMapGenerator"]}
    commands = dict(re.findall(r"kubectl create (?:secret generic|configmap) ([\w-]+) (.*)", PAGE))
    for pod in pods().values():
        for container in pod["containers"]:
            assert {source["configMapRef"]["name"] for source in container["envFrom"]} <= made
            mounted = {mount["name"] for mount in container["volumeMounts"]}
            assert mounted == {volume["name"] for volume in pod["volumes"]}
        for volume in pod["volumes"]:
            for source in volume.get("projected", {}).get("sources", []):
                secret = source["secret"]
                for item in secret["items"]:
                    assert f"--from-file={item['key']}" in commands[secret["name"]].split(), item
            if "secret" in volume and not volume["secret"].get("optional"):
                assert volume["secret"]["secretName"] in commands
            if "configMap" in volume:
                assert volume["configMap"]["name"] in commands


def test_files_that_settings_name_are_mounted():
    maps = {name: document["data"] for (kind, name), document in documents().items() if kind == "ConfigMap"}
    for name, pod in pods().items():
        paths = {
            f"/run/secrets/{item['path']}" for volume in pod["volumes"] if "projected" in volume
            for source in volume["projected"]["sources"] for item in source["secret"]["items"]}
        (container,) = pod["containers"]
        settings = {entry["name"]: entry["value"] for entry in container.get("env", [])}
        # Migrations read the whole configuration, but no certificates and keys of calls.
        if name in PORTS:
            settings |= maps[f"vestibule-{name}"]
        for key, value in settings.items():
            if value.startswith("/run/secrets/"):
                assert value in paths, (name, key)


def test_a_pod_may_do_nothing_that_it_need_not():
    for name, pod in pods().items():
        assert pod["automountServiceAccountToken"] is False and pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
            assert "memory" in container["resources"]["limits"]
    admins = {name for name, pod in pods().items() if "vestibule-database-admin" in str(pod)}
    owners = {name for name, pod in pods().items() if "vestibule-database-owners" in str(pod)}
    assert admins == {"vestibule-roles"}
    assert owners == {"vestibule-roles", "identity-migrate", "profile-migrate", "invites-migrate"}


@pytest.mark.parametrize("service", ["identity", "profile", "invites"])
def test_the_network_is_open_to_those_who_may_call(service):
    allowed = settings_in_containers(service)[f"VESTIBULE_{service.upper()}_TLS_ALLOW"]
    callers = set(re.findall(r"spiffe://vestibule/(\w+)", allowed)) - {service}
    callers = {"vestibule-operator" if caller == "operator" else caller for caller in callers}
    (rule,) = documents()["NetworkPolicy", service]["spec"]["ingress"]
    (peer,) = rule["from"]
    (expression,) = peer["podSelector"]["matchExpressions"]
    assert set(expression["values"]) == callers and rule["ports"] == [{"port": PORTS[service]}]
    for caller in callers & set(PORTS):
        egress = documents()["NetworkPolicy", caller]["spec"]["egress"]
        ports = {
            (peer.get("podSelector", {}).get("matchLabels", {}).get("app.kubernetes.io/name"), port["port"])
            for rule in egress for peer in rule["to"] for port in rule["ports"]}
        assert (service, PORTS[service]) in ports, (caller, service)


def test_keys_are_read_from_a_volume_of_a_secret(stack, tmp_path):
    """Its files are links into a folder whose name is a link, which is replaced as a whole."""
    environment = process_table.environment(stack.process_of("identity"))
    volume = tmp_path / "keys"
    shutil.copytree(environment["VESTIBULE_IDENTITY_KEYS_FOLDER"], volume / "..2026_11_28")
    (volume / "..data").symlink_to("..2026_11_28")
    for file in (volume / "..2026_11_28").iterdir():
        (volume / file.name).symlink_to(f"..data/{file.name}")
    own, measured = free_ports(2)
    environment |= {
        "VESTIBULE_IDENTITY_KEYS_FOLDER": str(volume), "VESTIBULE_IDENTITY_LISTEN": f"127.0.0.1:{own}",
        "VESTIBULE_IDENTITY_METRICS_LISTEN": f"127.0.0.1:{measured}", "SWIFT_BACKTRACE": "enable=no"}
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen([path_of("identity"), "serve"], env=environment, stdout=log, stderr=log)
    try:
        def is_ready():
            assert process.poll() is None, (tmp_path / "log").read_text()
            return subprocess.run([path_of("identity"), "healthcheck"], env=environment, capture_output=True).returncode == 0
        process_table.wait_until(is_ready, 30, "identity to be ready")
    finally:
        process.terminate()
        assert process.wait(timeout=30) == 0
