extension InvitesMigrations {
    /// Phone numbers and who has them.
    static let numbers = """
        -- Who has each number, as the profile service reported it; the row is the lock under which a number is invited and claimed. proven_by:
        -- the user who has proven it; null for a number that was typed.
        CREATE TABLE phones (
            phone text PRIMARY KEY CHECK (phone ~ '^[1-9][0-9]{3,14}$'),
            user_id uuid,
            proven_by uuid
        );
        -- Whose invitations wait for an answer, and whom a hold concerns.
        CREATE INDEX phones_user ON phones (user_id) WHERE user_id IS NOT NULL;
        -- Among them numbers that no group waits for.
        CREATE INDEX phones_nobody ON phones (phone) WHERE user_id IS NULL;

        -- A proof ends when the number changes hands.
        CREATE FUNCTION end_proof() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        BEGIN
            NEW.proven_by = NULL;
            RETURN NEW;
        END $$;
        CREATE TRIGGER phones_proof_ended BEFORE UPDATE OF user_id ON phones FOR EACH ROW
            WHEN (NEW.proven_by IS NOT NULL AND NEW.proven_by IS DISTINCT FROM NEW.user_id) EXECUTE FUNCTION end_proof();

        -- Events that were applied, so that none is applied twice.
        CREATE TABLE inbox (
            event_id uuid PRIMARY KEY,
            applied_at timestamptz NOT NULL
        );
        CREATE INDEX inbox_applied_at ON inbox (applied_at);

        -- Numbers that users asked about lately, so that asking again counts nothing: each as a code that is specific to the user.
        CREATE TABLE asked_numbers (
            user_id uuid NOT NULL,
            number_code bytea NOT NULL CHECK (octet_length(number_code) = 16),
            asked_at timestamptz NOT NULL,
            PRIMARY KEY (user_id, number_code)
        );
        CREATE INDEX asked_numbers_asked_at ON asked_numbers (asked_at);
        """

    /// Groups and their members.
    static let groups = """
        -- openness: how a registered number becomes a member. created_by: the user whose quota the group counts for, which another user may own;
        -- zeros if their account was closed.
        CREATE TABLE groups (
            group_id uuid PRIMARY KEY,
            name text NOT NULL,
            owner_user_id uuid NOT NULL,
            created_at timestamptz NOT NULL,
            openness text NOT NULL DEFAULT 'open' CHECK (openness IN ('open', 'confirm', 'consent')),
            created_by uuid NOT NULL
        );
        CREATE INDEX groups_owner ON groups (owner_user_id);
        CREATE INDEX groups_created_by ON groups (created_by);

        -- The group that a client's idempotency key has created, so that a repeated request creates none. The request is kept as a hash, which
        -- is enough to recognize another use of the key.
        CREATE TABLE group_keys (
            user_id uuid NOT NULL,
            idempotency_key uuid NOT NULL,
            group_id uuid NOT NULL,
            request_hash bytea NOT NULL CHECK (length(request_hash) = 32),
            created_at timestamptz NOT NULL,
            PRIMARY KEY (user_id, idempotency_key)
        );
        CREATE INDEX group_keys_created_at ON group_keys (created_at);

        -- Members, and pending ones: those without a user. A user is in a group once, and a group waits for a number once. A linked member keeps
        -- the number that they were added by, which may have another user since and then be waited for or linked again. The owner is the user
        -- in the group's row, whatever the role here.
        --
        -- confirmed_by: who said that the user is the person meant; null for a member by the number alone. unconfirmed_at: since when a
        -- member by the number alone no longer has it. Of a pending member: expires_at: until when the group waits, null for ever;
        -- declined_by: the user with the number who doesn't want to be a member; also_added_by: a few further inviters, since a user who
        -- blocks the first may want the others.
        CREATE TABLE members (
            group_id uuid NOT NULL REFERENCES groups,
            member_id uuid NOT NULL,
            user_id uuid,
            phone text CHECK (phone ~ '^[1-9][0-9]{3,14}$'),
            display_name text,
            added_by uuid NOT NULL,
            added_at timestamptz NOT NULL,
            linked_at timestamptz,
            role text NOT NULL DEFAULT 'member' CHECK (role IN ('member', 'admin')),
            confirmed_by uuid,
            unconfirmed_at timestamptz,
            expires_at timestamptz,
            declined_by uuid,
            also_added_by uuid[] NOT NULL DEFAULT '{}',
            PRIMARY KEY (group_id, member_id),
            CONSTRAINT members_user_or_phone CHECK (user_id IS NOT NULL OR phone IS NOT NULL),
            CONSTRAINT members_linked CHECK ((user_id IS NULL) = (linked_at IS NULL))
        );
        CREATE UNIQUE INDEX members_user ON members (user_id, group_id) WHERE user_id IS NOT NULL;
        CREATE UNIQUE INDEX members_pending_phone ON members (phone, group_id) WHERE user_id IS NULL;
        -- How many pending members a user has added.
        CREATE INDEX members_pending_added_by ON members (added_by) WHERE user_id IS NULL;
        CREATE INDEX members_pending_expires_at ON members (expires_at) WHERE user_id IS NULL AND expires_at IS NOT NULL;
        CREATE INDEX members_declined_by ON members (declined_by) WHERE declined_by IS NOT NULL;
        -- To delete what a user added and confirmed without reading all members of all their groups.
        CREATE INDEX members_added_by ON members (added_by, group_id);
        CREATE INDEX members_confirmed_by ON members (confirmed_by, group_id) WHERE confirmed_by IS NOT NULL;
        CREATE INDEX members_also_added_by ON members USING gin (also_added_by) WHERE also_added_by <> '{}';

        -- Numbers that a group waits for by a user who is its member already, by another number or none: if the user loses one, the group
        -- waits for it again.
        CREATE TABLE merged_numbers (
            user_id uuid NOT NULL,
            phone text NOT NULL CHECK (phone ~ '^[1-9][0-9]{3,14}$'),
            group_id uuid NOT NULL REFERENCES groups ON DELETE CASCADE,
            member_id uuid NOT NULL,
            display_name text,
            added_by uuid NOT NULL,
            added_at timestamptz NOT NULL,
            PRIMARY KEY (user_id, phone, group_id)
        );
        CREATE INDEX merged_numbers_group ON merged_numbers (group_id);
        CREATE INDEX merged_numbers_added_by ON merged_numbers (added_by, group_id);
        """

