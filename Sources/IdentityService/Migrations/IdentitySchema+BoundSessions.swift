extension IdentityMigrations {
    /// Sessions, and codes that open them, whose tokens are bound to a key of the client (RFC 9449).
    ///
    /// The constraints are not validated: the columns are new, so no row of before has a value that could be wrong.
    static let boundSessions = """
        -- key_thumbprint: the RFC 7638 thumbprint of the key; null for bearer tokens.
        ALTER TABLE sessions ADD COLUMN key_thumbprint bytea,
            ADD CONSTRAINT sessions_key_thumbprint_check CHECK (octet_length(key_thumbprint) = 32) NOT VALID;
        ALTER TABLE authorization_codes ADD COLUMN key_thumbprint bytea,
            ADD CONSTRAINT authorization_codes_key_thumbprint_check CHECK (octet_length(key_thumbprint) = 32) NOT VALID;
        """
}
