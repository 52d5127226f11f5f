"""What people do with places in groups, and with numbers that are proven: steps of a phone."""

import http.client
import time

from app import App, Person
from watching import Watching

# One in so many groups is open; in the others the invited decide, or the group.
OPENNESS = ("open",) * 4 + ("confirm", "consent")
# What somebody else's step in that moment explains.
INVITATION_GONE = ("INVITATION_NOT_FOUND", "CONFIRMATION_NEEDED", "GROUP_FULL")
PERSON_GONE = ("PERSON_CHANGED", "MEMBER_NOT_FOUND", "NOTHING_TO_CONFIRM", "GROUP_FULL")
# For how long a stream is read before it is asked for anew.
WATCH_SECONDS = 3
LINK_GONE = ("LINK_OVER", "LINK_USED", "LINK_INVALID", "GROUP_FULL")


class PlaceSteps:
    """What a phone does beside numbers that it types and groups that it makes."""

    def place_steps(self):
        return {
            self._prove_own: 1, self._take_over: 0.7, self._answer_invitation: 3, self._confirm: 3, self._make_link: 1,
            self._join: 2, self._leave: 0.5, self._remove_guest: 0.4, self._watch: 1}

    # Proofs

    def _prove(self, number, waits=True):
        """By an assertion of the app's backend; retried with the same one until there is a response. A phone that doesn't wait after an
        "accepted" response makes other calls immediately, which the later delivery must not undo."""
        self._ledger.prove_number(number, self.account)
        assertion = self._run.stack.backend.assertion(self.account.user_id, number)
        answer = self.ask("prove number", lambda: self.app.post("/me/phone-proof", {"assertion": assertion}), 200, 202)
        if answer.status == 202 and waits:
            self._wait_for_number(number)

    def _wait_for_number(self, number):
        """Profile was unavailable, and gets the proof later."""
        while True:
            me = self.ask("read profile", lambda: self.app.get("/me"), 200).json
            if (me["phone_number"], me["phone_proven"]) == (number, True):
                return
            if self._run.restored_at and time.monotonic() > self._run.restored_at + self.patience_seconds:
                raise self.finding(f"{number} was proven by {self.account.user_id}, who has {me['phone_number']}")
            time.sleep(0.2)

    def _prove_own(self):
        number = self.account.profile["phone_number"]
        if number:
            self._prove(number, waits=self._chance.random() < 0.5)

    def _take_over(self):
        """Somebody types a number, whose places they get, and this person proves it."""
        with self._as_somebody_else() as squatter:
            self._ledger.squatters.add(squatter.user_id)
            self._save_name()
            self._claim_given()
        number, before = squatter.profile["phone_number"], self.account.profile["phone_number"]
        self._ledger.hand_number(number, self.account)
        self._prove(number)
        squatter.profile["phone_number"], self.account.profile["phone_number"] = None, number
        if before:
            self._ledger.release_number(before)
        self._run.count(self._run.acknowledged, "take over")

    # Invitations

    def _answer_invitation(self):
        found = self.ask("list invitations", lambda: self.app.get("/invitations"), 200).json["invitations"]
        found = [each for each in found if each["waits_for"] == "consent"]
        if not found:
            return
        invitation = self._chance.choice(found)
        path = f"/groups/{invitation['group_id']}/members/{invitation['id']}"
        if self._chance.random() < 0.2:
            # Once it is declined there is nothing more to decline but by its id.
            self.ask("decline", lambda: self.app.post(f"{path}/decline"), 200, 204, refusals=INVITATION_GONE)
            return
        answer = self.ask("accept", lambda: self.app.post(f"{path}/accept"), 200, refusals=INVITATION_GONE)
        if answer.status == 200:
            self._joined(invitation["group_id"], answer.json)

    def _confirm(self):
        group = self._own_group("confirm")
        if not group:
            return
        people = self.ask("list pending", lambda: self.app.get(f"/groups/{group.group_id}/pending"), 200).json["people"]
        people = [each for each in people if each["may_confirm"] and each["user_id"]]
        if people:
            person = self._chance.choice(people)
            answer = self.ask("confirm", lambda: self.app.post(
                f"/groups/{group.group_id}/members/{person['id']}/confirm", {"user_id": person["user_id"]}), 200,
                refusals=PERSON_GONE)
            if answer.status == 200:
                self._ledger.join(group.group_id, person["user_id"])

    def _joined(self, group_id, member):
        if member["user_id"] != self.account.user_id:
            raise self.finding(f"{self.account.user_id} accepted, and {member} is the member of {group_id}")
        self._ledger.join(group_id, self.account.user_id)

    # Links

    def _own_group(self, openness=None):
        groups = [
            group for group in self._ledger.groups_of(self.account)
            if openness in (None, group.openness) and self.has_room(group)]
        return self._chance.choice(groups) if groups else None

    def _new_link(self, group):
        return self.ask("make link", lambda: self.app.post(f"/groups/{group.group_id}/links", {"uses_max": 5}), 201).json["token"]

    def _make_link(self):
        group = self._own_group()
        if group:
            self._ledger.links.append((group.group_id, self._new_link(group)))

    def _join(self):
        if self._ledger.links:
            self._join_by(*self._chance.choice(self._ledger.links))

    def _join_by(self, group_id, token):
        answer = self.ask("join by link", lambda: self.app.post("/groups/links/join", {"token": token}), 200, refusals=LINK_GONE)
        if answer.status == 200 and answer.json["state"] == "member":
            self._ledger.join(group_id, self.account.user_id)
            return answer.json["member_id"]
        return None

    # Going

    def _leave(self):
        groups = [group for group in self._ledger.groups_with(self.account) if group.owner is not self.account]
        if groups:
            group = self._chance.choice(groups)
            # From now on it is unknown, and whether they come again by a number is others' to say.
            group.gone.add(self.account.user_id)
            # The owner's account may have ended, and the group be this person's.
            self.ask("leave", lambda: self.app.post(f"/groups/{group.group_id}/leave"), 204, refusals=("OWNER_MUST_HAND_OVER",))

    def _remove_guest(self):
        """Somebody comes by a link, and is put out: they are nowhere in the group then, since no number of theirs is."""
        group = self._own_group("open")
        if not group:
            return
        token = self._new_link(group)
        with self._as_somebody_else() as guest:
            self._ledger.squatters.add(guest.user_id)
            self._save_name()
            member_id = self._join_by(group.group_id, token)
        group.gone.add(guest.user_id)
        if member_id:
            path = f"/groups/{group.group_id}/members/{member_id}"
            self.ask("remove", lambda: self.app.gateway.send("DELETE", path, token=self.app.access_token), 204)
            group.removed.add(guest.user_id)

    # Watching

    def _watch(self):
        """Subscribes from its last position, like an app that is opened again: it gets an event for each group that it joined since, or
        a reset. After any failure of the stream it subscribes again with its position."""
        told, is_reset = set(), self.watched is None
        while True:
            before = len(told)
            try:
                with Watching(self.app, self.watched) as watching:
                    end = time.monotonic() + WATCH_SECONDS
                    while True:
                        is_reset = is_reset or "reset" in watching.kinds
                        told |= {each.get("group_id") for each in watching.changes if each["type"] == "group.joined"}
                        if is_reset or self.landed <= told or watching.is_over or time.monotonic() > end:
                            break
                        time.sleep(0.02)
                    self.watched = watching.position
                failure = "a stream without what happened"
            except (OSError, http.client.HTTPException, AssertionError) as error:
                failure = f"stream: {type(error).__name__}"
            if self.watched and (is_reset or self.landed <= told):
                self._run.count(self._run.acknowledged, "watch")
                self.landed.clear()
                return
            if len(told) == before:
                self._run.count(self._run.failures, failure)
            if self._run.restored_at and time.monotonic() > self._run.restored_at + self.patience_seconds:
                raise self.finding(f"{self.account.user_id} subscribes and gets no event of {self.landed - told}: {failure}")
            time.sleep(0.2)

    # Somebody else on the same phone

    def _as_somebody_else(self):
        return _SomebodyElse(self)


class _SomebodyElse:
    """A new account, which the phone uses for a while."""

    def __init__(self, phone):
        self._phone = phone

    def __enter__(self):
        phone = self._phone
        self._before = phone.app, phone.account
        phone.app = App(phone._run.stack, Person())
        try:
            phone._sign_in()
            phone.account = phone._ledger.open_account(phone.app.user_id)
        except BaseException:
            phone.app, phone.account = self._before
            raise
        return phone.account

    def __exit__(self, *_):
        self._phone.app, self._phone.account = self._before
