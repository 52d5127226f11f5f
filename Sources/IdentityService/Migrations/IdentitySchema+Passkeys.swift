extension IdentityMigrations {
    /// Passkeys, and sessions that they open.
    ///
    /// The constraint that takes another word is not validated: rows of before hold to a stricter one, and the table may be long.
    static let passkeys = """
        ALTER TABLE sessions DROP CONSTRAINT sessions_proof_check, ADD CONSTRAINT sessions_proof_check CHECK (
            proof IN ('nonce', 'code', 'fresh', 'access_token', 'unproven', 'guest', 'passkey')
            AND (proof = 'unproven') = (dialect IS NOT NULL)) NOT VALID;
        -- passkey_id: the passkey that opened the session, whether it is still there or not.
        ALTER TABLE sessions ADD COLUMN passkey_id uuid;

        -- An account with passkeys has one identity 'passkey', whose subject is the user handle that they bring back (the id of the account
        -- that the first one was added to), and which is as old as its oldest one. rp_id: the relying party that they were made for, and the only one that they sign for.
        -- public_key: a COSE_Key. sign_count: the authenticator's counter when it last signed in. counter_behind_at: when it last did not rise.
        CREATE TABLE passkeys (
            subject text NOT NULL,
            credential_id bytea NOT NULL CHECK (octet_length(credential_id) BETWEEN 1 AND 1023),
            provider text NOT NULL DEFAULT 'passkey' CHECK (provider = 'passkey'),
            passkey_id uuid NOT NULL,
            rp_id text NOT NULL,
            public_key bytea NOT NULL CHECK (octet_length(public_key) BETWEEN 1 AND 2048),
            sign_count bigint NOT NULL CHECK (sign_count BETWEEN 0 AND 4294967295),
            counter_behind_at timestamptz,
            is_backup_eligible boolean NOT NULL,
            is_backed_up boolean NOT NULL,
            aaguid uuid NOT NULL,
            transports text[] NOT NULL,
            name text,
            created_at timestamptz NOT NULL,
            last_used_at timestamptz,
            PRIMARY KEY (subject, credential_id),
            FOREIGN KEY (provider, subject) REFERENCES provider_identities (provider, subject)
                ON UPDATE CASCADE ON DELETE CASCADE
        );
        -- For a credential that another account has. Not unique: a sign-in goes by the user handle and the credential together.
        CREATE INDEX passkeys_credential_id ON passkeys (credential_id);
        """
}
