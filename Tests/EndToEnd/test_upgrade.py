"""An upgrade from the kept database of the version before: `Tests/Upgrade/make_dump.py` made it with that version's programs."""

import json
import pathlib
import shutil
import time

import pytest

from app import App, Person
from parts import POSTGRESQL, Parts
from stack import clean_environment, new_stack, run_vestibule

KEPT = pathlib.Path(__file__).resolve().parents[1] / "Upgrade/0.9.0"
SCHEMAS = ("identity", "profile", "invites")
NOT_ALLOWED = 3

# All that there is in the schemas, a line each: what two of the same migrations agree on.
DESCRIPTION = """
WITH ours AS (SELECT oid, nspname FROM pg_namespace WHERE nspname IN ('identity', 'profile', 'invites'))
SELECT concat_ws(' ', 'relation', c.oid::regclass, c.relkind, pg_get_userbyid(c.relowner), c.reloptions,
        (SELECT string_agg(a::text, ',' ORDER BY a::text) FROM unnest(c.relacl) a))
    FROM pg_class c JOIN ours ON ours.oid = c.relnamespace
UNION ALL SELECT concat_ws(' ', 'column', c.oid::regclass, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
        a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid))
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN ours ON ours.oid = c.relnamespace
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind = 'r'
UNION ALL SELECT concat_ws(' ', 'index', pg_get_indexdef(i.indexrelid), i.indisvalid)
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN ours ON ours.oid = c.relnamespace
UNION ALL SELECT concat_ws(' ', 'constraint', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid))
    FROM pg_constraint k JOIN ours ON ours.oid = k.connamespace
UNION ALL SELECT concat_ws(' ', 'function', pg_get_userbyid(p.proowner), replace(pg_get_functiondef(p.oid), E'\n', ' '),
        (SELECT string_agg(a::text, ',' ORDER BY a::text) FROM unnest(p.proacl) a))
    FROM pg_proc p JOIN ours ON ours.oid = p.pronamespace
UNION ALL SELECT concat_ws(' ', 'trigger', pg_get_triggerdef(t.oid), t.tgenabled)
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN ours ON ours.oid = c.relnamespace WHERE NOT t.tgisinternal
UNION ALL SELECT concat_ws(' ', 'sequence', schemaname, sequencename, data_type, max_value) FROM pg_sequences
UNION ALL SELECT concat_ws(' ', 'migration of identity', number, name, checksum) FROM identity.schema_migrations
UNION ALL SELECT concat_ws(' ', 'migration of profile', number, name, checksum) FROM profile.schema_migrations
UNION ALL SELECT concat_ws(' ', 'migration of invites', number, name, checksum) FROM invites.schema_migrations
"""

# Everything is as old as if it had been dumped now: sessions of long ago have ended. Transactions of another cluster are over.
AGING = """
SET session_replication_role = replica;
DO $$ DECLARE each record; BEGIN
    FOR each IN SELECT table_schema, table_name, string_agg(CASE data_type
            WHEN 'xid8' THEN format('%%1$I = pg_current_xact_id()', column_name)
            ELSE format('%%1$I = %%1$I + interval ''%(seconds)s s''', column_name) END, ', ') AS changes
        FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
        WHERE table_schema IN ('identity', 'profile', 'invites') AND table_type = 'BASE TABLE'
            AND data_type IN ('timestamp with time zone', 'xid8') AND table_name <> 'schema_migrations'
        GROUP BY 1, 2
    LOOP EXECUTE format('UPDATE %%I.%%I SET %%s', each.table_schema, each.table_name, each.changes); END LOOP;
END $$;
ANALYZE;
"""


class Upgraded:
    """A running stack that was upgraded, and what was found on the way."""

    def __init__(self, stack):
        self.stack = stack
        self.story = json.loads((KEPT / "story.json").read_text())
        parts = Parts(stack)
        # What Parts needs of it ran with a database of its own.
        self.environment = parts.environment("identity") | parts.environment("profile") | parts.environment("invites")
        parts.start(POSTGRESQL)
        stack.wait_for_database()
        self.fresh = describe(stack)
        for schema in SCHEMAS:
            stack.sql(f"DROP SCHEMA {schema} CASCADE")
        stack.sql((KEPT / "dump.sql").read_text())
        stack.sql(AGING % {"seconds": int(time.time() - self.story["dumped_at"])})
        for folder in (KEPT / "keys").iterdir():
            for key in folder.iterdir():
                shutil.copy(key, stack.folder / "secrets" / folder.name)
        self.before = self.plan()
        self.before_text = self.plan_text()
        parts.end(POSTGRESQL, 2)
        stack.start()
        self.after = self.plan()

    def plan(self, code=0):
        return json.loads(self.plan_text("--json", code=code))

    def plan_text(self, *arguments, code=0):
        result = run_vestibule("upgrade", "--plan", *arguments, environment=self.environment)
        assert result.returncode == code, (result.stdout, result.stderr)
        return result.stdout

    def app(self, number):
        """The app of one of the three people of the story, who has not used it since."""
        told = self.story["people"][number]
        given, family = told["name"].split()
        app = App(self.stack, Person(given, family, told["email"], told["phone"].removeprefix("+63")))
        return app, told


def describe(stack):
    """PostgreSQL nests the operands of a trigger's condition in another way once it was dumped."""
    return sorted(
        line.translate({ord("("): None, ord(")"): None}) if line.startswith("trigger") else line
        for line in stack.sql(DESCRIPTION).splitlines())


