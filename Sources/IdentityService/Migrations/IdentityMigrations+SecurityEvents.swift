extension IdentityMigrations {
    /// Migration 9. Of the released tables it locks `sessions` alone.
    static let securityEvents = """
        -- The audit log: what changes who is let in, by account. No key to accounts: what happened outlives them. Of what
        -- people typed and providers told, nothing. The ids are UUIDs of version 7 of the time, so that their order is that
        -- of the events, and those of two servers differ.
        CREATE TABLE security_events (
            event_id uuid PRIMARY KEY,
            user_id uuid,
            session_id uuid,
            kind text NOT NULL CHECK (kind IN ('signed_in', 'session_ended', 'reuse_detected', 'sessions_ended_everywhere',
                'session_renamed', 'all_sessions_ended')),
            occurred_at timestamptz NOT NULL,
            details jsonb NOT NULL
        );
        CREATE INDEX security_events_user_id ON security_events (user_id, event_id);

        -- Only added to: where the tables have an owner of their own, the service's role has lost all other rights by this.
        -- (What grants them anew leaves this table out.)
        DO $$ DECLARE writer name; BEGIN
            FOR writer IN
                SELECT DISTINCT grantee::regrole FROM pg_class, aclexplode(relacl)
                WHERE pg_class.oid = 'security_events'::regclass AND grantee NOT IN (0, relowner)
            LOOP EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON security_events FROM %I', writer); END LOOP;
        END $$;

        -- The first id of a moment, or one of chance in it.
        CREATE FUNCTION security_event_id(at timestamptz, is_first boolean) RETURNS uuid LANGUAGE sql VOLATILE AS $$
            SELECT CASE WHEN is_first THEN rpad(lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0'), 32, '0')
                ELSE encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
                    PLACING substring(int8send((extract(epoch FROM at) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1),
                    'hex') END::uuid
        $$;

        -- Forgets what is old, with the rights of the tables' owner; never what is younger than thirty days. Its names are
        -- those of this schema, whatever its caller has made elsewhere.
        CREATE FUNCTION forget_security_events(before timestamptz, most integer) RETURNS integer
        LANGUAGE plpgsql SECURITY DEFINER AS $$
        DECLARE forgotten integer;
        BEGIN
            DELETE FROM security_events WHERE event_id IN (
                SELECT event_id FROM security_events
                WHERE event_id < security_event_id(LEAST(before, now() - interval '30 days'), true)
                ORDER BY event_id LIMIT most FOR UPDATE SKIP LOCKED);
            GET DIAGNOSTICS forgotten = ROW_COUNT;
            RETURN forgotten;
        END $$;
        DO $$ BEGIN
            EXECUTE format('ALTER FUNCTION forget_security_events SET search_path = %I, pg_temp', current_schema());
        END $$;

        -- Whoever opens or ends a session tells it by that, the version before too. The columns named keep refreshes out.
        CREATE FUNCTION tell_of_session() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        BEGIN
            IF TG_OP = 'INSERT' THEN
                INSERT INTO security_events (event_id, user_id, session_id, kind, occurred_at, details) VALUES (
                    security_event_id(NEW.last_used_at, false), NEW.user_id, NEW.session_id, 'signed_in', NEW.last_used_at,
                    jsonb_strip_nulls(jsonb_build_object('provider', NEW.provider, 'client_id', NEW.client_id,
                        'proof', NEW.proof, 'dialect', NEW.dialect, 'opened_account', NEW.opened_account)));
            ELSE
                INSERT INTO security_events (event_id, user_id, session_id, kind, occurred_at, details) VALUES (
                    security_event_id(NEW.revoked_at, false), NEW.user_id, NEW.session_id,
                    CASE NEW.revoke_reason WHEN 'reuse' THEN 'reuse_detected' ELSE 'session_ended' END, NEW.revoked_at,
                    jsonb_build_object('reason', NEW.revoke_reason));
            END IF;
            RETURN NULL;
        END $$;
        CREATE TRIGGER sessions_begun AFTER INSERT ON sessions FOR EACH ROW EXECUTE FUNCTION tell_of_session();
        CREATE TRIGGER sessions_ended AFTER UPDATE OF revoked_at ON sessions FOR EACH ROW
            WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL) EXECUTE FUNCTION tell_of_session();

        ALTER TABLE sessions DROP CONSTRAINT sessions_revoke_reason_check;
        ALTER TABLE sessions ADD CONSTRAINT sessions_revoke_reason_check
            CHECK (revoke_reason IN ('sign_out', 'reuse', 'end_all', 'proven', 'ended', 'too_many', 'operator',
                'account_deleted')) NOT VALID;

        -- Ends the live sessions of an account beyond those that may be kept beside a new one, the ones used longest ago.
        --
        -- Called by the statement that opens the new one. Sign-ins to one account come in one by one, by the lock of the
        -- account's row, and what is read after it is what those before have committed: each of these statements sees it
        -- anew. The lock is none that the key of sessions or metadata to accounts waits for.
        --
        -- Rows of sessions are locked in the order of their ids, as all do that lock several. A sign-in that is the first
        -- proof ends sessions without proof after this, so that those are locked with the others.
        CREATE FUNCTION end_excess_sessions(
            of_user uuid, new_session uuid, kept integer, at timestamptz, idle_start timestamptz
        ) RETURNS integer LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        DECLARE
            excess uuid[];
            ended integer;
        BEGIN
            PERFORM FROM accounts WHERE user_id = of_user FOR NO KEY UPDATE;
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
}
