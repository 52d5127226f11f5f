extension IdentityMigrations {
    /// Accounts, what apps store with them, and what an import or an operator recorded.
    static let accounts = """
        -- number: for dialects that need one. blocked_at: set while operators keep the user out. imported_at: null for an account that was
        -- opened here.
        CREATE SEQUENCE account_numbers AS bigint MAXVALUE 9007199254740991;
        CREATE TABLE accounts (
            user_id uuid PRIMARY KEY,
            created_at timestamptz NOT NULL,
            number bigint NOT NULL DEFAULT nextval('account_numbers'),
            blocked_at timestamptz,
            block_reason text,
            imported_at timestamptz
        );
        ALTER SEQUENCE account_numbers OWNED BY accounts.number;
        CREATE UNIQUE INDEX accounts_number ON accounts (number);

        -- What an app stores with an account: a JSON object.
        CREATE TABLE user_metadata (
            user_id uuid PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
            metadata text NOT NULL CHECK (octet_length(metadata) <= 16384),
            updated_at timestamptz NOT NULL
        );

        -- E-mail addresses in lower case that no two accounts of a dialect may have. No key to any account. is_verified: whether the
        -- provider verified the address for the user.
        CREATE TABLE email_reservations (
            dialect text NOT NULL,
            email text NOT NULL,
            user_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
            created_at timestamptz NOT NULL,
            is_verified boolean NOT NULL DEFAULT false,
            PRIMARY KEY (dialect, email)
        );
        CREATE INDEX email_reservations_user_id ON email_reservations (user_id);

        -- The ids that another backend had for imported accounts, if they could not be kept.
        CREATE TABLE imported_ids (
            source text NOT NULL,
            old_id text NOT NULL,
            user_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
            PRIMARY KEY (source, old_id)
        );
        CREATE INDEX imported_ids_user_id ON imported_ids (user_id);
        """

    /// The users of providers. The e-mail is for display and messages, never a key.
    static let providerIdentities = """
        -- is_email_told: whether only the app sent the e-mail. unproven_dialect: the dialect in which a client registered as this user without
        -- proof; null once a sign-in was proven. tokens_from: the provider's tokens from before it open no session. disabled_at: no token
        -- opens one. Of two notices about the same the later one holds, in whatever order they arrive: account_told_at, email_told_at.
        -- linked_at: when the identity came to its account, if another account had it before.
        CREATE TABLE provider_identities (
            provider text NOT NULL,
            subject text NOT NULL,
            user_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
            email text,
            is_email_verified boolean NOT NULL,
            is_private_email boolean NOT NULL,
            told_name text,
            real_user_status smallint,
            created_at timestamptz NOT NULL,
            last_sign_in_at timestamptz NOT NULL,
            is_email_told boolean NOT NULL DEFAULT false,
            unproven_dialect text,
            tokens_from timestamptz,
            disabled_at timestamptz,
            account_told_at timestamptz,
            is_email_unreachable boolean NOT NULL DEFAULT false,
            email_told_at timestamptz,
            linked_at timestamptz,
            PRIMARY KEY (provider, subject)
        );
        CREATE INDEX provider_identities_user_id ON provider_identities (user_id, created_at);
        -- For operators.
        CREATE INDEX provider_identities_email ON provider_identities (lower(email));

        -- Apple's users whose app moves to another developer team: the transfer identifier, until the new team has its own subject for the
        -- user. A row goes with its identity, and follows it when the subject changes.
        CREATE TABLE apple_transfers (
            provider text NOT NULL CHECK (provider = 'apple'),
            subject text NOT NULL,
            from_team text NOT NULL,
            to_team text NOT NULL,
            transfer_sub text,
            exported_at timestamptz NOT NULL,
            imported_at timestamptz,
            CHECK ((transfer_sub IS NULL) = (imported_at IS NOT NULL)),
            PRIMARY KEY (provider, subject),
            FOREIGN KEY (provider, subject) REFERENCES provider_identities (provider, subject)
                ON UPDATE CASCADE ON DELETE CASCADE
        );
        CREATE UNIQUE INDEX apple_transfers_transfer_sub ON apple_transfers (transfer_sub);
        CREATE INDEX apple_transfers_waiting ON apple_transfers (from_team, to_team, subject) WHERE imported_at IS NULL;
        CREATE INDEX apple_transfers_at ON apple_transfers (GREATEST(exported_at, imported_at));
        """
}
