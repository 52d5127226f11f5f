extension IdentityMigrations {
    /// Authorization codes of OAuth clients.
    static let authorizationCodes = """
        -- What the client was granted for whom the session was opened; null for other apps.
        ALTER TABLE sessions ADD COLUMN scope text;

        -- Codes that may be redeemed, and for some minutes those that were: the second use of one ends the session that the first one
        -- opened. browser_session_id: the session of the browser that signed in.
        CREATE TABLE authorization_codes (
            code_hash bytea PRIMARY KEY CHECK (octet_length(code_hash) = 32),
            client_id text NOT NULL,
            redirect_uri text NOT NULL,
            code_challenge text,
            nonce text,
            scope text NOT NULL,
            browser_session_id uuid NOT NULL,
            redeemed_session_id uuid,
            created_at timestamptz NOT NULL,
            expires_at timestamptz NOT NULL
        );
        CREATE INDEX authorization_codes_expires_at ON authorization_codes (expires_at);
        CREATE INDEX authorization_codes_browser_session_id ON authorization_codes (browser_session_id);

        -- As before, but sessions without a refresh token end first: they are over within the hour, and a page may open one each time it is
        -- loaded. By their last use alone they would end the sessions of the user's other devices.
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
                ORDER BY (scope IS NULL OR 'offline_access' = ANY (string_to_array(scope, ' '))) DESC, last_used_at DESC,
                    session_id DESC
                OFFSET kept
            ) least_needed;
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
