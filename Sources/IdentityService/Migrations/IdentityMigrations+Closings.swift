extension IdentityMigrations {
    /// Migration 11. Of the released tables it locks `security_events` alone.
    static let closings = """
        -- Accounts that were closed: the proof of it, and which services have forgotten the person since. No key to accounts: an
        -- account's row goes with its closing. Kept for a month after all have, so that nobody takes what is left of one for
        -- somebody's.
        CREATE TABLE account_closings (
            user_id uuid PRIMARY KEY,
            why text NOT NULL CHECK (why IN ('deleted', 'operator', 'provider_notice', 'absorbed')),
            closed_at timestamptz NOT NULL,
            -- Providers at which the person has to withdraw their consent themselves.
            consents_left text[] NOT NULL DEFAULT '{}',
            profile_done_at timestamptz,
            invites_done_at timestamptz
        );
        CREATE INDEX account_closings_closed_at ON account_closings (closed_at);

        -- What other services must be told, each by a relay of its own, so that one that is away holds up nobody else's.
        CREATE TABLE outbox (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            receiver text NOT NULL CHECK (receiver IN ('profile', 'invites')),
            event_id uuid NOT NULL,
            user_id uuid NOT NULL,
            created_at timestamptz NOT NULL,
            trace text,
            failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
            retry_at timestamptz,
            rejected_at timestamptz,
            rejection text
        );
        CREATE INDEX outbox_waiting ON outbox (receiver, id) WHERE rejected_at IS NULL;
        CREATE INDEX outbox_held ON outbox (user_id, id) WHERE rejected_at IS NOT NULL OR retry_at IS NOT NULL;

        -- Whose lock makes one relay of many the one that works for a receiver.
        CREATE TABLE outbox_relay (
            receiver text PRIMARY KEY
        );
        INSERT INTO outbox_relay (receiver) VALUES ('profile'), ('invites');

        ALTER TABLE security_events DROP CONSTRAINT security_events_kind_check;
        ALTER TABLE security_events ADD CONSTRAINT security_events_kind_check
            CHECK (kind IN ('signed_in', 'session_ended', 'reuse_detected', 'sessions_ended_everywhere', 'session_renamed',
                'all_sessions_ended', 'account_deleted', 'account_closed', 'account_blocked', 'account_unblocked',
                'phone_released', 'provider_linked', 'provider_unlinked', 'provider_notice', 'account_found',
                'account_exported', 'provider_token_revoked')) NOT VALID;
        """
}