    /// Requests to join, links and blocks.
    static let invitations = """
        -- Requests to join a group in which members are confirmed.
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

        -- Links by which people join. The SHA-256 of a link's secret is enough to recognize a right token.
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

        -- Inviters whose additions a user doesn't want.
        CREATE TABLE blocked_inviters (
            user_id uuid NOT NULL,
            inviter_user_id uuid NOT NULL,
            blocked_at timestamptz NOT NULL,
            PRIMARY KEY (user_id, inviter_user_id)
        );
        CREATE INDEX blocked_inviters_inviter ON blocked_inviters (inviter_user_id);
        """

    /// Accounts that were closed, or are held.
    static let accounts = """
        -- Users whose accounts were closed, so that no request links them or admits them. What was under way in that moment is looked for
        -- once more before swept_at is set. due_at, tries: when the closing is worked on next, and how often in a row it failed.
        CREATE TABLE closed_accounts (
            user_id uuid PRIMARY KEY,
            closed_at timestamptz NOT NULL,
            swept_at timestamptz,
            due_at timestamptz NOT NULL DEFAULT now(),
            tries integer NOT NULL DEFAULT 0
        );
        CREATE INDEX closed_accounts_closed_at ON closed_accounts (closed_at);
        CREATE INDEX closed_accounts_due_at ON closed_accounts (due_at) WHERE swept_at IS NULL;

        -- Users for whom nothing changes until it is decided whether their account is merged into another one.
        CREATE TABLE held_accounts (
            user_id uuid PRIMARY KEY,
            absorption_id uuid NOT NULL,
            held_at timestamptz NOT NULL
        );

        -- Merges that were refused, so that a call that comes late holds nobody.
        CREATE TABLE refused_absorptions (
            absorption_id uuid PRIMARY KEY,
            refused_at timestamptz NOT NULL
        );
        CREATE INDEX refused_absorptions_refused_at ON refused_absorptions (refused_at);
        """

    /// Guests whose account another one has absorbed.
    static let guests = """
        -- successor: the account that takes the user's place in groups; null for none.
        ALTER TABLE closed_accounts ADD COLUMN successor uuid;
        """
}
