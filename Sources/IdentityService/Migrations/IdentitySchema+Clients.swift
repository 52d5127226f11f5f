extension IdentityMigrations {
    /// Authorization codes of OAuth clients.
    static let authorizationCodes = """
        -- What the client was granted for whom the session was opened; null for other apps.
        ALTER TABLE sessions ADD COLUMN scope text;

        -- Codes that may be redeemed, and for some minutes those that were: the second use of one ends the session that the first one
        -- opened. browser_session_id: the session of the browser that signed in.
        CREATE TABLE authorization_codes (
            code_hash bytea PRIMARY KEY CHECK (octet_length(code_hash) = 32),
            client_id text NOT NULL,
            redirect_uri text NOT NULL,
            code_challenge text,
            nonce text,
            scope text NOT NULL,
            browser_session_id uuid NOT NULL,
            redeemed_session_id uuid,
            created_at timestamptz NOT NULL,
            expires_at timestamptz NOT NULL
        );
        CREATE INDEX authorization_codes_expires_at ON authorization_codes (expires_at);
        CREATE INDEX authorization_codes_browser_session_id ON authorization_codes (browser_session_id);
        """
}
