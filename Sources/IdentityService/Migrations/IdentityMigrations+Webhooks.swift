extension IdentityMigrations {
    /// Of the released tables it locks `security_events` alone.
    static let webhooks = """
        -- Who is told of events: the targets of the configuration, as those who deliver write them down. Where there is none, no row
        -- is written for anybody. One that answered that it is gone is stopped.
        CREATE TABLE webhook_targets (
            name text PRIMARY KEY,
            types text[] NOT NULL,
            seen_at timestamptz NOT NULL,
            stopped_at timestamptz
        );

        -- What each target is still to be told; a row goes when it was. No key to accounts: the end of one is told too. Of a person
        -- there are ids alone. tried_from is when the first try was due, or the first since somebody replayed it.
        CREATE TABLE webhook_deliveries (
            event_id uuid NOT NULL,
            target text NOT NULL,
            type text NOT NULL,
            user_id uuid,
            occurred_at timestamptz NOT NULL,
            data jsonb NOT NULL,
            tried_from timestamptz NOT NULL,
            next_at timestamptz NOT NULL,
            tries integer NOT NULL DEFAULT 0 CHECK (tries >= 0),
            failure text,
            parked_at timestamptz,
            PRIMARY KEY (event_id, target)
        );
        CREATE INDEX webhook_deliveries_due ON webhook_deliveries (target, next_at) WHERE parked_at IS NULL;
        CREATE INDEX webhook_deliveries_oldest ON webhook_deliveries (target, tried_from) WHERE parked_at IS NULL;
        CREATE INDEX webhook_deliveries_parked ON webhook_deliveries (parked_at, event_id) WHERE parked_at IS NOT NULL;
        CREATE INDEX webhook_deliveries_parked_of ON webhook_deliveries (target, parked_at) WHERE parked_at IS NOT NULL;

        -- What the audit log tells of and targets want to know is written down for them by the same statement: there is no way to
        -- forget it, and no round trip.
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
                ELSE
                    told_type := 'session.ended';
                    told_data := jsonb_build_object('user_id', NEW.user_id, 'session_id', NEW.session_id,
                        'reason', coalesce(NEW.details -> 'reason', '"reuse"'));
            END CASE;
            INSERT INTO webhook_deliveries (event_id, target, type, user_id, occurred_at, data, tried_from, next_at)
                SELECT NEW.event_id, name, told_type, NEW.user_id, NEW.occurred_at, told_data, NEW.occurred_at,
                    NEW.occurred_at
                FROM webhook_targets WHERE told_type = ANY (types);
            RETURN NULL;
        END $$;
        CREATE TRIGGER security_events_told AFTER INSERT ON security_events FOR EACH ROW
            WHEN (NEW.kind IN ('session_ended', 'reuse_detected', 'all_sessions_ended', 'account_deleted', 'account_closed')
                OR NEW.kind = 'signed_in' AND NEW.details @> '{"opened_account": true}')
            EXECUTE FUNCTION tell_webhooks();
        """
}
