extension IdentityMigrations {
    /// Migration 23. Of the released tables it locks `accounts` alone. When an account came in from another system; null for one that was
    /// opened here.
    static let importedAccounts = """
        ALTER TABLE accounts ADD COLUMN imported_at timestamptz
        """
}
