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

    /// Clients that authenticate themselves by keys, that use other APIs than ours, and that are notified of ended sessions.
    static let clientsOfMoreKinds = """
        -- Each assertion of a client is accepted once; it is kept until it has expired.
        CREATE TABLE client_assertions (
            client_id text NOT NULL,
            id_hash bytea NOT NULL CHECK (octet_length(id_hash) = 32),
            expires_at timestamptz NOT NULL,
            PRIMARY KEY (client_id, id_hash)
        );
        CREATE INDEX client_assertions_expires_at ON client_assertions (expires_at);

        ALTER TABLE authorization_codes ADD COLUMN resource text;

        -- resource: the API of the access tokens of an OAuth client, if not ours. browser_session_id: the browser's session that opened an
        -- OAuth client's. tells_client: whether the client is notified when the session ends.
        ALTER TABLE sessions ADD COLUMN resource text, ADD COLUMN browser_session_id uuid,
            ADD COLUMN tells_client boolean NOT NULL DEFAULT false;

        -- Writes the work that tells a client that its session has ended.
        CREATE FUNCTION tell_client_of_end() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        BEGIN
            INSERT INTO work (queue, event_id, user_id, created_at, data)
            VALUES ('\(LogoutWork.queueName)', NEW.session_id, NEW.user_id, NEW.revoked_at,
                jsonb_build_object('client_id', NEW.client_id))
            ON CONFLICT DO NOTHING;
            RETURN NULL;
        END $$;
        CREATE TRIGGER sessions_told_to_client AFTER UPDATE OF revoked_at ON sessions FOR EACH ROW
            WHEN (NEW.tells_client AND OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL)
            EXECUTE FUNCTION tell_client_of_end();
        """
}
