"""What an app doesn't do itself: the providers' SDKs, the browser, and the person. A kit's story asks for it by lines of JSON."""

import json
import subprocess
import threading
import urllib.parse

import pytest

from app import APPLE_CLIENT, GOOGLE_CLIENT, App, Person
from browser import Browser

SECONDS = 180


class Surroundings:
    """Of one person with one phone."""

    def __init__(self, stack):
        self.stack, self.person = stack, Person()
        stack.confidential |= self.person.confidential

    def apple(self, order):
        answer = self._control("apple", {"client_id": APPLE_CLIENT, "nonce": order["nonce"]})
        told = {"idToken": answer["identity_token"], "authorizationCode": answer["authorization_code"]}
        # Apple says it once.
        if user := answer.get("user"):
            told |= {"fullName": f"{user['name']['firstName']} {user['name']['lastName']}", "email": user["email"]}
        return told

    def google(self, order):
        return {"idToken": self._control("google", {"client_id": GOOGLE_CLIENT, "nonce": order["nonce"]})["id_token"]}

    def phone(self, order):
        person = Person() if order.get("other") else self.person
        self.stack.confidential |= person.confidential
        return {"number": person.phone}

    def browser(self, order):
        browser, person = Browser(self.stack.addresses["gateway"], self.stack.addresses["simulator"]), Person()
        self.stack.confidential |= person.confidential
        assert browser.open(order["url"]) is None and browser.follow("/sign-in/apple") is None
        assert browser.submit(action="continue", **person.simulated) is None
        back = browser.submit()
        assert urllib.parse.urlsplit(back).netloc == "127.0.0.1:51123", back
        return {"url": back}

    def end(self, order):
        """The user signs out everywhere, on another device."""
        device = App(self.stack, self.person)
        device.present("apple", device.ask_apple()).expect(200)
        assert device.user_id == order["user"]
        device.post("/auth/sign-out-everywhere").expect(204)
        return {}

    def _control(self, provider, order):
        answer = self.stack.simulator.post(
            f"/control/{provider}/sign-in", {**order, "person": self.person.simulated}).expect(200)
        self.stack.confidential |= {value for value in answer.values() if isinstance(value, str) and len(value) > 20}
        return answer


def tell(command, surroundings):
    """Runs a program that tells a story to its end."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as story:
        end = threading.Timer(SECONDS, story.kill)
        end.start()
        try:
            for line in story.stdout:
                order = json.loads(line)
                if "done" in order:
                    break
                story.stdin.write(json.dumps(getattr(surroundings, order["need"])(order)) + "\n")
            else:
                pytest.fail("the story has no end; see its error above")
        finally:
            story.stdin.close()
            end.cancel()
    assert story.returncode == 0
