"""An app on a phone that does everything an app does, and doesn't give up: it asks again as the rules say until it has an answer."""

import collections
import concurrent.futures
import http.client
import random
import threading
import time
import uuid

from app import DELETED, App, Person, letters
from places import OPENNESS, PlaceSteps

# How long a phone goes on asking once all is well again.
PATIENCE_SECONDS = 45
PAUSE_SECONDS = (0.0, 0.04)
# Between two tries, doubled each time.
FIRST_WAIT_SECONDS, WAIT_SECONDS_MAX = 0.05, 1.0
GROUPS_MAX = 20
ADDITIONS_MAX = 60
BATCH_MAX = 20
PAGE_SIZE = 100
# A member by a number that was typed adds nobody before somebody confirms them.
UNCONFIRMED = ("MEMBER_UNCONFIRMED",)


class Finding(Exception):
    """What must not happen."""


class Stuck(Finding):
    """Everything runs again, and there is still no answer."""


class Run:
    """What the phones of a run share."""

    def __init__(self, stack, ledger, paths):
        self.stack, self.ledger = stack, ledger
        # Of the gateway's API: what it has not, isn't asked.
        self.paths = paths
        self.stop = threading.Event()
        # When all ran again, by the monotonic clock; None while it doesn't.
        self.restored_at = None
        self._lock = threading.Lock()
        self.acknowledged = collections.Counter()
        self.failures = collections.Counter()
        self.findings = []
        # Of all calls, in seconds, and what it was.
        self.longest = (0.0, "")

    def measure(self, what, began):
        """A call has ended."""
        with self._lock:
            self.longest = max(self.longest, (time.monotonic() - began, what))

    def count(self, counter, name):
        with self._lock:
            counter[name] += 1

    def find(self, finding):
        with self._lock:
            self.findings.append(finding)


