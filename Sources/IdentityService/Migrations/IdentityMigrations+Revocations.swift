extension IdentityMigrations {
    // The triggers lock the table of sessions alone, against writing and not against reading. Those who end sessions lock rows
    // of it first and write here after it, where nothing is locked that two could want: no order to keep.
    static let revocations = """
        -- Sessions as they end, for those who are told of it; kept for as long as tokens of theirs may still look valid. Triggers
        -- write it, so that no way to end sessions can forget it, the version before included. xid is the writer's transaction:
        -- a snapshot tells by it what was not visible before. Times are this server's.
        CREATE TABLE revocations (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
            session_id uuid NOT NULL,
            reason text NOT NULL,
            revoked_at timestamptz NOT NULL DEFAULT now()
        );
        CREATE INDEX revocations_xid_id ON revocations (xid, id);
        CREATE INDEX revocations_revoked_at ON revocations (revoked_at);

        CREATE FUNCTION log_revocation() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        BEGIN
            IF TG_OP = 'DELETE' THEN
                INSERT INTO revocations (session_id, reason) VALUES (OLD.session_id, 'removed');
            ELSE
                INSERT INTO revocations (session_id, reason) VALUES (OLD.session_id, NEW.revoke_reason);
            END IF;
            RETURN NULL;
        END $$;
        CREATE FUNCTION log_all_revocations() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        BEGIN
            INSERT INTO revocations (session_id, reason)
                SELECT session_id, 'removed' FROM sessions WHERE revoked_at IS NULL AND expires_at > now();
            RETURN NULL;
        END $$;
        -- Of the named column: a refresh, which doesn't set it, doesn't come here.
        CREATE TRIGGER sessions_revoked AFTER UPDATE OF revoked_at ON sessions FOR EACH ROW
            WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL) EXECUTE FUNCTION log_revocation();
        -- Those that are over were told, or need not be: cleaning up writes nothing.
        CREATE TRIGGER sessions_removed AFTER DELETE ON sessions FOR EACH ROW
            WHEN (OLD.revoked_at IS NULL AND OLD.expires_at > now()) EXECUTE FUNCTION log_revocation();
        CREATE TRIGGER sessions_all_removed BEFORE TRUNCATE ON sessions FOR EACH STATEMENT
            EXECUTE FUNCTION log_all_revocations();
        """
}
