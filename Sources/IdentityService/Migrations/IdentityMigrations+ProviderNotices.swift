extension IdentityMigrations {
    /// Of the released tables it locks `provider_identities` alone.
    static let providerNotices = """
        -- What providers told, by event, from before it is acknowledged; remembered so that each is applied once. Whom it is
        -- about stands here until it is applied.
        CREATE TABLE provider_notices (
            provider text NOT NULL,
            jti text NOT NULL CHECK (octet_length(jti) BETWEEN 1 AND 255),
            number smallint NOT NULL,
            kind text NOT NULL,
            reason text,
            subject text,
            told_at timestamptz NOT NULL,
            received_at timestamptz NOT NULL,
            retry_at timestamptz NOT NULL,
            failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
            applied_at timestamptz,
            CHECK (applied_at IS NULL OR subject IS NULL),
            PRIMARY KEY (provider, jti, number)
        );
        CREATE INDEX provider_notices_waiting ON provider_notices (retry_at) WHERE applied_at IS NULL;
        CREATE INDEX provider_notices_received_at ON provider_notices (received_at);

        -- What a provider told of one of its people: its tokens from before tokens_from open no session; a disabled account opens
        -- none at all. Of two notices about the same the one that was told later holds, in whatever order they come.
        ALTER TABLE provider_identities ADD COLUMN tokens_from timestamptz, ADD COLUMN disabled_at timestamptz,
            ADD COLUMN account_told_at timestamptz, ADD COLUMN is_email_unreachable boolean NOT NULL DEFAULT false,
            ADD COLUMN email_told_at timestamptz;
        """
}
