/// The tables of invitations. The versions before don't know them and miss nothing: what hangs on a group goes with it.
enum InvitationTables {
    /// Who asks to join a group in which people are confirmed; links by which people join, and who did; and whose additions users
    /// don't want. Of a link's secret the SHA-256 is kept, which is as good as it is for telling a right token.
    static let sql = """
        CREATE TABLE join_requests (
            group_id uuid NOT NULL REFERENCES groups ON DELETE CASCADE,
            user_id uuid NOT NULL,
            member_id uuid NOT NULL,
            requested_at timestamptz NOT NULL,
            expires_at timestamptz,
            PRIMARY KEY (group_id, user_id)
        );

        CREATE INDEX join_requests_user ON join_requests (user_id);
        CREATE INDEX join_requests_expires_at ON join_requests (expires_at) WHERE expires_at IS NOT NULL;

        CREATE TABLE group_links (
            link_id uuid PRIMARY KEY,
            group_id uuid NOT NULL REFERENCES groups ON DELETE CASCADE,
            secret_hash bytea NOT NULL CHECK (octet_length(secret_hash) = 32),
            created_by uuid NOT NULL,
            created_at timestamptz NOT NULL,
            expires_at timestamptz NOT NULL,
            revoked_at timestamptz,
            uses_max integer CHECK (uses_max > 0),
            uses integer NOT NULL DEFAULT 0 CHECK (uses >= 0 AND uses <= uses_max)
        );

        CREATE INDEX group_links_group ON group_links (group_id, link_id);
        CREATE INDEX group_links_created_by ON group_links (created_by);
        CREATE INDEX group_links_expires_at ON group_links (expires_at);

        CREATE TABLE group_link_uses (
            link_id uuid NOT NULL REFERENCES group_links ON DELETE CASCADE,
            user_id uuid NOT NULL,
            used_at timestamptz NOT NULL,
            PRIMARY KEY (link_id, user_id)
        );

        CREATE INDEX group_link_uses_user ON group_link_uses (user_id);

        CREATE TABLE blocked_inviters (
            user_id uuid NOT NULL,
            inviter_user_id uuid NOT NULL,
            blocked_at timestamptz NOT NULL,
            PRIMARY KEY (user_id, inviter_user_id)
        );

        CREATE INDEX blocked_inviters_inviter ON blocked_inviters (inviter_user_id);
        """
}
