extension IdentityMigrations {
    /// Of the released tables it locks `provider_identities` alone.
    static let appleTransfers = """
        -- Apple's people whose app goes to another developer team: by what they are handed over, until today's team has its own
        -- name for them. Goes with the identity, and follows it when its subject changes.
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
