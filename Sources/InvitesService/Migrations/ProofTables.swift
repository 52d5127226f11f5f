/// Proofs of numbers, and what makers of links may do with them.
enum ProofTables {
    /// Who has proven the number that they have; null for a number that somebody typed. A trigger ends the proof when the number changes hands,
    /// also by the version before, which knows nothing of proofs. Another one reports to a group that a member of it is unproven no more, or
    /// is again.
    static let proofs = """
        ALTER TABLE phones ADD COLUMN proven_by uuid;

        CREATE FUNCTION end_proof() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        BEGIN
            NEW.proven_by = NULL;
            RETURN NEW;
        END $$;
        CREATE TRIGGER phones_proof_ended BEFORE UPDATE OF user_id ON phones FOR EACH ROW
            WHEN (NEW.proven_by IS NOT NULL AND NEW.proven_by IS DISTINCT FROM NEW.user_id) EXECUTE FUNCTION end_proof();

        CREATE FUNCTION log_proof() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        BEGIN
            INSERT INTO group_events (kind, group_id, member_id)
                SELECT 'member.changed', group_id, member_id FROM members
                WHERE user_id = NEW.user_id AND phone = NEW.phone AND confirmed_by IS NULL AND role = 'member';
            RETURN NULL;
        END $$;
        -- Where the number changes hands its members change, which is reported of them.
        CREATE TRIGGER phones_proven AFTER UPDATE OF proven_by ON phones FOR EACH ROW
            WHEN (OLD.user_id = NEW.user_id AND OLD.proven_by IS DISTINCT FROM NEW.proven_by) EXECUTE FUNCTION log_proof();
        """

    /// Whoever made a link counts as having used it. Links of those who left name nobody.
    static let makersOfLinks = """
        INSERT INTO group_link_uses (link_id, user_id, used_at)
        SELECT link_id, created_by, created_at FROM group_links WHERE created_by <> '00000000-0000-0000-0000-000000000000'
        ON CONFLICT (link_id, user_id) DO NOTHING
        """
}
