extension ProfileMigrations {
    /// Migration 15. Of the released tables it locks `profiles` and `proven_claims`, both for a moment: what was entered is looked at by
    /// nobody, since only the set of words grows. The version before leaves the time as it is when it saves a number, which a proof
    /// that is told late then undoes, as with that version alone.
    static let lateProofs = """
        -- When the user saved a number, or gave theirs up, or an operator released it, last.
        ALTER TABLE profiles ADD COLUMN phone_chosen_at timestamptz;

        ALTER TABLE proven_claims DROP CONSTRAINT proven_claims_outcome_check;
        ALTER TABLE proven_claims ADD CONSTRAINT proven_claims_outcome_check
            CHECK (outcome IN ('proven', 'conflict', 'outdated')) NOT VALID;
        """
}
