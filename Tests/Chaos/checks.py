"""What must hold when everything runs again and all news has come to its end."""

import collections
import json
import re
import time

import process_table
from account_command import trace
from phone import Finding

# Retries of delayed work wait for seconds; a deletion is delivered to three services.
QUIET_SECONDS = 90
# The maximum of findings of one check that are listed.
SHOWN_MAX = 5
# What a program says before it ends by a fault, and the database of one of ours.
FAULT = re.compile(r"Fatal error|Sanitizer|runtime error|PANIC|deadlock detected|violates|could not serialize")
# A line of a program that an operator has to look at, and which of them the faults of this test explain: a part is away.
ERROR = re.compile(r"^\S+ (error|critical) ")
EXPECTED_ERROR = re.compile(
    r"gateway: request failed .* code=(UNAVAILABLE|DATABASE_UNAVAILABLE|PROVIDER_UNAVAILABLE|DEADLINE_EXCEEDED|OUTCOME_UNKNOWN) "
    # The database died as it committed: the gateway tells OUTCOME_UNKNOWN, and the phone asks again.
    r"|(identity|profile|invites): call cause=database connection lost, outcome unknown code=UNKNOWN ")
DATABASE_ERROR = re.compile(r" ERROR: (?! canceling statement due to )")
# What a distributed database answers where transactions meet: they are done again.
CONFLICT = re.compile(r"injected by a test|could not serialize|deadlock detected")


