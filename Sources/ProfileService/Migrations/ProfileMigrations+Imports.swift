extension ProfileMigrations {
    /// Migration 13. Of the released tables it locks `profiles` alone.
    static let imports = """
        -- When all that another backend knew of the person had come in; an import that is run again leaves the profile alone then.
        ALTER TABLE profiles ADD COLUMN imported_at timestamptz;

        -- Where imports are that haven't ended: by the digest of what they read. Nobody is named here.
        CREATE TABLE account_imports (
            digest bytea PRIMARY KEY CHECK (length(digest) = 32),
            position text NOT NULL,
            updated_at timestamptz NOT NULL
        );
        """
}