class Phone(PlaceSteps):
    """One person after the other has it; each has one session."""

    finding, patience_seconds = Finding, PATIENCE_SECONDS

    def __init__(self, run, number, seed):
        self.name = f"phone {number}"
        self._run, self._ledger = run, run.ledger
        self._chance = random.Random(f"phone {number} {seed}")
        self.app, self.account, self._provider = None, None, None
        # Until where this person watched, and which groups they made since.
        self.watched, self.landed = None, set()
        # What was asked last, for findings.
        self._asked = collections.deque(maxlen=12)
        steps = {
            self._save_name: 8, self._save_username: 1, self._claim_new: 1, self._claim_given: 2, self._refresh: 4,
            self._refresh_twice: 1, self._read_profile: 4, self._create_group: 2, self._add: 7, self._read_groups: 3,
            self._read_members: 3, self._sign_out: 0.5, self._delete: 0.2, **self.place_steps()}
        if "/groups/{group_id}/members/batch" in run.paths:
            steps[self._add_batch] = 2
        self._steps, self._weights = list(steps), list(steps.values())

    def use(self):
        """Does one thing after the other until the run is to stop."""
        try:
            self._begin()
            while not self._run.stop.is_set():
                self._chance.choices(self._steps, self._weights)[0]()
                time.sleep(self._chance.uniform(*PAUSE_SECONDS))
        except Exception as error:  # Whatever it is, it must not end a thread unseen.
            asked = "; ".join(self._asked)
            self._run.find(f"{self.name}: {type(error).__name__}: {error}; asked before: {asked}")

    # Asking

    def ask(self, what, send, *good, after_doubt=(), refusals=()):
        """Asks until there is a good answer, and returns it. `after_doubt` names codes that are as good once it is unknown
        whether an earlier try was done, `refusals` those that what others did in that moment explains."""
        wait, is_in_doubt = FIRST_WAIT_SECONDS, False
        while True:
            began = time.monotonic()
            try:
                answer = send()
            except (OSError, http.client.HTTPException) as error:
                told = type(error).__name__
            else:
                if answer.status in good:
                    self._note(what, began, answer.status)
                    self._run.count(self._run.acknowledged, what)
                    return answer
                told = f"{answer.status} {self._code(answer)}"
                if self._code(answer) in refusals or is_in_doubt and self._code(answer) in after_doubt:
                    self._note(what, began, told)
                    return answer
                if answer.status not in (429, 503, 504) and self._code(answer) != "OUTCOME_UNKNOWN":
                    raise Finding(f"{what} was answered {answer.status} {answer.content[:300]!r}")
            is_in_doubt = True
            self._note(what, began, told)
            self._run.count(self._run.failures, told)
            if self._run.restored_at and time.monotonic() > self._run.restored_at + PATIENCE_SECONDS:
                raise Stuck(f"{what} has no good answer, but {told}")
            time.sleep(wait * self._chance.uniform(0.5, 1))
            wait = min(2 * wait, WAIT_SECONDS_MAX)

    def _note(self, what, began, told):
        self._run.measure(what, began)
        self._asked.append(f"{what} at {began:.3f}, {time.monotonic() - began:.3f} s: {told}")

    @staticmethod
    def _code(answer):
        try:
            return answer.json.get("code")
        except (ValueError, AttributeError):
            return None

    # Sessions

    def _begin(self):
        """Somebody new has the phone."""
        self.app = App(self._run.stack, Person())
        self._provider = self._chance.choice(("apple", "google"))
        self._sign_in()
        self.account = self._ledger.open_account(self.app.user_id)
        self.watched, self.landed = None, set()
        self._save_name()
        self._claim_given()

    def _sign_in(self):
        while True:
            request = self.app.ask_apple() if self._provider == "apple" else self.app.ask_google()
            answer = self.ask(
                "sign in", lambda: self.app.present(self._provider, request), 200,
                # A token is good for one sign-in, and the one in doubt was it.
                after_doubt=("TOKEN_REPLAYED", "CODE_SPENT"))
            if answer.status == 200:
                return answer.json

    def _refresh(self):
        token = self.app.refresh_token
        self.ask("refresh", lambda: self.app.refresh(token), 200)

    def _refresh_twice(self):
        """At the same moment, as an app does of which two parts find the access token old."""
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for done in [pool.submit(self._refresh) for _ in range(2)]:
                done.result()

    def _sign_out(self):
        token, user_id = self.app.refresh_token, self.app.user_id
        self.ask("sign out", lambda: self.app.post("/auth/sign-out"), 204, after_doubt=("SESSION_REVOKED",))
        self._ledger.ended_tokens.append(token)
        answer = self._sign_in()
        if answer["user_id"] != user_id or answer["is_new_user"]:
            raise Finding(f"a sign-in after a sign-out returned another user: {user_id}, then {answer['user_id']}")

    def _delete(self):
        self.ask("delete", lambda: self.app.gateway.send("DELETE", "/me", token=self.app.access_token), *DELETED)
        self.account.deleted_at = time.monotonic()
        if self.account.profile["phone_number"]:
            self._ledger.release_number(self.account.profile["phone_number"])
        self.account = None
        self._begin()

    # The profile

    def _save(self, what, **fields):
        answer = self.ask(what, lambda: self.app.save(**fields), 200).json
        self.account.profile |= fields
        self._compare(answer)

    def _compare(self, answer):
        told = {name: answer[name] for name in self.account.profile}
        if told != self.account.profile:
            raise Finding(f"{self.account.user_id}: acknowledged {self.account.profile}, then told {told}")

    def _save_name(self):
        self._save("save name", display_name=f"Name {letters(10)}")

    def _save_username(self):
        self._save("save username", username=letters(16))

    def _claim_new(self):
        self._claim("save new number", is_given=False)

    def _claim_given(self):
        self._claim("save given number", is_given=True)

    def _claim(self, what, is_given):
        before = self.account.profile["phone_number"]
        self._save(what, phone_number=self._ledger.take_number(self.account, is_given))
        if before:
            self._ledger.release_number(before)

    def _read_profile(self):
        self._compare(self.ask("read profile", lambda: self.app.get("/me"), 200).json)

    # Groups

    def _create_group(self):
        if len(self._ledger.groups_of(self.account)) >= GROUPS_MAX:
            return
        name, key = f"Group {letters(9)}", {"Idempotency-Key": f'"{uuid.uuid4()}"'}
        openness = self._chance.choice(OPENNESS)
        body = {"name": name, "openness": openness}
        answer = self.ask("create group", lambda: self.app.post("/groups", body, headers=key), 201).json
        self._ledger.add_group(answer["id"], name, self.account, openness)
        self.landed.add(answer["id"])

    def _group(self):
        """One that this person is in and that has room, or None."""
        groups = [group for group in self._ledger.groups_with(self.account) if self.has_room(group)]
        return self._chance.choice(groups) if groups else None

    @staticmethod
    def has_room(group):
        return len({each.phone for each in group.additions}) + BATCH_MAX < ADDITIONS_MAX

    def _add(self):
        group = self._group()
        if group:
            phone, asked_at = self._ledger.number_to_add(), time.monotonic()
            answer = self.ask("add member", lambda: self.app.post(
                f"/groups/{group.group_id}/members", {"phone_number": phone, "display_name": "Some One"}), 200, 201,
                refusals=UNCONFIRMED)
            if answer.status in (200, 201):
                self._ledger.add_to_group(group.group_id, phone, answer.json, asked_at)

    def _add_batch(self):
        group = self._group()
        if not group:
            return
        phones = [self._ledger.number_to_add() for _ in range(self._chance.randint(1, BATCH_MAX))]
        asked_at = time.monotonic()
        body = {"members": [{"phone_number": phone, "display_name": "Some One"} for phone in phones]}
        answer = self.ask("add members", lambda: self.app.post(
            f"/groups/{group.group_id}/members/batch", body), 200, refusals=UNCONFIRMED)
        if answer.status != 200:
            return
        answer = answer.json
        if len(answer["results"]) != len(phones):
            raise Finding(f"{len(answer['results'])} results of {len(phones)}")
        for phone, result in zip(phones, answer["results"]):
            if not result.get("member"):
                raise Finding(f"a number was refused: {result}")
            self._ledger.add_to_group(group.group_id, phone, result["member"], asked_at)

    def pages(self, what, path, name):
        """All of a list."""
        found, token = [], None
        while True:
            place = f"{path}?page_size={PAGE_SIZE}" + (f"&page_token={token}" if token else "")
            answer = self.ask(what, lambda: self.app.get(place), 200).json
            found += answer[name]
            token = answer["next_page_token"]
            if token is None:
                return found

    def _read_groups(self):
        expected = {group.group_id: group.name for group in self._ledger.groups_with(self.account)}
        told = {group["id"]: group["name"] for group in self.pages("list groups", "/groups", "groups")}
        lost = {group: name for group, name in expected.items() if told.get(group) != name}
        if lost:
            raise Finding(f"{self.account.user_id}: groups were acknowledged and are not there: {lost}")

    def _read_members(self):
        groups = self._ledger.groups_with(self.account)
        if groups:
            self._read_group(self._chance.choice(groups))

    def _read_group(self, group):
        members = self.pages("list members", f"/groups/{group.group_id}/members", "members")
        users = [member["user_id"] for member in members if member["user_id"]]
        # Of those whose number this person is shown.
        pending = [member["phone_number"] for member in members if member["state"] != "member" and member["phone_number"]]
        for several in (users, pending):
            if len(set(several)) != len(several):
                raise Finding(f"somebody is twice in {group.group_id}: {sorted(several)}")
        if self.account.user_id not in users:
            raise Finding(f"{self.account.user_id} is not in {group.group_id}, by {users}")

    def read_all(self):
        """Reads everything that was acknowledged to this phone."""
        self._read_profile()
        self._read_groups()
        for group in self._ledger.groups_with(self.account):
            self._read_group(group)
