"""Runs all programs on the database of another server: see run.sh."""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "Tests/EndToEnd"))

import engine_statements
import process_table
from app import App
from parts import Parts
from stack import new_stack

SERVICES = ("identity", "profile", "invites")
PASSWORD = "only-for-this-run"
UP_SECONDS = 180
USERS = 8


class Server:
    def __init__(self, address, user):
        self.host, self.port = address.rsplit(":", 1)
        self._user = user

    def sql(self, text, database):
        return subprocess.run(
            ["psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", f"--host={self.host}", f"--port={self.port}", f"--username={self._user}",
             f"--dbname={database}", "--no-password"], input=text, text=True, capture_output=True, check=False, env=os.environ)

    def must(self, text, database):
        done = self.sql(text, database)
        if done.returncode != 0:
            sys.exit(f"{text[:200]}\n{done.stderr}")


def roles(service, engine):
    """The role and the schema of a service, by statements that all engines have."""
    role = f"vestibule_{service}"
    # CockroachDB without certificates has no passwords.
    password = "" if engine == "cockroachdb" else f" PASSWORD '{PASSWORD}'"
    return (f"CREATE ROLE {role} LOGIN{password}; CREATE SCHEMA {service}; GRANT ALL ON SCHEMA {service} TO {role}; "
            f"GRANT CONNECT, CREATE ON DATABASE vestibule TO {role}; ALTER SCHEMA {service} OWNER TO {role}; "
            f"ALTER ROLE {role} SET search_path = {service};")


def story(stack):
    """One user, from the first sign-in to the deletion, beside others."""
    app, friend = App(stack), App(stack)
    for each in (app, friend):
        each.sign_in()
    app.complete()
    group = app.create_group()
    app.invite(friend.person, group)
    friend.complete()
    friend.wait_for_group(group)
    for _ in range(3):
        app.refresh().expect(200)
    app.get("/me").expect(200)
    friend.delete()
    return True


def main(engine, address, user):
    server = Server(address, user)
    first = "defaultdb" if engine == "cockroachdb" else user
    process_table.wait_until(lambda: server.sql("SELECT 1", first).returncode == 0, UP_SECONDS, "the server")
    server.must("CREATE DATABASE vestibule", first)
    server.must("\n".join(roles(service, engine) for service in SERVICES), "vestibule")
    with new_stack() as stack:
        # Makes the secrets, and a database that is not used further.
        parts = Parts(stack)
        for name in (*SERVICES, "gateway"):
            parts.configure(name, VESTIBULE_DATABASE_HOST=server.host, VESTIBULE_DATABASE_PORT=server.port, VESTIBULE_DATABASE_ENGINE="distributed",
                            VESTIBULE_DATABASE_NAME="vestibule")
        for name in SERVICES:
            parts.configure(name, **{f"VESTIBULE_{name.upper()}_DATABASE_PASSWORD": PASSWORD, f"VESTIBULE_{name.upper()}_DATABASE_OWNER": "",
                                     f"VESTIBULE_{name.upper()}_DATABASE_OWNER_PASSWORD": "",
                                     f"VESTIBULE_{name.upper()}_DATABASE_PASSWORD_FILE": ""})
            migrated = parts.run(name, "migrate", seconds=600)
            if migrated.returncode != 0:
                sys.exit(f"{name} migrate:\n{migrated.stdout}{migrated.stderr}")
        server.must(engine_statements.text(engine), "vestibule")
        parts.names = ("simulator", *SERVICES, "gateway")
        outcomes = []
        try:
            parts.expect_back()
            demo = stack.command("demo", seconds=300, VESTIBULE_GATEWAY_LISTEN=stack.addresses["gateway"],
                                 VESTIBULE_SIMULATOR_LISTEN=stack.addresses["simulator"])
            print(demo.stdout)
            outcomes.append(demo.returncode == 0)
            with concurrent.futures.ThreadPoolExecutor(USERS) as pool:
                for each in [pool.submit(story, stack) for _ in range(USERS)]:
                    if each.exception():
                        print(f"FAILED {each.exception()}")
                    outcomes.append(not each.exception())
        finally:
            for name in list(parts.running):
                parts.kill(name)
    print(f"{sum(outcomes)} passed, {len(outcomes) - sum(outcomes)} failed")
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
