"""The operators' console in a deployment: it calls identity by its own certificate, and operators sign in by theirs."""

import http.client
import json
import re
import signal
import socket
import ssl
import subprocess
import urllib.parse

import pytest

import process_table
from operators_console import Console
from stack import free_ports
from test_caller_proof import Deployment
from test_operators import events


def certificate(folder, name, san):
    """A certificate of an authority that is made in the folder once."""
    run = lambda *arguments: subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=folder)
    if not (folder / "people.pem").exists():
        run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "people-key.pem", "-out",
            "people.pem", "-days", "2", "-subj", "/CN=People")
    run("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}-key.pem", "-out",
        f"{name}.csr", "-subj", f"/CN={name}")
    (folder / f"{name}.ext").write_text(f"subjectAltName = {san}\nextendedKeyUsage = clientAuth, serverAuth\n")
    run("x509", "-req", "-in", f"{name}.csr", "-CA", "people.pem", "-CAkey", "people-key.pem", "-CAcreateserial", "-out",
        f"{name}.pem", "-days", "2", "-extfile", f"{name}.ext")


def test_a_console_with_certificates_beside_services_with_certificates(stack, tmp_path, member):
    """As in a deployment: the console calls identity by its own certificate, and operators' browsers show theirs."""
    certificate(tmp_path, "ana", "URI:spiffe://example.com/ana")
    certificate(tmp_path, "eve", "URI:spiffe://example.com/eve")
    people = tmp_path / "operators.json"
    people.write_text(json.dumps({"operators": [{"name": "ana", "role": "support", "certificate": "spiffe://example.com/ana"}]}))
    # Identity under a name by which this machine reaches it.
    certificate(tmp_path, "identity", "DNS:localhost")
    deployment = Deployment(
        stack, tmp_path, VESTIBULE_IDENTITY_TLS_CERTIFICATE_FILE=str(tmp_path / "identity.pem"),
        VESTIBULE_IDENTITY_TLS_KEY_FILE=str(tmp_path / "identity-key.pem"))
    with deployment.running():
        secrets = deployment.secrets
        port = free_ports(1)[0]
        console = Console(
            stack, tmp_path, VESTIBULE_CONSOLE_LISTEN=f"127.0.0.1:{port}", VESTIBULE_CONSOLE_PUBLIC_URL=f"https://console:{port}",
            VESTIBULE_CONSOLE_ISSUER="", VESTIBULE_CONSOLE_DISCOVERY_URL="", VESTIBULE_CONSOLE_CLIENT_ID="",
            VESTIBULE_CONSOLE_OPERATORS_FILE=str(people), VESTIBULE_CONSOLE_TLS_CERTIFICATE_FILE=str(secrets / "console.pem"),
            VESTIBULE_CONSOLE_TLS_KEY_FILE=str(secrets / "console-key.pem"),
            VESTIBULE_CONSOLE_TLS_CLIENT_CA_FILE=str(tmp_path / "people.pem"), VESTIBULE_SERVICES_CA_FILE=str(tmp_path / "people.pem"),
            VESTIBULE_CONSOLE_TLS_CLIENT_CERTIFICATE_FILE=str(secrets / "console.pem"),
            VESTIBULE_CONSOLE_TLS_CLIENT_KEY_FILE=str(secrets / "console-key.pem"),
            VESTIBULE_IDENTITY_ADDRESS=f"localhost:{deployment.ports['identity']}")
        with console.running():
            def send(name, method, path, cookie=None, **fields):
                context = ssl.create_default_context(cafile=str(secrets / "ca.pem"))
                context.check_hostname = False
                if name:
                    context.load_cert_chain(tmp_path / f"{name}.pem", tmp_path / f"{name}-key.pem")
                connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=15)
                headers = {"Host": f"console:{port}", "Content-Type": "application/x-www-form-urlencoded"}
                if cookie:
                    headers["Cookie"] = cookie
                connection.request(method, path, urllib.parse.urlencode(fields), headers)
                answer = connection.getresponse()
                return answer, answer.read().decode()

            with pytest.raises((OSError, http.client.HTTPException)):
                send(None, "GET", "/sign-in")
            assert "Your certificate is no operator" in send("eve", "GET", "/sign-in")[1]
            assert send("eve", "POST", "/sign-in/certificate")[0].headers["Location"].endswith("notice=unknown")
            assert "Continue as ana" in send("ana", "GET", "/sign-in")[1]
            answer, _ = send("ana", "POST", "/sign-in/certificate", goal=f"/accounts/{member.user_id}")
            assert answer.status == 303 and answer.headers["Location"] == f"/accounts/{member.user_id}"
            setting = answer.headers["Set-Cookie"]
            assert setting.startswith("__Host-vestibule-console=") and "Secure; HttpOnly; SameSite=Lax" in setting
            assert answer.headers["Strict-Transport-Security"]
            cookie = setting.split(";")[0]
            path = f"/accounts/{member.user_id}"
            # A stolen cookie is worth nothing by another certificate.
            assert send("eve", "GET", path, cookie)[0].status == 303
            answer, text = send("ana", "GET", path, cookie)
            assert answer.status == 200 and "ana (support)" in text, text
            number = re.search(r"Account (\d+)</h1>", text).group(1)
            value = re.search(r'name="form_value" value="([^"]+)"', text).group(1)
            answer, _ = send("ana", "POST", f"{path}/block", cookie, form_value=value, reason="abuse", number=number, confirm="yes")
            assert answer.status == 303, _
            told = {event["kind"]: json.loads(event["details_json"]) for event in events(stack, member.user_id)}
            assert told["account_blocked"]["operator"] == "ana"
            # Each connection proves the certificate anew: no session of TLS is taken up again.
            context = ssl.create_default_context(cafile=str(secrets / "ca.pem"))
            context.check_hostname = False
            context.load_cert_chain(tmp_path / "ana.pem", tmp_path / "ana-key.pem")
            for _ in range(2):
                with context.wrap_socket(socket.create_connection(("127.0.0.1", port))) as connection:
                    connection.sendall(f"GET /sign-in HTTP/1.1\r\nHost: console:{port}\r\n\r\n".encode())
                    assert connection.recv(64).startswith(b"HTTP/1.1 200 ")
                    assert not connection.session.has_ticket and not connection.session_reused
            # A renewed certificate is read without a restart, and sessions stay.
            console.process.send_signal(signal.SIGHUP)
            process_table.wait_until(lambda: "certificates read again" in console.log.read_text(), 10, "the reading of certificates")
            assert send("ana", "GET", path, cookie)[0].status == 200
            # Who is taken out of the file is out, without a restart.
            people.write_text(json.dumps({"operators": [{"name": "joe", "role": "read", "certificate": "spiffe://example.com/joe"}]}))
            process_table.wait_until(lambda: send("ana", "GET", path, cookie)[0].status == 303, 10, "the file to be read again")