class Checks:
    """Each check appends to `findings`."""

    def __init__(self, run, phones, supervisor, told, quiet_seconds, conflicts_are_expected=False):
        """`told` gives the messages that the target of webhooks got so far; `quiet_seconds` is how long news may take to its end."""
        self._conflicts_are_expected = conflicts_are_expected
        self._supervisor, self._quiet_seconds = supervisor, quiet_seconds
        self._run, self._ledger, self._stack = run, run.ledger, run.stack
        self._phones, self._told = phones, told
        self.findings = []
        self.counts = collections.Counter()

    def all(self, sweeps=True):
        """Without the sweep, which takes a minute, what was under way when an account was closed may be left, so that isn't looked for."""
        self._work_is_done()
        self._is_swept = sweeps
        if sweeps:
            self._sweep()
        self._sessions()
        if sweeps:
            self._deleted_accounts()
        self._numbers()
        self._groups()
        self._webhooks()

    def _find(self, what, found):
        found = list(found)
        if found:
            self.findings.append(f"{what}: {len(found)}, such as " + "; ".join(map(str, found[:SHOWN_MAX])))

    def _rows(self, sql):
        """The rows of a query as objects."""
        text = self._stack.sql(f"SELECT coalesce(json_agg(t), '[]') FROM ({sql}) t")
        return json.loads(text)

    # News

    def _work_is_done(self):
        """Of every schema."""
        tables = [row["name"] for row in self._rows(
            "SELECT schemaname || '.' || tablename AS name FROM pg_tables WHERE tablename = 'work'")]
        assert len(tables) == 3, tables
        waiting = {}

        def is_empty():
            waiting.clear()
            for table in tables:
                count = int(self._stack.sql(f"SELECT count(*) FROM {table}"))
                if count:
                    waiting[table] = count
            waiting["closings"] = int(self._stack.sql(
                "SELECT count(*) FROM identity.account_closings WHERE profile_done_at IS NULL OR invites_done_at IS NULL"))
            return not any(waiting.values())

        try:
            process_table.wait_until(is_empty, self._quiet_seconds, "")
        except AssertionError:
            for table in tables:
                self._find(f"work left in {table}", self._rows(f"SELECT * FROM {table} ORDER BY 1 LIMIT 100"))
            self.findings.append(f"work that was not done: {waiting}")
        self.counts["tables of work"] = len(tables)

    def _sweep(self):
        """What was under way in the moment of an account's closing is looked for a minute later, when invites cleans up next, which it
        does as it starts. The minute is moved in the database."""
        self.counts["members left by closings, for the sweep"] = int(self._stack.sql(
            "SELECT count(*) FROM invites.members WHERE user_id IN (SELECT user_id FROM invites.closed_accounts)"))
        self._stack.sql("UPDATE invites.closed_accounts SET closed_at = closed_at - interval '61 seconds' WHERE swept_at IS NULL")
        self._supervisor.restart("invites")
        process_table.wait_until(
            lambda: self._stack.sql("SELECT count(*) FROM invites.closed_accounts WHERE swept_at IS NULL") == "0",
            QUIET_SECONDS, "the sweep of what closed accounts left")

    # People

    def _sessions(self):
        """Each phone's session is valid, and the phone reads its acknowledged writes."""
        for phone in self._phones:
            if phone.account is None:
                self.findings.append(f"{phone.name} has no account at the end")
                continue
            answer = phone.app.refresh()
            if answer.status != 200 or phone.app.user_id != phone.account.user_id:
                self.findings.append(f"{phone.name}: an honest session ended: {answer.status} {answer.content[:200]!r}")
                continue
            try:
                phone.read_all()
            except Finding as finding:
                self.findings.append(f"{phone.name}: {finding}")
            self.counts["sessions that go on"] += 1
        for token in self._ledger.ended_tokens:
            answer = self._stack.client().post("/auth/refresh", {"refresh_token": token})
            if answer.status != 401:
                self.findings.append(f"a session that was signed out of goes on: {answer.status}")
            self.counts["sessions that are over"] += 1
        profiles = {row["user_id"]: row for row in self._rows(
            "SELECT user_id, display_name, username, '+' || phone AS phone_number FROM profile.profiles")}
        for account in self._ledger.accounts.values():
            row = profiles.pop(account.user_id, None)
            told = row and {name: row[name] for name in account.profile}
            if told != (None if account.is_deleted else account.profile):
                self.findings.append(f"profile of {account.user_id}: {told}; acknowledged: {account.profile}, "
                                     f"deleted: {account.is_deleted}")
            self.counts["profiles"] += 1

    def _deleted_accounts(self):
        """Nothing is left of them; revocations at providers are delivered later."""
        end = time.monotonic() + self._quiet_seconds
        for account in self._ledger.deleted:
            while left := self._left_of(account):
                if time.monotonic() > end:
                    self.findings.append(f"of {account.user_id}, which was deleted, is left {left}")
                    break
                time.sleep(0.5)
            self.counts["deleted accounts"] += 1

    def _left_of(self, account):
        answers = trace(self._stack, account.user_id)
        return {service: answer["held"] for service, answer in answers.items() if answer["left"]}

    # Numbers and groups

    def _numbers(self):
        """Profile, invites and the phones agree on who has which number."""
        expected = {
            account.profile["phone_number"]: account.user_id for account in self._ledger.accounts.values()
            if not account.is_deleted and account.profile["phone_number"]}
        for table in ("profile", "invites"):
            held = {row["number"]: row["user_id"] for row in self._rows(
                f"SELECT '+' || phone AS number, user_id FROM {table}.phones WHERE user_id IS NOT NULL")}
            self._find(f"numbers of which {table} knows another holder than was acknowledged", (
                f"{number}: {held.get(number)}, expected {expected.get(number)}"
                for number in held.keys() | expected.keys() if held.get(number) != expected.get(number)))
        self.counts["numbers"] = len(expected)

    def _groups(self):
        owners = {row["group_id"]: row for row in self._rows("SELECT group_id, name, owner_user_id FROM invites.groups")}
        members = collections.defaultdict(list)
        for row in self._rows("SELECT group_id, member_id, user_id, '+' || phone AS number FROM invites.members"):
            members[row["group_id"]].append(row)
        deleted = {account.user_id for account in self._ledger.deleted}
        self._find("groups whose owner is in them no more", (
            group for group, row in owners.items() if row["owner_user_id"] not in {each["user_id"] for each in members[group]}))
        if self._is_swept:
            self._find("members whose account was deleted", (
                row for rows in members.values() for row in rows if row["user_id"] in deleted))
        self.counts["members added after their deletion was acknowledged"] = sum(
            addition.user_id in deleted and self._ledger.accounts[addition.user_id].deleted_at < addition.asked_at
            for group in self._ledger.groups.values() for addition in group.additions)
        for group in self._ledger.groups.values():
            row = owners.get(group.group_id)
            if row is None:
                self._expect_end(group)
            elif row["name"] != group.name:
                self.findings.append(f"{group} is {row}")
            elif not group.owner.is_deleted and row["owner_user_id"] != group.owner.user_id:
                self.findings.append(f"{group.group_id} has another owner: {row}")
            else:
                self._expect_numbers(group, members[group.group_id])
            self.counts["groups"] += 1

    def _expect_end(self, group):
        """A group ends with its owner's account where nobody is in it who inherits it."""
        heirs = self._members_told(group)
        if not group.owner.is_deleted:
            self.findings.append(f"group {group.group_id} was acknowledged and is not there")
        elif heirs:
            self.findings.append(f"group {group.group_id} is gone, and {heirs} were to inherit it")

    def _members_told(self, group):
        """Whose membership was acknowledged, and whose account is there."""
        told = {addition.user_id for addition in group.additions if addition.user_id} | group.joined
        # A proof takes the places of who typed the number.
        told -= group.gone | self._ledger.squatters
        return {
            user_id for user_id in told
            if not self._ledger.accounts[user_id].is_deleted and not self._ledger.was_outproved(group, user_id)}

    def _expect_numbers(self, group, rows):
        """Every number that was acknowledged is there once: as a member who has it or had it then, or pending."""
        now_held = {
            holdings[-1].account.user_id: number for number, holdings in self._ledger.holdings.items()
            if holdings[-1].until == float("inf") and not holdings[-1].account.is_deleted}
        held_numbers = set(now_held.values())
        users = [row["user_id"] for row in rows if row["user_id"]]
        pending = [row["number"] for row in rows if not row["user_id"]]
        self._find(f"members twice in {group.group_id}", (user for user in users if users.count(user) > 1))
        self._find(f"numbers twice in {group.group_id}", (number for number in pending if pending.count(number) > 1))
        self._find(f"numbers that somebody has and that are still pending in {group.group_id}", (
            number for number in pending if group.openness == "open" and number in held_numbers))
        self._find(f"members of {group.group_id} who were put out", group.removed & set(users))
        self._find(f"members that were acknowledged and are not in {group.group_id}", self._members_told(group) - set(users))
        added = {addition.phone for addition in group.additions}
        self._find(f"numbers in {group.group_id} that were never acknowledged as added", (
            number for number in pending if number not in added))
        holder_of = {number: user_id for user_id, number in now_held.items()}
        for number in added:
            holders = [holding.account for holding in self._ledger.holdings.get(number, [])]
            holder = holder_of.get(number)
            if group.openness == "open" and holder and holder not in users and not self._is_anothers(group, number, rows, holders):
                self.findings.append(f"{holder} has {number}, which was added to {group.group_id}, and is not in it: {rows}")
            here = [row for row in rows if row["number"] == number or row["user_id"] in {each.user_id for each in holders}]
            if not here and not self._went_with_account(group, number, holders):
                additions = [addition for addition in group.additions if addition.phone == number]
                self.findings.append(f"{number} was added to {group.group_id} and is not there: {additions}, held by "
                                     f"{self._ledger.holdings.get(number)}")
            self.counts["numbers in groups"] += 1

    def _is_anothers(self, group, number, rows, holders):
        """Whether a membership by the number was deleted with an account, or belongs to a user who was confirmed or used a link, and keeps it."""
        return self._went_with_account(group, number, holders) or any(
            row["number"] == number and row["user_id"] in group.joined for row in rows)

    @staticmethod
    def _went_with_account(group, number, holders):
        """Whether a member by the number may have been deleted with their account. If a user adds the number after that, it is pending
        again, unless the response says that it is still theirs."""
        # A user who left has removed the number, too.
        if any(account.user_id in group.gone for account in holders):
            return True
        last = max((each for each in group.additions if each.phone == number), key=lambda each: each.asked_at)
        return any(
            account.is_deleted and (account.deleted_at > last.asked_at or account.user_id == last.user_id) for account in holders)

    # Others

    def _webhooks(self):
        told = {(message["type"], message["data"]["user_id"]) for message in self._told()}
        self._find("new accounts that webhooks weren't told of", (
            account.user_id for account in self._ledger.accounts.values() if ("account.created", account.user_id) not in told))
        self._find("deleted accounts that webhooks weren't told of", (
            account.user_id for account in self._ledger.deleted if ("account.deleted", account.user_id) not in told))
        self.counts["webhooks"] = len(self._told())

    def logs(self):
        """No program says that it has a fault. After the end of all, so that their last words are read too."""
        for name, text in self._stack.logs().items():
            self._find(f"{name} says", (line[:400] for line in text.splitlines() if self._is_fault(line)))
            self.counts["lines of logs"] += text.count("\n")

    def _is_fault(self, line):
        if self._conflicts_are_expected and CONFLICT.search(line):
            return False
        if ERROR.search(line) and not EXPECTED_ERROR.search(line):
            return True
        return bool(FAULT.search(line) or DATABASE_ERROR.search(line))
