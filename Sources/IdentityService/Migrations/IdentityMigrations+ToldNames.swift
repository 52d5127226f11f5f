extension IdentityMigrations {
    /// What the version before keeps names nobody, and is found by its token alone.
    static let toldNames = """
        -- Whom the token names that a name came with, and from which app and device. While sealed_token is there it has not been
        -- verified, and nothing of that may be believed.
        ALTER TABLE told_once ADD COLUMN subject text, ADD COLUMN client_id text, ADD COLUMN device_name text,
            ADD COLUMN sealed_token bytea;
        """

    /// What the version before reserves is unverified.
    static let verifiedReservations = """
        -- Whether the provider verified the address for the account's person.
        ALTER TABLE email_reservations ADD COLUMN is_verified boolean NOT NULL DEFAULT false;
        """
}
