extension IdentityMigrations {
    /// Migration 27. It locks `absorptions` and then `security_events`, in the order of all that write both.
    static let accountOpenings = """
        -- Absorptions by which an imported account is opened that nobody could sign in to, and by what: the proof of its number, or an
        -- operator, by the name in their certificate.
        CREATE TABLE account_openings (
            absorption_id uuid PRIMARY KEY REFERENCES absorptions ON DELETE CASCADE,
            ground text NOT NULL CHECK (ground IN ('provider', 'assertion', 'operator')),
            operator text,
            CHECK (operator IS NULL OR ground = 'operator')
        );

        ALTER TABLE security_events DROP CONSTRAINT security_events_kind_check;
        ALTER TABLE security_events ADD CONSTRAINT security_events_kind_check
            CHECK (kind IN ('signed_in', 'session_ended', 'reuse_detected', 'sessions_ended_everywhere', 'session_renamed',
                'all_sessions_ended', 'account_deleted', 'account_closed', 'account_blocked', 'account_unblocked',
                'phone_released', 'provider_linked', 'provider_unlinked', 'provider_notice', 'account_found',
                'account_exported', 'provider_token_revoked', 'phone_proven', 'phone_taken', 'phone_conflict',
                'account_opening', 'account_opened')) NOT VALID;
        """
}
