extension ProfileMigrations {
    /// Migration 15. Of the released tables it locks `profiles` for a moment, and `proven_claims` while its rows are read once for an index;
    /// only the set of words grows there, so no row is judged anew. The version before leaves the time as it is when it saves a number,
    /// which a proof that is told late then undoes, as with that version alone.
    static let lateProofs = """
        -- When the user saved a number, or gave theirs up, or an operator released it, last.
        ALTER TABLE profiles ADD COLUMN phone_chosen_at timestamptz;

        ALTER TABLE proven_claims DROP CONSTRAINT proven_claims_outcome_check;
        ALTER TABLE proven_claims ADD CONSTRAINT proven_claims_outcome_check
            CHECK (outcome IN ('proven', 'conflict', 'outdated')) NOT VALID;

        -- Who had typed the number and given it up, where it was taken from somebody else beside.
        ALTER TABLE proven_claims ADD COLUMN also_taken_from uuid;
        CREATE INDEX proven_claims_also_taken_from ON proven_claims (also_taken_from) WHERE also_taken_from IS NOT NULL;
        """
}
