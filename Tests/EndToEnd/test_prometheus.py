"""A real Prometheus on the configuration, the alerts and the dashboard that are in docker/."""

import contextlib
import json
import pathlib
import re
import subprocess
import urllib.parse

import pytest

import process_table
from http_client import Client
from stack import MEASURED, clean_environment, free_ports, short_folder

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docker"
ALERTS = FOLDER / "prometheus/alerts.yaml"
NAME = re.compile(r"\b(?:vestibule|process)_[a-z_]+")
# Nothing to show where all is well.
# What only programs with certificates tell, an identity with targets of webhooks, a PostgreSQL with standbys or an archive, and the program of
# backups, and there are none here.
ABSENT = {
    "vestibule_tls_certificate_expiry_timestamp_seconds", "vestibule_identity_webhooks_stopped", "vestibule_database_standby_lag_bytes",
    "vestibule_database_slot_wal_bytes", "vestibule_database_archiving_fails", "vestibule_backup_disk_free_bytes",
    "vestibule_backup_followed_timestamp_seconds", "vestibule_backup_interval_seconds", "vestibule_backup_log_lag_bytes",
    "vestibule_backup_newest_bytes", "vestibule_backup_newest_timestamp_seconds"}
QUIET = re.compile(r'> 0|status=~"5')


class Prometheus:
    """Prometheus as docker/ configures it, but for where the programs are and how often it asks."""

    def __init__(self, stack, folder):
        self._log = folder / "log"
        configuration = (FOLDER / "prometheus/prometheus.yaml").read_text()
        for name, address in stack.metrics_addresses.items():
            configuration, count = re.subn(
                rf"dns_sd_configs: \[\{{names: \[{name}(?:\.services)?\],[^\n]*", f"static_configs: [{{targets: ['{address}']}}]",
                configuration)
            assert count == 1, name
        configuration = re.sub(r"(scrape_interval|scrape_timeout|evaluation_interval): \d+s", r"\1: 1s", configuration)
        (folder / "prometheus.yaml").write_text(configuration)
        (folder / "alerts.yaml").write_text(ALERTS.read_text())
        (port,) = free_ports(1)
        self._client = Client(f"127.0.0.1:{port}")
        with open(self._log, "wb") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={folder}/prometheus.yaml", f"--storage.tsdb.path={folder}/data",
                 f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, env=clean_environment())

    def wait_until_ready(self):
        def is_ready():
            assert self.process.poll() is None, self._log.read_text()
            with contextlib.suppress(OSError):
                return self._client.get("/-/ready").status == 200
            return False

        process_table.wait_until(is_ready, 30, lambda: f"Prometheus; it said {self._log.read_text()}")

    def ask(self, path, **parameters):
        answer = self._client.get(f"/api/v1/{path}?{urllib.parse.urlencode(parameters)}")
        assert answer.status == 200, answer.content
        return answer.json["data"]

    def query(self, expression):
        return self.ask("query", query=expression)["result"]

    def value(self, expression):
        """The one value that a query gives; nothing if there is none."""
        result = self.query(expression)
        assert len(result) <= 1, result
        return float(result[0]["value"][1]) if result else None

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)


@pytest.fixture(scope="module")
def prometheus(stack):
    with short_folder() as folder:
        prometheus = Prometheus(stack, folder)
        try:
            prometheus.wait_until_ready()
            yield prometheus
        finally:
            prometheus.stop()


@pytest.fixture
def traffic(new_app):
    """Somebody has used everything, so that there is something to see."""
    app = new_app()
    app.sign_in()
    app.complete()
    app.create_group()
    assert app.get("/not-there").status == 404
    new_app().sign_in("google")
    return app


def expressions():
    """Every query of the dashboard, with what Grafana puts in place of its variables."""
    dashboard = json.loads((FOLDER / "grafana/vestibule.json").read_text())
    found = [
        target["expr"].replace("$__rate_interval", "30s").replace("$job", ".+")
        for panel in dashboard["panels"] for target in panel.get("targets", [])]
    assert len(found) > 40
    return found


def known_names(prometheus):
    return set(prometheus.ask("label/__name__/values"))


