"""What the gateway tells about itself and the services behind it; the services' own health."""

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

ROUTES = {
    "/auth/apple": {"post"}, "/auth/google": {"post"}, "/auth/{provider}": {"post"}, "/auth/challenge": {"post"},
    "/auth/guest": {"post"}, "/auth/guest/challenge": {"post"}, "/auth/guest/absorb": {"post"},
    "/auth/passkey": {"post"}, "/auth/passkey/challenge": {"post"}, "/auth/passkeys": {"get", "post"},
    "/auth/recovery-codes": {"get", "post"}, "/auth/recovery/challenge": {"post"}, "/auth/recovery": {"post"},
    "/auth/passkeys/challenge": {"post"}, "/auth/passkeys/{passkey_id}": {"patch", "delete"},
    "/auth/apple/notifications": {"post"}, "/auth/google/risc": {"post"},
    "/.well-known/openid-configuration": {"get"},
    "/.well-known/oauth-authorization-server": {"get"},
    "/auth/apple/start": {"get"}, "/auth/apple/callback": {"post"}, "/auth/refresh": {"post"}, "/auth/sign-out": {"post"},
    "/auth/sign-out-everywhere": {"post"}, "/auth/sessions": {"get"}, "/auth/sessions/{session_id}": {"patch", "delete"},
    "/auth/identities": {"get"}, "/auth/identities/{provider}": {"post", "delete"},
    "/me": {"get", "patch", "delete"}, "/me/deletion": {"delete"}, "/me/phone-proof": {"post"}, "/me/events": {"get"}, "/me/avatar": {"put", "delete"}, "/avatars/{id}": {"get"},
    "/usernames/{username}": {"get"}, "/groups": {"get", "post"}, "/groups/{group_id}/members": {"get", "post"},
    "/groups/{group_id}": {"get", "patch", "delete"}, "/groups/{group_id}/members/batch": {"post"},
    "/invitations": {"get"}, "/groups/{group_id}/pending": {"get"}, "/groups/{group_id}/members/{member_id}/accept": {"post"},
    "/groups/{group_id}/members/{member_id}/decline": {"post"}, "/groups/{group_id}/members/{member_id}/confirm": {"post"},
    "/groups/{group_id}/links": {"get", "post"}, "/groups/{group_id}/links/{link_id}": {"delete"}, "/groups/links/preview": {"post"},
    "/groups/links/join": {"post"}, "/me/blocked-inviters": {"get"}, "/me/blocked-inviters/{inviter_user_id}": {"put", "delete"},
    "/groups/{group_id}/members/{member_id}": {"patch", "delete"}, "/groups/{group_id}/leave": {"post"}, "/groups/{group_id}/owner": {"post"},
    "/.well-known/jwks.json": {"get"}, "/healthz": {"get"}, "/readyz": {"get"}, "/openapi.json": {"get"},
    # Dialects, all of which are on in development.
    "/api/auth/apple": {"post"}, "/api/auth/google": {"post"}, "/api/auth/refresh": {"post"},
    "/api/auth/sign-out": {"post"}, "/wp-json/gread/v1/auth/apple/login": {"post"},
    "/wp-json/gread/v1/auth/apple/register": {"post"}, "/wp-json/gread/v1/auth/logout": {"post"},
    "/wp-json/wp/v2/users/me": {"get"}, "/auth/v1/token": {"post"}, "/auth/v1/user": {"get", "put"},
    "/auth/v1/user/identities/{id}": {"delete"}, "/auth/v1/user/identities/authorize": {"get"}, "/auth/v1/callback": {"post"},
    "/auth/v1/signup": {"post"},
    "/auth/v1/logout": {"post"}, "/auth/v1/settings": {"get"}, "/auth/v1/health": {"get"},
    "/auth/v1/.well-known/jwks.json": {"get"}, "/auth/v1/admin/users/{id}": {"get", "delete"},
}


def test_alive(gateway):
    assert gateway.get("/healthz").expect(200) == {"status": "ok"}


def test_ready(gateway):
    assert gateway.get("/readyz").expect(200) == {
        "status": "ready", "services": {"identity": "ok", "profile": "ok", "invites": "ok"}}


def test_head(gateway):
    for path in ("/healthz", "/readyz", "/.well-known/jwks.json"):
        answer = gateway.send("HEAD", path)
        assert answer.status == 200 and answer.content == b""


def test_description(gateway):
    document = gateway.get("/openapi.json").expect(200)
    assert document["openapi"].startswith("3.")
    methods = {"get", "post", "put", "patch", "delete"}
    assert {path: set(item) & methods for path, item in document["paths"].items()} == ROUTES


@pytest.mark.parametrize("name, service", [
    ("identity", "vestibule.identity.v1.IdentityService"), ("profile", "vestibule.profile.v1.ProfileService"),
    ("invites", "vestibule.invites.v1.InvitesService")])
def test_health_of_services(stack, name, service):
    with grpc.insecure_channel(stack.addresses[name]) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        for asked in ("", service):
            answer = stub.Check(health_pb2.HealthCheckRequest(service=asked), timeout=10)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_key_sets_of_the_simulator(stack):
    for path in ("/apple/auth/keys", "/google/oauth2/v3/certs"):
        answer = stack.simulator.get(path)
        keys = answer.expect(200)["keys"]
        assert len(keys) >= 2 and "max-age" in answer.headers["Cache-Control"]
        for key in keys:
            assert {"kty", "kid", "use", "alg", "n", "e"} == set(key)
            assert (key["kty"], key["alg"], key["use"]) == ("RSA", "RS256", "sig")


def test_an_http_client_at_a_grpc_port_does_no_harm(stack):
    from http_client import Client

    for name in ("identity", "profile", "invites"):
        with pytest.raises(Exception):
            Client(stack.addresses[name]).get("/healthz", seconds=5).expect(200)
    stack.gateway.get("/readyz").expect(200)
