extension IdentityMigrations {
    /// The audit log.
    static let securityEvents = """
        -- Changes of who may sign in, by account. No key to accounts: events outlive them. Nothing that users typed or providers sent. The
        -- ids are UUIDs of version 7, so that their order is that of the events, and the ids of two servers differ. xid is the writer's
        -- transaction, by which a reader knows what the previous read did not see.
        CREATE TABLE security_events (
            event_id uuid PRIMARY KEY,
            user_id uuid,
            session_id uuid,
            kind text NOT NULL CHECK (kind IN ('signed_in', 'session_ended', 'reuse_detected', 'sessions_ended_everywhere', 'session_renamed',
                'all_sessions_ended', 'account_deleted', 'account_closed', 'account_blocked', 'account_unblocked',
                'phone_released', 'provider_linked', 'provider_unlinked', 'provider_notice', 'account_found',
                'account_exported', 'provider_token_revoked', 'phone_proven', 'phone_taken', 'phone_conflict',
                'account_opening', 'account_opened', 'deletion_scheduled', 'deletion_cancelled')),
            occurred_at timestamptz NOT NULL,
            details jsonb NOT NULL,
            xid xid8 NOT NULL DEFAULT pg_current_xact_id()
        );
        CREATE INDEX security_events_user_id ON security_events (user_id, event_id);
        CREATE INDEX security_events_rare ON security_events (user_id, event_id) WHERE \(rareEvents);
        CREATE INDEX security_events_rare_xid ON security_events (xid) WHERE \(rareEvents);

        -- Append-only: where the tables have an owner of their own, the service's role loses all other rights here. (What grants them again
        -- at each start leaves this table out.)
        DO $$ DECLARE writer name; BEGIN
            FOR writer IN
                SELECT DISTINCT grantee::regrole FROM pg_class, aclexplode(relacl)
                WHERE pg_class.oid = 'security_events'::regclass AND grantee NOT IN (0, relowner)
            LOOP EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON security_events FROM %I', writer); END LOOP;
        END $$;

        -- The first id of a moment, or a random one in it.
        CREATE FUNCTION security_event_id(at timestamptz, is_first boolean) RETURNS uuid LANGUAGE sql VOLATILE AS $$
            SELECT CASE WHEN is_first THEN rpad(lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0'), 32, '0')
                ELSE encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
                    PLACING substring(int8send((extract(epoch FROM at) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1),
                    'hex') END::uuid
        $$;

        -- Deletes old events, with the rights of the tables' owner; never events younger than thirty days. Its names are those of this
        -- schema, whatever its caller has created elsewhere.
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

        -- Logs each statement that opens or ends a session. Refreshes set none of the named columns.
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
        """

    /// Webhooks: the same statement that writes an event of the audit log writes its deliveries, so that none is forgotten and no round
    /// trip is needed.
    static let webhooks = """
        -- The targets of the configuration, as the deliverers write them down. Without a target no row is written. stopped_at: the target
        -- answered that it is gone.
        CREATE TABLE webhook_targets (
            name text PRIMARY KEY,
            types text[] NOT NULL,
            seen_at timestamptz NOT NULL,
            stopped_at timestamptz
        );

        -- The data of an event in the work for a target. Only ids of users.
        CREATE FUNCTION webhook_event(type text, occurred_at timestamptz, data jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
            SELECT jsonb_build_object('type', type, 'data', data,
                'timestamp', to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
        $$;

        CREATE FUNCTION tell_webhooks() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        DECLARE
            told_type text;
            told_data jsonb;
        BEGIN
            CASE NEW.kind
                WHEN 'signed_in' THEN
                    told_type := 'account.created';
                    told_data := jsonb_build_object('user_id', NEW.user_id,
                        'provider', NEW.details -> 'provider', 'client_id', NEW.details -> 'client_id');
                WHEN 'account_deleted', 'account_closed' THEN
                    told_type := 'account.deleted';
                    told_data := jsonb_build_object('user_id', NEW.user_id,
                        'reason', coalesce(NEW.details -> 'reason', NEW.details -> 'by'));
                WHEN 'all_sessions_ended' THEN
                    told_type := 'session.ended';
                    told_data := jsonb_build_object('user_id', NULL, 'session_id', NULL, 'reason', 'end_all',
                        'sessions_from', NEW.details -> 'sessions_from');
                WHEN 'provider_linked', 'provider_unlinked' THEN
                    told_type := replace(NEW.kind, '_', '.');
                    told_data := jsonb_build_object('user_id', NEW.user_id, 'provider', NEW.details -> 'provider',
                        'session_id', NEW.session_id);
                WHEN 'deletion_scheduled', 'deletion_cancelled' THEN
                    told_type := 'account.' || NEW.kind;
                    told_data := jsonb_build_object('user_id', NEW.user_id, 'session_id', NEW.session_id) || NEW.details;
                ELSE
                    told_type := 'session.ended';
                    told_data := jsonb_build_object('user_id', NEW.user_id, 'session_id', NEW.session_id,
                        'reason', coalesce(NEW.details -> 'reason', '"reuse"'));
            END CASE;
            INSERT INTO work (queue, event_id, user_id, created_at, data)
                SELECT 'webhooks.' || name, NEW.event_id, NEW.user_id, NEW.occurred_at,
                    webhook_event(told_type, NEW.occurred_at, told_data)
                FROM webhook_targets WHERE told_type = ANY (types);
            RETURN NULL;
        END $$;
        CREATE TRIGGER security_events_told AFTER INSERT ON security_events FOR EACH ROW
            WHEN (NEW.kind IN ('session_ended', 'reuse_detected', 'all_sessions_ended', 'account_deleted', 'account_closed',
                    'provider_linked', 'provider_unlinked', 'deletion_scheduled', 'deletion_cancelled')
                OR NEW.kind = 'signed_in' AND NEW.details @> '{"opened_account": true}')
            EXECUTE FUNCTION tell_webhooks();
        """
}
