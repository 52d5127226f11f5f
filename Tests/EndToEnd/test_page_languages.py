"""The languages of the pages: which one a browser gets, and the operator's own sentences."""

import json
import re
import secrets
import subprocess
import urllib.parse

import pytest
import requests

import process_table
from other_gateway import another_gateway
from stack import program

REDIRECT = "http://127.0.0.1:51123/callback"
TITLES = {
    "en": "Sign in to ", "es": "Iniciar sesión en ", "fil": "Mag-sign in sa ", "de": "Bei ", "ja": "にサインイン", "ar": "تسجيل الدخول إلى "}


def page(address, accept=None, path="/oauth2/authorize", **more):
    """The sign-in page of the development client, as a browser with these languages gets it."""
    query = urllib.parse.urlencode({
        "client_id": "demo", "redirect_uri": REDIRECT, "response_type": "code", "scope": "openid",
        "code_challenge": secrets.token_urlsafe(32), "code_challenge_method": "S256", **more})
    headers = {"Accept-Language": accept} if accept is not None else {"Accept-Language": None}
    answer = requests.get(f"http://{address}{path}?{query}", headers=headers, timeout=15)
    answer.encoding = "utf-8"
    return answer


def language_of(answer):
    language, direction = re.search(r'<html lang="([^"]+)" dir="([^"]+)">', answer.text).groups()
    assert answer.headers["Content-Language"] == language and "Accept-Language" in answer.headers["Vary"]
    assert direction == ("rtl" if language == "ar" else "ltr")
    return language


@pytest.mark.parametrize("accept, asked, language", [
    (None, None, "en"), ("", None, "en"), ("xx, qq;q=0.5", None, "en"), ("es-419,en;q=0.9", None, "es"),
    ("en;q=0.2, fil;q=0.8, ja;q=0.5", None, "fil"), ("de;q=0, ar", None, "ar"), ("tl-PH", None, "fil"),
    ("de-AT", "ja en", "ja"), ("de", "xx", "de"), ("*", None, "en"), ("de" * 4000, None, "en")])
def test_a_page_is_in_the_language_of_the_client_or_the_browser(stack, accept, asked, language):
    answer = page(stack.addresses["gateway"], accept, **({"ui_locales": asked} if asked else {}))
    assert answer.status_code == 200 and language_of(answer) == language
    assert TITLES[language] in re.search("<h1>(.*?)</h1>", answer.text).group(1)


@pytest.mark.parametrize("language, words", [
    ("de", "Mit Apple anmelden"), ("ja", "Appleでサインイン"), ("es", "Iniciar sesión con Apple")])
def test_buttons_are_in_apples_words_with_its_logo(stack, language, words):
    address = stack.addresses["gateway"]
    answer = page(address, language)
    assert words in answer.text
    logos = re.findall(r'(?:src|srcset)="(/pages/[^"]+\.svg[^"]*)"', answer.text)
    assert {"/pages/apple-white.svg", "/pages/apple-black.svg"} <= {logo.split("?")[0] for logo in logos}
    for logo in logos:
        image = requests.get(f"http://{address}{logo}", timeout=15)
        assert image.status_code == 200 and image.headers["Content-Type"] == "image/svg+xml"
        assert "immutable" in image.headers["Cache-Control"]


def test_a_page_about_a_problem_has_words_for_users(stack):
    address = stack.addresses["gateway"]
    unknown = page(address, "de", client_id="nobody")
    assert unknown.status_code == 400 and language_of(unknown) == "de"
    assert "Diese App ist hier nicht bekannt" in unknown.text
    assert '<span lang="en" dir="ltr">No client has this client_id.</span>' in unknown.text
    expired = requests.get(
        f"http://{address}/oauth2/authorize/continue?request=var1_x", headers={"Accept-Language": "es"}, timeout=15)
    assert expired.status_code == 400 and "Esta página ha caducado" in expired.content.decode()


def test_help_for_a_lost_account_leads_back(stack):
    address = stack.addresses["gateway"]
    link = re.search(r'href="(/oauth2/authorize/help[^"]+)"', page(address, "fil").text).group(1).replace("&amp;", "&")
    answer = requests.get(f"http://{address}{link}", timeout=15)
    assert answer.status_code == 200 and language_of(answer) == "fil" and "https://iforgot.apple.com/" in answer.text
    back = re.search(r'href="(/oauth2/authorize/continue[^"]+)"', answer.text).group(1).replace("&amp;", "&")
    assert requests.get(f"http://{address}{back}", timeout=15).status_code == 200


def test_the_operators_own_sentences(stack, tmp_path):
    (tmp_path / "pt-BR.json").write_text(json.dumps({"signInTo": "Entrar em {client}", "lostLink": "Não consegue entrar?"}))
    (tmp_path / "de.json").write_text(json.dumps({"lostLink": "Hilfe, ich komme nicht hinein"}))
    with another_gateway(
            stack, LANGUAGES_FOLDER=str(tmp_path), SUPPORT_URL="https://example.com/help?a=1&b=2") as gateway:
        portuguese = page(gateway.address, "pt-BR, en")
        assert language_of(portuguese) == "pt-BR" and "Entrar em " in portuguese.text
        assert "Sign in with Apple" in portuguese.text, "what a language lacks is in English"
        german = page(gateway.address, "de")
        assert "Hilfe, ich komme nicht hinein" in german.text and "Mit Apple anmelden" in german.text
        help_page = page(gateway.address, "pt", path="/oauth2/authorize/help")
        assert 'href="https://example.com/help?a=1&amp;b=2"' in help_page.text
        assert "a language lacks sentences" in gateway.log.read_text()


def test_faults_of_a_folder_of_languages_are_reported_together(stack, tmp_path):
    (tmp_path / "de.json").write_text(json.dumps({"signInTo": "Anmelden", "nothing": "x"}))
    (tmp_path / "de_AT.json").write_text("{}")
    environment = process_table.environment(stack.process_of("gateway")) | {
        "VESTIBULE_GATEWAY_LISTEN": "127.0.0.1:0", "VESTIBULE_GATEWAY_LANGUAGES_FOLDER": str(tmp_path)}
    environment.pop("VESTIBULE_GATEWAY_METRICS_LISTEN", None)
    result = subprocess.run(
        [program("gateway"), "serve"], env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=30)
    assert result.returncode == 78
    assert len(result.stderr.splitlines()) == 3, result.stderr
    for expected in ("signInTo must have {client}", 'there is no sentence "nothing"', "de_AT.json is not named for a language"):
        assert expected in result.stderr


@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_sentences_are_printed_as_a_file_to_change(stack, tmp_path, language):
    printed = subprocess.run(
        [program("gateway"), "sentences", language], capture_output=True, text=True, timeout=30, check=True).stdout
    (tmp_path / f"{language}.json").write_text(printed)
    assert json.loads(printed)["signInTo"].count("{client}") == 1
    with another_gateway(stack, LANGUAGES_FOLDER=str(tmp_path)) as gateway:
        assert page(gateway.address, language).text.count(TITLES[language])
    unknown = subprocess.run(
        [program("gateway"), "sentences", "xx"], capture_output=True, text=True, timeout=30)
    assert unknown.returncode == 64 and "it is one of ar, de, en" in unknown.stderr
