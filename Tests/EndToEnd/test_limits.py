"""How much an account and an address may ask of the gateway, whom it believes to be whose proxy."""

import concurrent.futures
import subprocess

import process_table
from http_client import Client
from other_gateway import another_gateway
from stack import program


def statuses(count, ask):
    """The statuses of that many requests, several at once."""
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: ask(), range(count)))
    for answer in answers:
        if answer.status == 429:
            answer.problem(429, "RATE_LIMITED")
            assert answer.headers["Retry-After"].isdigit()
    return [answer.status for answer in answers]


def test_an_account_from_many_addresses(stack, new_app):
    first, second = new_app(), new_app()
    first.sign_in()
    second.sign_in()
    with another_gateway(stack, ACCOUNT_PER_SECOND="1", ACCOUNT_BURST="20") as gateway:
        places = iter(range(1, 200))

        def ask(app):
            elsewhere = Client(gateway.address, source=f"127.2.0.{next(places)}")
            return elsewhere.get("/me", token=app.access_token)

        told = statuses(60, lambda: ask(first))
        # The burst, and one for each second that it took.
        assert 20 <= told.count(200) <= 20 + 10 and told.count(200) + told.count(429) == 60
        assert ask(second).status == 200


def test_changes_of_an_account(stack, app):
    with another_gateway(stack, CHANGES_PER_SECOND="1", CHANGES_BURST="10") as gateway:
        def probe():
            return gateway.patch("/me", {"username": "x"}, token=app.access_token)

        told = statuses(40, probe)
        assert 10 <= told.count(422) <= 10 + 10 and told.count(422) + told.count(429) == 40
        assert statuses(20, lambda: gateway.get("/me", token=app.access_token)) == [200] * 20


def test_an_address_on_every_route(stack):
    with another_gateway(stack, ADDRESS_PER_SECOND="1", ADDRESS_BURST="20") as gateway:
        paths = iter(["/healthz", "/readyz", "/openapi.json", "/.well-known/jwks.json", "/nothing", "//healthz"] * 10)
        here = Client(gateway.address, source="127.2.1.1")
        told = statuses(60, lambda: here.get(next(paths)))
        assert 20 <= 60 - told.count(429) <= 20 + 10
        assert Client(gateway.address, source="127.2.1.2").get("/healthz").status == 200


def test_clients_behind_a_proxy(stack):
    limits = {"AUTH_PER_SECOND": "1", "AUTH_BURST": "5", "TRUSTED_PROXIES": "127.3.0.0/24, ::1"}
    with another_gateway(stack, **limits) as gateway:
        def ask(source, forwarded):
            client = Client(gateway.address, source=source)
            return lambda: client.post(
                "/auth/refresh", {"refresh_token": "x"}, headers={"X-Forwarded-For": forwarded})

        assert 429 in statuses(30, ask("127.3.0.1", "192.0.2.1:4711"))
        assert ask("127.3.0.2", "6.6.6.6, 192.0.2.1")().status == 429, "the rightmost counts"
        assert ask("127.3.0.1", "192.0.2.2")().status == 401
        assert "X-Forwarded-For was ignored" not in gateway.log.read_text()
        # Another's word is nobody's: he has one bucket, whatever he makes up.
        made_up = iter(range(1, 200))
        assert 429 in statuses(30, lambda: ask("127.3.1.1", f"198.51.100.{next(made_up)}")())
        warnings = [line for line in gateway.log.read_text().splitlines() if "X-Forwarded-For was ignored" in line]
        assert len(warnings) == 1 and "TRUSTED_PROXIES" in warnings[0]
        assert "198.51" not in warnings[0] and "127.3" not in warnings[0], "addresses are people's"


def test_the_count_of_proxies_is_refused(stack):
    environment = process_table.environment(stack.process_of("gateway")) | {
        "VESTIBULE_GATEWAY_LISTEN": "127.0.0.1:0", "VESTIBULE_GATEWAY_PROXY_COUNT": "1"}
    result = subprocess.run(
        [program("gateway"), "serve"], env=environment, capture_output=True, text=True, timeout=30,
        stdin=subprocess.DEVNULL)
    assert result.returncode == 78
    # The environment is that of the whole stack, and names of other programs may be warned of.
    (line,) = [line for line in result.stderr.splitlines() if "warning" not in line]
    assert "VESTIBULE_GATEWAY_PROXY_COUNT" in line and "VESTIBULE_GATEWAY_TRUSTED_PROXIES" in line
