extension IdentityMigrations {
    /// Of the released tables it locks `accounts` alone.
    static let blocking = """
        -- Since when and why operators keep an account's person out; both null while they don't.
        ALTER TABLE accounts ADD COLUMN blocked_at timestamptz, ADD COLUMN block_reason text;

        -- Each sign-in to an account that is there calls it, of whatever provider and dialect, the version before too; so it is
        -- where a blocked account is kept closed. The lock lets a sign-in and a block in one after the other, and what is read
        -- with it is what the one before has committed: a block that comes second sees the session and ends it, a sign-in that
        -- comes second is undone, and has used up none of its credentials.
        CREATE OR REPLACE FUNCTION end_excess_sessions(
            of_user uuid, new_session uuid, kept integer, at timestamptz, idle_start timestamptz
        ) RETURNS integer LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        DECLARE
            is_blocked boolean;
            excess uuid[];
            ended integer;
        BEGIN
            SELECT blocked_at IS NOT NULL INTO is_blocked FROM accounts WHERE user_id = of_user FOR NO KEY UPDATE;
            IF is_blocked THEN RAISE EXCEPTION 'the account is blocked' USING ERRCODE = 'VB001'; END IF;
            SELECT array_agg(session_id) INTO excess FROM (
                SELECT session_id FROM sessions
                WHERE user_id = of_user AND session_id <> new_session AND revoked_at IS NULL AND expires_at > at
                    AND last_used_at > idle_start AND created_at >= (SELECT sessions_from FROM session_epoch)
                ORDER BY last_used_at DESC, session_id DESC OFFSET kept
            ) used_longest_ago;
            IF excess IS NULL THEN RETURN 0; END IF;
            PERFORM FROM sessions
            WHERE revoked_at IS NULL AND (session_id = ANY (excess) OR user_id = of_user AND proof = 'unproven')
            ORDER BY session_id FOR UPDATE;
            UPDATE sessions SET revoked_at = at, revoke_reason = 'too_many', expires_at = LEAST(expires_at, at)
            WHERE session_id = ANY (excess) AND revoked_at IS NULL;
            GET DIAGNOSTICS ended = ROW_COUNT;
            RETURN ended;
        END $$;
        """
}
