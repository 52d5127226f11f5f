extension IdentityMigrations {
    /// Sessions, and the rules that triggers keep for every statement that opens or ends one.
    static let sessions = """
        -- One row a session. A refresh token is an HMAC over session, generation and nonce, so none is stored. Refreshes change no indexed
        -- column: with the room that fillfactor leaves they stay on their page.
        --
        -- Refresh tokens are numbered as they are issued: generation is the newest, base the newest that was received, previous the one
        -- received before it, first_child the oldest issued since; the last three are null until the first refresh. dialect: only for
        -- sessions without proof, which are good there alone.
        CREATE TABLE sessions (
            session_id uuid PRIMARY KEY,
            user_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
            provider text NOT NULL,
            client_id text NOT NULL,
            device_name text,
            opened_account boolean NOT NULL,
            nonce bytea NOT NULL CHECK (octet_length(nonce) = 16),
            generation bigint NOT NULL DEFAULT 0 CHECK (generation BETWEEN 0 AND 4294967295),
            created_at timestamptz NOT NULL,
            last_used_at timestamptz NOT NULL,
            rotated_at timestamptz,
            expires_at timestamptz NOT NULL,
            revoked_at timestamptz,
            revoke_reason text CHECK (revoke_reason IN ('sign_out', 'reuse', 'end_all', 'proven', 'ended', 'too_many', 'operator',
                'account_deleted', 'provider', 'unlinked')),
            proof text NOT NULL,
            dialect text,
            base bigint,
            previous bigint,
            first_child bigint,
            acknowledged_at timestamptz,
            CHECK ((revoked_at IS NULL) = (revoke_reason IS NULL)),
            CONSTRAINT sessions_proof_check CHECK (proof IN ('nonce', 'code', 'fresh', 'access_token', 'unproven')
                AND (proof = 'unproven') = (dialect IS NOT NULL)),
            CONSTRAINT sessions_numbers_check
                CHECK (previous <= base AND base < first_child AND first_child <= generation + 1)
        ) WITH (fillfactor = 80);
        CREATE INDEX sessions_user_id ON sessions (user_id);
        CREATE INDEX sessions_expires_at ON sessions (expires_at);

        -- One row: sessions that began before sessions_from have ended, all at once, and provider tokens that were issued before it open
        -- none. Each check of a session reads it in the same statement.
        CREATE TABLE session_epoch (
            is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
            sessions_from timestamptz NOT NULL
        );
        INSERT INTO session_epoch (sessions_from) VALUES ('-infinity');

        -- The first proof ends the sessions that were opened without. A trigger sees the sessions that were committed while the statement
        -- waited for the identity's row; the statement itself sees those from before it began. Rows are locked in the order of the key, as
        -- by all statements that lock several.
        CREATE FUNCTION end_unproven_sessions() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        BEGIN
            UPDATE sessions SET revoked_at = NEW.last_sign_in_at, revoke_reason = 'proven',
                expires_at = LEAST(expires_at, NEW.last_sign_in_at)
            WHERE session_id IN (
                SELECT session_id FROM sessions
                WHERE user_id = NEW.user_id AND provider = NEW.provider AND proof = 'unproven' AND revoked_at IS NULL
                ORDER BY session_id FOR UPDATE);
            RETURN NULL;
        END $$;
        CREATE TRIGGER provider_identities_proven AFTER UPDATE ON provider_identities FOR EACH ROW
            WHEN (OLD.unproven_dialect IS NOT NULL AND NEW.unproven_dialect IS NULL)
            EXECUTE FUNCTION end_unproven_sessions();

        -- Ends the live sessions of an account beyond those that may be kept beside a new one, the least recently used first; and refuses a
        -- blocked account. The statement that opens a session calls it, for every provider and dialect.
        --
        -- Sign-ins to one account, and a block of it, run one by one by the lock of the account's row, and what is read with the lock is
        -- what the ones before have committed. A block that comes second sees the session and ends it; a sign-in that comes second is
        -- undone, and has used up none of its credentials. The foreign keys of sessions and metadata don't wait for this lock.
        --
        -- Rows of sessions are locked in the order of their ids. A sign-in that is the first proof ends sessions without proof after
        -- this, so that those are locked with the others.
        CREATE FUNCTION end_excess_sessions(
            of_user uuid, new_session uuid, kept integer, at timestamptz, idle_start timestamptz
        ) RETURNS integer LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        DECLARE
            is_blocked boolean;
            excess uuid[];
            ended integer;
        BEGIN
            SELECT blocked_at IS NOT NULL INTO is_blocked FROM accounts WHERE user_id = of_user FOR NO KEY UPDATE;
            IF is_blocked THEN RAISE EXCEPTION 'the account is blocked' USING ERRCODE = 'VB001'; END IF;
            SELECT array_agg(session_id) INTO excess FROM (
                SELECT session_id FROM sessions
                WHERE user_id = of_user AND session_id <> new_session AND revoked_at IS NULL AND expires_at > at
                    AND last_used_at > idle_start AND created_at >= (SELECT sessions_from FROM session_epoch)
                ORDER BY last_used_at DESC, session_id DESC OFFSET kept
            ) used_longest_ago;
            IF excess IS NULL THEN RETURN 0; END IF;
            PERFORM FROM sessions
            WHERE revoked_at IS NULL AND (session_id = ANY (excess) OR user_id = of_user AND proof = 'unproven')
            ORDER BY session_id FOR UPDATE;
            UPDATE sessions SET revoked_at = at, revoke_reason = 'too_many', expires_at = LEAST(expires_at, at)
            WHERE session_id = ANY (excess) AND revoked_at IS NULL;
            GET DIAGNOSTICS ended = ROW_COUNT;
            RETURN ended;
        END $$;
        """

    /// Sessions as they end, for subscribers.
    ///
    /// The triggers lock no table against reading. Statements that end sessions lock rows of sessions first and write here after it, where
    /// no two statements want the same row.
    static let revocations = """
        -- Kept for as long as tokens of the sessions may still look valid. Triggers write it, so that no way to end sessions can forget it.
        -- xid is the writer's transaction: a snapshot tells by it what was not visible before. Times are this server's.
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
        -- Only for this column: a refresh doesn't set it.
        CREATE TRIGGER sessions_revoked AFTER UPDATE OF revoked_at ON sessions FOR EACH ROW
            WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL) EXECUTE FUNCTION log_revocation();
        -- Sessions that are over were logged, or need not be: cleaning up writes nothing.
        CREATE TRIGGER sessions_removed AFTER DELETE ON sessions FOR EACH ROW
            WHEN (OLD.revoked_at IS NULL AND OLD.expires_at > now()) EXECUTE FUNCTION log_revocation();
        CREATE TRIGGER sessions_all_removed BEFORE TRUNCATE ON sessions FOR EACH STATEMENT
            EXECUTE FUNCTION log_all_revocations();
        """
}
