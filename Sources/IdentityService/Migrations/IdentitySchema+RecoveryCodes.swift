extension IdentityMigrations {
    /// Recovery codes, and the events of them.
    ///
    /// The constraint that takes further words is not validated: rows of before hold to a stricter one, and the table may be long.
    static let recoveryCodes = """
        -- locator: what a code is found by; the rest of it is hashed. provider, made_by: the way in that had opened the session by which it was
        -- made, and its passkey if it was one. passkey_id: the passkey that the code added, with used_at.
        CREATE TABLE recovery_codes (
            locator bytea PRIMARY KEY CHECK (octet_length(locator) = 5),
            user_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
            hash bytea NOT NULL CHECK (octet_length(hash) = 32),
            created_at timestamptz NOT NULL,
            provider text NOT NULL,
            made_by uuid,
            used_at timestamptz,
            passkey_id uuid,
            CHECK ((used_at IS NULL) = (passkey_id IS NULL))
        );
        CREATE INDEX recovery_codes_user_id ON recovery_codes (user_id);

        ALTER TABLE passkeys ADD COLUMN by_recovery_code boolean NOT NULL DEFAULT false;

        ALTER TABLE security_events DROP CONSTRAINT security_events_kind_check, ADD CONSTRAINT security_events_kind_check CHECK (
            kind IN ('signed_in', 'session_ended', 'reuse_detected', 'sessions_ended_everywhere', 'session_renamed',
                'all_sessions_ended', 'account_deleted', 'account_closed', 'account_blocked', 'account_unblocked',
                'phone_released', 'provider_linked', 'provider_unlinked', 'provider_notice', 'account_found',
                'account_exported', 'provider_token_revoked', 'phone_proven', 'phone_taken', 'phone_conflict',
                'account_opening', 'account_opened', 'deletion_scheduled', 'deletion_cancelled', 'guest_merged',
                'recovery_codes_created', 'recovery_code_used')) NOT VALID;
        """
}
