extension IdentityMigrations {
    /// Of the released tables it locks `accounts` alone, for the key to it.
    static let importedIDs = """
        -- What another backend called accounts whose ids could not be kept: so that they are found by it.
        CREATE TABLE imported_ids (
            source text NOT NULL,
            old_id text NOT NULL,
            user_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
            PRIMARY KEY (source, old_id)
        );
        CREATE INDEX imported_ids_user_id ON imported_ids (user_id);
        """
}
