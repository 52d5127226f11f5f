extension ProfileMigrations {
    /// Migration 14. Whether a number that was given up had been proven to be its last user's. What isn't known counts as proven, as the
    /// rows of the version before, which goes on writing them during an upgrade: nobody loses a place by what isn't known. Where it
    /// writes over a row of this version the word in it stays, rightly: a row goes as the number is proven, so of one that is
    /// there it hasn't been since. Rows of typed numbers stay beyond their time; the index finds the others.
    static let typedNumbers = """
        ALTER TABLE phone_cool_downs ADD COLUMN was_proven boolean NOT NULL DEFAULT true;
        CREATE INDEX phone_cool_downs_proven_until ON phone_cool_downs (until) WHERE was_proven;
        """
}
