"""What was acknowledged, and what was asked for without an answer: what must hold when all is over."""

import dataclasses
import random
import threading
import time


@dataclasses.dataclass
class Account:
    """Somebody's account as their phone knows it. Only that phone's thread writes it."""

    user_id: str
    # As acknowledged; a phone asks until it has an answer, so that nothing is open between two steps.
    profile: dict = dataclasses.field(default_factory=lambda: dict.fromkeys(("display_name", "username", "phone_number")))
    # When the deletion was acknowledged, by the monotonic clock.
    deleted_at: float | None = None

    @property
    def is_deleted(self):
        return self.deleted_at is not None


@dataclasses.dataclass
class Addition:
    """A number that was acknowledged to have been added to a group."""

    phone: str
    # Who had it then, as the answer said; None if nobody.
    user_id: str | None
    # When it was asked for.
    asked_at: float


@dataclasses.dataclass
class Group:
    group_id: str
    name: str
    owner: Account
    openness: str = "open"
    additions: list = dataclasses.field(default_factory=list)
    # Who was acknowledged to be a member by an invitation, a confirmation or a link.
    joined: set = dataclasses.field(default_factory=set)
    # Who went, or may have; and of them who was put out and came by no number.
    gone: set = dataclasses.field(default_factory=set)
    removed: set = dataclasses.field(default_factory=set)


@dataclasses.dataclass
class Holding:
    """That an account has, or had, a number: from when it was asked for to when its end was acknowledged."""

    account: Account
    since: float
    until: float = float("inf")


class Ledger:
    """Shared by all phones."""

    def __init__(self, seed):
        self._lock = threading.Lock()
        self._chance = random.Random(f"ledger {seed}")
        self._made = set()
        # Numbers that nobody has and some group may wait for.
        self._free = []
        self.accounts = {}
        self.groups = {}
        # By number, in order.
        self.holdings = {}
        # Users whose numbers and places are others' by a proof, or who were put out.
        self.squatters = set()
        # Who typed a number that somebody else proves later, and the number: places that they have by it alone are the other's.
        self.outproved = set()
        # Links by which people join, with their groups.
        self.links = []
        # Refresh tokens of sessions whose end was acknowledged.
        self.ended_tokens = []

    # Accounts

    def open_account(self, user_id):
        with self._lock:
            assert user_id not in self.accounts, "an id twice"
            self.accounts[user_id] = Account(user_id)
            return self.accounts[user_id]

    @property
    def deleted(self):
        return [account for account in self.accounts.values() if account.is_deleted]

    # Numbers

    def new_number(self):
        """A number that occurred nowhere before."""
        with self._lock:
            return self._new_number()

    def take_number(self, account, is_given):
        """A number for an account to claim, which nobody else is given meanwhile: a new one, or one that was added to groups
        or that somebody had, if there is one."""
        with self._lock:
            if is_given and self._free:
                number = self._free.pop(self._chance.randrange(len(self._free)))
            else:
                number = self._new_number()
            self.holdings.setdefault(number, []).append(Holding(account, time.monotonic()))
            return number

    def release_number(self, number):
        """Its holder's claim of another, or deletion, was acknowledged."""
        with self._lock:
            self.holdings[number][-1].until = time.monotonic()
            self._free.append(number)

    def hand_number(self, number, account):
        """An account is to prove a number that another one typed."""
        with self._lock:
            now = time.monotonic()
            self.holdings[number][-1].until = now
            self.holdings[number].append(Holding(account, now))

    def prove_number(self, number, account):
        """An account will prove a number. Users who typed it before and gave it up lose the memberships that they had by it."""
        with self._lock:
            self.outproved |= {
                (holding.account.user_id, number) for holding in self.holdings.get(number, []) if holding.account is not account}

    def was_outproved(self, group, user_id):
        """Whether somebody's place in a group may be another's by a proof."""
        return any((user_id, addition.phone) in self.outproved for addition in group.additions)

    def number_to_add(self):
        """Somebody's, one that is awaited already, or a new one."""
        with self._lock:
            pool = self._chance.choice(("held", "free", "new"))
            if pool == "held" and self.holdings:
                return self._chance.choice(list(self.holdings))
            if pool == "free" and self._free:
                return self._chance.choice(self._free)
            number = self._new_number()
            self._free.append(number)
            return number

    def _new_number(self):
        while True:
            number = f"+63917{self._chance.randrange(10**7):07}"
            if number not in self._made:
                self._made.add(number)
                return number

    # Groups

    def add_group(self, group_id, name, owner, openness):
        with self._lock:
            assert group_id not in self.groups, "a group twice"
            self.groups[group_id] = Group(group_id, name, owner, openness)

    def join(self, group_id, user_id):
        """It was acknowledged that a user is a member."""
        with self._lock:
            self.groups[group_id].joined.add(user_id)

    def add_to_group(self, group_id, phone, member, asked_at):
        """`member` is what was answered."""
        with self._lock:
            self.groups[group_id].additions.append(Addition(phone, member["user_id"], asked_at))

    def groups_of(self, account):
        with self._lock:
            return [group for group in self.groups.values() if group.owner is account]

    def groups_with(self, account):
        """Those of which it was acknowledged that the account is a member: their owner, added by a number, or who joined; without those
        that it left, or where its place may be another's by a proof."""
        with self._lock:
            return [
                group for group in self.groups.values()
                if group.owner is account or account.user_id not in group.gone and not self.was_outproved(group, account.user_id) and (
                    account.user_id in group.joined
                    or any(addition.user_id == account.user_id for addition in group.additions))]
