extension IdentityMigrations {
    /// Of the released tables it locks `accounts` alone.
    static let scheduledDeletions = """
        -- Accounts that will be deleted, and when. next_at is when the deletion is tried: at first the same time, later than it after a
        -- failure. The index is what the background step reads.
        CREATE TABLE scheduled_deletions (
            user_id uuid PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
            scheduled_at timestamptz NOT NULL,
            deletes_at timestamptz NOT NULL,
            next_at timestamptz NOT NULL,
            failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
            CHECK (scheduled_at < deletes_at AND deletes_at <= next_at)
        );
        CREATE INDEX scheduled_deletions_next_at ON scheduled_deletions (next_at);
        """

    /// Of the released tables it locks `security_events` alone.
    static let scheduledDeletionEvents = """
        ALTER TABLE security_events DROP CONSTRAINT security_events_kind_check;
        ALTER TABLE security_events ADD CONSTRAINT security_events_kind_check
            CHECK (kind IN ('signed_in', 'session_ended', 'reuse_detected', 'sessions_ended_everywhere', 'session_renamed',
                'all_sessions_ended', 'account_deleted', 'account_closed', 'account_blocked', 'account_unblocked',
                'phone_released', 'provider_linked', 'provider_unlinked', 'provider_notice', 'account_found',
                'account_exported', 'provider_token_revoked', 'phone_proven', 'phone_taken', 'phone_conflict',
                'account_opening', 'account_opened', 'deletion_scheduled', 'deletion_cancelled')) NOT VALID;

        -- As tell_webhooks does: the type is the kind's name, the data its account, its session and its details.
        CREATE FUNCTION tell_webhooks_of_deletion() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        BEGIN
            INSERT INTO webhook_deliveries (event_id, target, type, user_id, occurred_at, data, tried_from, next_at)
                SELECT NEW.event_id, name, 'account.' || NEW.kind, NEW.user_id, NEW.occurred_at,
                    jsonb_build_object('user_id', NEW.user_id, 'session_id', NEW.session_id) || NEW.details,
                    NEW.occurred_at, NEW.occurred_at
                FROM webhook_targets WHERE 'account.' || NEW.kind = ANY (types);
            RETURN NULL;
        END $$;
        CREATE TRIGGER scheduled_deletions_told AFTER INSERT ON security_events FOR EACH ROW
            WHEN (NEW.kind IN ('deletion_scheduled', 'deletion_cancelled')) EXECUTE FUNCTION tell_webhooks_of_deletion();
        """
}
