extension IdentityMigrations {
    /// Guest accounts, and how they end. Their indexes are migrations of their own: accounts may be many.
    ///
    /// The constraints that take another word are not validated: rows of before hold to stricter ones, and the table of sessions may be
    /// long.
    static let guests = """
        -- guest_until: null for a full account; else when it is looked at next whether the guest has used the account lately.
        ALTER TABLE accounts ADD COLUMN guest_until timestamptz;

        ALTER TABLE sessions DROP CONSTRAINT sessions_proof_check, ADD CONSTRAINT sessions_proof_check CHECK (
            proof IN ('nonce', 'code', 'fresh', 'access_token', 'unproven', 'guest')
            AND (proof = 'unproven') = (dialect IS NOT NULL)) NOT VALID;

        -- successor: the account that took a guest's place.
        ALTER TABLE account_closings ADD COLUMN successor uuid, DROP CONSTRAINT account_closings_why_check,
            ADD CONSTRAINT account_closings_why_check
                CHECK (why IN ('deleted', 'operator', 'provider_notice', 'absorbed', 'guest_expired')) NOT VALID;

        ALTER TABLE security_events DROP CONSTRAINT security_events_kind_check, ADD CONSTRAINT security_events_kind_check CHECK (
            kind IN ('signed_in', 'session_ended', 'reuse_detected', 'sessions_ended_everywhere', 'session_renamed',
                'all_sessions_ended', 'account_deleted', 'account_closed', 'account_blocked', 'account_unblocked',
                'phone_released', 'provider_linked', 'provider_unlinked', 'provider_notice', 'account_found',
                'account_exported', 'provider_token_revoked', 'phone_proven', 'phone_taken', 'phone_conflict',
                'account_opening', 'account_opened', 'deletion_scheduled', 'deletion_cancelled', 'guest_merged')) NOT VALID;

        -- is_guest: the absorbed account is a guest's, and need not be empty.
        ALTER TABLE absorptions ADD COLUMN is_guest boolean NOT NULL DEFAULT false;

        -- As before, and webhook targets learn into which account a guest's was merged, and that a guest's became a full one.
        CREATE OR REPLACE FUNCTION tell_webhooks() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
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
                    told_data := jsonb_strip_nulls(jsonb_build_object('user_id', NEW.user_id,
                        'reason', coalesce(NEW.details -> 'reason', NEW.details -> 'by'),
                        'merged_into', NEW.details -> 'merged_into'));
                WHEN 'all_sessions_ended' THEN
                    told_type := 'session.ended';
                    told_data := jsonb_build_object('user_id', NULL, 'session_id', NULL, 'reason', 'end_all',
                        'sessions_from', NEW.details -> 'sessions_from');
                WHEN 'provider_linked', 'provider_unlinked' THEN
                    told_type := replace(NEW.kind, '_', '.');
                    told_data := jsonb_build_object('user_id', NEW.user_id, 'provider', NEW.details -> 'provider',
                        'session_id', NEW.session_id)
                        || jsonb_strip_nulls(jsonb_build_object('was_guest', NEW.details -> 'was_guest'));
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
        """
}
