"""`vestibule doctor` about passkeys that open nothing."""

from app import App
from test_doctor import doctor, own_stack  # noqa: F401


def test_passkeys_of_another_domain(own_stack, doctor):  # noqa: F811
    app = App(own_stack)
    app.sign_in()
    own_stack.sql(f"""
        INSERT INTO identity.provider_identities (
            provider, subject, user_id, is_email_verified, is_private_email, created_at, last_sign_in_at)
        VALUES ('passkey', '{app.user_id}', '{app.user_id}', false, false, now(), now());
        INSERT INTO identity.passkeys (subject, credential_id, passkey_id, rp_id, public_key, sign_count, is_backup_eligible,
            is_backed_up, aaguid, transports, created_at)
        VALUES ('{app.user_id}', '\\x01', gen_random_uuid(), 'example.com', '\\x01', 0, false, false, gen_random_uuid(), '{{}}', now());""")
    key = "VESTIBULE_IDENTITY_PASSKEY_RP_ID"
    try:
        for configured, words in (("example.org", "is example.org"), (None, "is not set")):
            found = doctor.only_finding({key: configured})
            assert (found["severity"], found["subject"]) == ("warning", key)
            assert found["problem"] == f"{words}, but there are passkeys of example.com, which open nothing"
            assert "set it to example.com" in found["mend"]
        assert doctor.findings({key: "example.com"}) == []
    finally:
        own_stack.sql("DELETE FROM identity.passkeys")