def test_every_program_is_scraped(prometheus):
    def up():
        return {each["metric"]["job"]: each["value"][1] for each in prometheus.query("up")}

    process_table.wait_until(lambda: up() == dict.fromkeys(MEASURED, "1"), 20, lambda: f"all to be up; it is {up()}")
    targets = prometheus.ask("targets")["activeTargets"]
    assert [target["lastError"] for target in targets] == [""] * len(MEASURED)


def test_queries_see_what_happens(prometheus, new_app):
    sign_ins = 'sum(vestibule_identity_sign_ins_total{provider="apple",outcome="new_account"})'
    requests = 'sum(vestibule_http_requests_total{job="gateway",route="/auth/apple",status="200"})'
    process_table.wait_until(lambda: prometheus.value(sign_ins) is not None, 20, "the first scrape")
    before = prometheus.value(sign_ins), prometheus.value(requests) or 0
    for _ in range(3):
        new_app().sign_in()
    process_table.wait_until(
        lambda: (prometheus.value(sign_ins), prometheus.value(requests)) == (before[0] + 3, before[1] + 3), 20,
        "three sign-ins more")


def test_the_dashboard_asks_for_nothing_that_is_not_there(prometheus, traffic):
    asked = {name for expression in expressions() for name in NAME.findall(expression)} - ABSENT
    assert "vestibule_rpc_server_calls_total" in asked
    process_table.wait_until(
        lambda: asked <= known_names(prometheus), 20, lambda: f"metrics; missing {asked - known_names(prometheus)}")
    for expression in expressions():
        if QUIET.search(expression) or ABSENT & set(NAME.findall(expression)):
            prometheus.query(expression)
        else:
            process_table.wait_until(lambda: prometheus.query(expression), 20, f"something to show of {expression}")


def test_alerts_ask_for_nothing_that_is_not_there_and_are_quiet(prometheus, traffic):
    groups = prometheus.ask("rules")["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    assert len(rules) == ALERTS.read_text().count("- alert:") > 10
    asked = {name for rule in rules for name in NAME.findall(rule["query"])} - ABSENT
    process_table.wait_until(
        lambda: asked <= known_names(prometheus), 20, lambda: f"metrics; missing {asked - known_names(prometheus)}")

    def evaluated():
        rules = [rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]]
        return all(rule["health"] == "ok" for rule in rules)

    process_table.wait_until(evaluated, 20, "each rule to be evaluated")
    assert [alert["labels"]["alertname"] for alert in prometheus.ask("alerts")["alerts"]
            if alert["state"] == "firing" and alert["labels"]["severity"] == "page"] == []


def test_the_dashboard_shows_every_metric_of_ours(prometheus, traffic):
    asked = {name for expression in expressions() for name in NAME.findall(expression)}
    suffix = re.compile(r"_(bucket|sum|count)$")
    shown = {suffix.sub("", name) for name in asked}
    ours = {suffix.sub("", name) for name in known_names(prometheus) if name.startswith("vestibule_")}
    assert ours <= shown, ours - shown


@pytest.mark.parametrize("arguments", [
    ["check", "rules", "alerts.yaml"], ["check", "config", "prometheus.yaml"], ["test", "rules", "alerts_test.yaml"]])
def test_promtool_is_content(arguments):
    result = subprocess.run(
        ["promtool", *arguments], cwd=FOLDER / "prometheus", capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_alert_has_a_test_in_which_it_fires():
    tested = set(re.findall(r"alertname: (\w+)\n\s+exp_alerts:", (FOLDER / "prometheus/alerts_test.yaml").read_text()))
    assert set(re.findall(r"- alert: (\w+)", ALERTS.read_text())) == tested


def test_every_alert_has_a_runbook_and_links_to_it():
    runbooks = {title.lower() for title in re.findall(r"^## (\w+)$", (FOLDER.parent / "docs/run/alerts.md").read_text(), re.MULTILINE)}
    alerts = re.findall(r"- alert: (\w+).*?runbook_url: (\S+)", ALERTS.read_text(), re.DOTALL)
    assert len(alerts) == len(re.findall("- alert:", ALERTS.read_text()))
    assert all(url == f"docs/run/alerts.md#{name.lower()}" for name, url in alerts)
    assert runbooks == {name.lower() for name, _ in alerts}
