extension IdentityMigrations {
    /// Credentials that were used, or wait.
    static let signIns = """
        -- Provider tokens that opened a session, until the token itself would be rejected.
        CREATE TABLE sign_ins (
            fingerprint bytea PRIMARY KEY CHECK (octet_length(fingerprint) = 32),
            session_id uuid NOT NULL,
            created_at timestamptz NOT NULL,
            expires_at timestamptz NOT NULL
        );
        CREATE INDEX sign_ins_expires_at ON sign_ins (expires_at);

        -- Name and e-mail that came with credentials which couldn't be verified at that moment. Nobody sees them until the same user's
        -- credentials prove themselves. subject, client_id and device_name: the user, app and device of the token. While sealed_token is
        -- there, it has not been verified, and none of them may be trusted. address_key: a keyed hash of the client's address, so that no
        -- address fills the table alone.
        CREATE TABLE told_once (
            fingerprint bytea PRIMARY KEY CHECK (octet_length(fingerprint) = 32),
            provider text NOT NULL,
            full_name text,
            email text,
            address_key bytea,
            created_at timestamptz NOT NULL,
            expires_at timestamptz NOT NULL,
            subject text,
            client_id text,
            device_name text,
            sealed_token bytea
        );
        CREATE INDEX told_once_expires_at ON told_once (expires_at);
        CREATE INDEX told_once_address_key ON told_once (address_key);
        CREATE INDEX told_once_person ON told_once (provider, subject) WHERE subject IS NOT NULL;

        -- Authorization codes that are being exchanged or were: the holder of the claim exchanges, other requests wait. The result is sealed
        -- under a key that only the code gives.
        CREATE TABLE code_exchanges (
            code_hash bytea PRIMARY KEY CHECK (octet_length(code_hash) = 32),
            claim_id uuid NOT NULL,
            claimed_until timestamptz NOT NULL,
            exchanged_at timestamptz,
            content bytea,
            expires_at timestamptz NOT NULL,
            CHECK ((exchanged_at IS NULL) = (content IS NULL))
        );
        CREATE INDEX code_exchanges_expires_at ON code_exchanges (expires_at);

        -- Tickets of sign-ins in a browser, redeemed once; an ID token has one pair at a time. The content is sealed under a key that only
        -- the tickets give. address_key: as above.
        CREATE TABLE web_tickets (
            ticket_hash bytea PRIMARY KEY CHECK (octet_length(ticket_hash) = 32),
            code_ticket_hash bytea NOT NULL CHECK (octet_length(code_ticket_hash) = 32),
            token_fingerprint bytea NOT NULL UNIQUE CHECK (octet_length(token_fingerprint) = 32),
            client_id text NOT NULL,
            code_challenge text,
            content bytea NOT NULL,
            address_key bytea,
            created_at timestamptz NOT NULL,
            expires_at timestamptz NOT NULL
        );
        CREATE INDEX web_tickets_expires_at ON web_tickets (expires_at);
        CREATE INDEX web_tickets_address_key ON web_tickets (address_key);
        """
}
