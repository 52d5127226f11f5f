"""More makes of OpenID Connect clients: idpyoidc and httpx-oauth find everything in the discovery document."""

import asyncio
import secrets
import urllib.parse

import authlib.oauth2.rfc7636
import httpx_oauth.clients.openid
import idpyoidc.client.rp_handler

from test_openid import REDIRECT, browser, email_of, issuer, metadata, sign_in  # noqa: F401
from test_openid_basic_op import CLIENT, SECRET, client  # noqa: F401


def test_idpyoidc(stack, issuer, client, browser, tmp_path, monkeypatch):  # noqa: F811
    # It writes keys of its own into the working folder.
    monkeypatch.chdir(tmp_path)
    handler = idpyoidc.client.rp_handler.RPHandler("http://127.0.0.1:51123", client_configs={
        "vestibule": {
            "issuer": issuer, "client_id": CLIENT, "client_secret": SECRET, "client_type": "oidc", "redirect_uris": [REDIRECT],
            "response_types_supported": ["code"], "scopes_supported": ["openid", "profile", "email"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"], "provider_info": {"issuer": issuer},
            "add_ons": {"pkce": {"function": "idpyoidc.client.oauth2.add_on.pkce.add_support",
                                 "kwargs": {"code_challenge_length": 64, "code_challenge_method": "S256"}}},
        }}, httpc_params={"verify": True, "timeout": 15})
    url = handler.begin("vestibule")
    back = sign_in(browser, url, email_of(stack))
    answer = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(back).query))
    told = handler.finalize(issuer, answer)
    assert "error" not in told, told
    stack.confidential |= {told["token"]}
    assert told["userinfo"]["sub"] == told["id_token"]["sub"] and told["id_token"]["aud"] == [CLIENT]


def test_httpx_oauth(stack, issuer, browser):  # noqa: F811
    library = httpx_oauth.clients.openid.OpenID("demo", "", f"{issuer}/.well-known/openid-configuration")
    verifier = secrets.token_urlsafe(48)

    async def walk():
        url = await library.get_authorization_url(
            REDIRECT, state="s-1", scope=["openid", "email", "offline_access"],
            code_challenge=authlib.oauth2.rfc7636.create_s256_code_challenge(verifier), code_challenge_method="S256")
        email = email_of(stack)
        back = sign_in(browser, url, email)
        answer = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(back).query))
        # Its Basic credentials have an empty secret.
        token = await library.get_access_token(answer["code"], REDIRECT, code_verifier=verifier)
        subject, told = await library.get_id_email(token["access_token"])
        assert subject and told == email
        fresh = await library.refresh_token(token["refresh_token"])
        stack.confidential |= {one[name] for one in (token, fresh) for name in ("access_token", "refresh_token")}
        await library.revoke_token(fresh["refresh_token"], "refresh_token")

    asyncio.run(walk())