@pytest.fixture(scope="module")
def upgraded():
    with new_stack() as stack:
        yield Upgraded(stack)
        assert stack.stop() == 0, stack.output


def service(plan, name):
    return next(each for each in plan["services"] if each["service"] == name)


def test_the_plan_says_what_would_run(upgraded):
    plan = upgraded.before
    assert plan["is_allowed"] and plan["order"] == ["identity", "profile", "invites", "gateway"]
    identity = service(plan, "identity")
    assert identity["verdict"] == "allowed"
    assert identity["database"] == {"migration": 1, "version": "0.9"}
    assert [step["number"] for step in identity["steps"]] == list(range(2, identity["program"]["migration"] + 1))
    altered = next(table for table in identity["steps"][0]["tables"] if table["name"] == "sessions")
    assert (altered["lock"], altered["blocks"], altered["work"]) == ("ACCESS EXCLUSIVE", "all", "catalog")
    assert altered["rows"] >= 3 and altered["total_bytes"] > 8192 and altered["lock_seconds"] == 0
    index = next(step for step in identity["steps"] if step["number"] == 5)["tables"][0]
    assert (index["blocks"], index["work"]) == ("nobody", "concurrent_index")
    assert index["work_bytes"] > 0 and index["lock_seconds"] == pytest.approx(index["work_bytes"] / index["bytes_per_second"])
    profile = service(plan, "profile")
    assert profile["verdict"] == "allowed" and [step["number"] for step in profile["steps"]] == [2]
    lines = upgraded.before_text.splitlines()
    assert lines[0].startswith("identity: database at 1 (0.9), program at ")
    assert any("sessions" in line and "reads and writes wait" in line and "milliseconds" in line for line in lines)
    assert lines[-1].startswith("Allowed while the services run, in this order: identity, profile, invites, gateway.")
    assert max(map(len, lines[:-3])) <= 140


def test_afterwards_nothing_is_left_to_do(upgraded):
    assert {each["verdict"] for each in upgraded.after["services"]} == {"up_to_date"}
    assert all(each["steps"] == [] for each in upgraded.after["services"])


def test_the_schema_is_that_of_a_new_database(upgraded):
    after = describe(upgraded.stack)
    differences = [f"+ {line}" for line in sorted(set(after) - set(upgraded.fresh))] + [
        f"- {line}" for line in sorted(set(upgraded.fresh) - set(after))]
    assert len(upgraded.fresh) > 500 and not differences, "\n".join(differences)


def test_an_old_session_is_refreshed_and_reads_what_it_had(upgraded):
    app, told = upgraded.app(0)
    app.refresh(told["refresh_token"]).expect(200)
    assert app.user_id == told["user_id"]
    profile = app.get("/me").expect(200)
    assert (profile["display_name"], profile["phone_number"]) == (told["name"], told["phone"])
    assert upgraded.story["group_id"] in app.group_ids()
    members = app.members(upgraded.story["group_id"])
    users = {member["user_id"] for member in members if member["user_id"]}
    assert users == {person["user_id"] for person in upgraded.story["people"][:2]}
    assert [member["phone_number"] for member in members if not member["user_id"]] == [upgraded.story["waiting_phone"]]


def test_an_old_account_signs_in(upgraded):
    app, told = upgraded.app(1)
    answer = app.present("google", app.ask_google(sub=told["subject"])).expect(200)
    assert (answer["user_id"], answer["is_new_user"]) == (told["user_id"], False)
    assert app.save(display_name="Ben Other").expect(200)["display_name"] == "Ben Other"


def test_somebody_new_comes_into_an_old_group_by_their_number(upgraded):
    app = App(upgraded.stack, Person(digits=upgraded.story["waiting_phone"].removeprefix("+63")))
    app.sign_in()
    app.complete()
    app.wait_for_group(upgraded.story["group_id"])


def test_a_program_that_is_too_old_for_the_database_is_refused(upgraded):
    newest = service(upgraded.after, "invites")["program"]["migration"]
    upgraded.stack.sql(
        "INSERT INTO invites.schema_migrations (number, name, checksum, oldest_program) "
        f"VALUES ({newest + 1}, 'later', '0', '0.9'), ({newest + 2}, 'much later', '0', '99.0')")
    try:
        plan = upgraded.plan(code=NOT_ALLOWED)
        invites = service(plan, "invites")
        assert (plan["is_allowed"], invites["verdict"], invites["version_to_start"]) == (False, "too_new", "99.0")
        assert "Start 99.0" in upgraded.plan_text(code=NOT_ALLOWED)
        # The version before that one is allowed.
        upgraded.stack.sql(f"DELETE FROM invites.schema_migrations WHERE number = {newest + 2}")
        assert service(upgraded.plan(), "invites")["verdict"] == "newer_database"
    finally:
        upgraded.stack.sql(f"DELETE FROM invites.schema_migrations WHERE number > {newest}")


def test_a_database_that_does_not_answer_is_an_error(upgraded):
    result = run_vestibule("upgrade", "--plan", environment=upgraded.environment | {"VESTIBULE_DATABASE_HOST": "/nowhere"})
    assert result.returncode == 1 and "identity: database unavailable" in result.stderr


def test_without_plan_it_says_what_to_give():
    result = run_vestibule("upgrade", environment=clean_environment())
    assert result.returncode == 64 and "--plan" in result.stderr
