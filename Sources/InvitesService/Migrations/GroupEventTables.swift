// The triggers write after all locks of their statement are held and wait for nobody: they read, and insert where nobody else does.
// Every statement that changes a member, a group or the user of a number is logged.
//
// Numbers and members are looked for by their keys: `linked_at` for `user_id`, and OFFSET 0, keep plans from the partial indexes of those that
// have a user, which look empty to a plan that was made when nobody had one, and are read whole by it ever after.
enum GroupEventTables {
    /// The maximum of changes of one statement in one group that are logged one by one; more of them are logged as one.
    private static let membersToldMax = 16

    /// Changes for subscribers, kept for a day unless configured otherwise. `user_id` is the recipient; null stands for the members of the group
    /// at the time of delivery. `xid` is the writer's transaction: with it a snapshot shows what was not visible before. Ids only, no names.
    static let tables = """
        CREATE TABLE group_events (
            id bigint GENERATED ALWAYS AS IDENTITY,
            xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
            kind text NOT NULL CHECK (kind IN
                ('group.joined', 'group.left', 'group.changed', 'member.changed', 'invitation.changed')),
            user_id uuid,
            group_id uuid,
            member_id uuid,
            made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
            PRIMARY KEY (xid, id)
        );
        CREATE INDEX group_events_user ON group_events (user_id, xid) WHERE user_id IS NOT NULL;
        CREATE INDEX group_events_group ON group_events (group_id, xid) WHERE user_id IS NULL;
        CREATE INDEX group_events_made_at ON group_events (made_at);

        -- Empty after a crash, a failover and a restore, as unlogged tables are: then numbers of transactions may mean others than
        -- before, and whoever watches begins anew under another epoch.
        CREATE UNLOGGED TABLE group_event_epoch (
            singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
            epoch uuid NOT NULL DEFAULT gen_random_uuid()
        );
        """

    /// Triggers on members. One statement often adds or removes many, so one call logs all; most updates change nothing, which a condition
    /// finds without a call. A refusal by an invited user, and the expiry of a pending number, are not sent to members: they must not learn
    /// whether the number has a user.
    static let members = """
        CREATE FUNCTION log_added_members() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        BEGIN
            INSERT INTO group_events (kind, user_id, group_id, member_id)
                SELECT 'group.joined', user_id, group_id, member_id FROM rows WHERE user_id IS NOT NULL
                UNION ALL
                SELECT DISTINCT 'member.changed', NULL::uuid, group_id,
                    CASE WHEN count(*) OVER (PARTITION BY group_id) <= \(membersToldMax) THEN member_id END
                FROM rows
                UNION ALL
                SELECT DISTINCT 'invitation.changed', p.user_id, NULL::uuid, NULL::uuid
                FROM rows r JOIN groups g ON g.group_id = r.group_id AND g.openness <> 'open'
                CROSS JOIN LATERAL (SELECT user_id FROM phones WHERE phone = r.phone OFFSET 0) p
                WHERE r.user_id IS NULL AND p.user_id IS NOT NULL;
            RETURN NULL;
        END $$;
        CREATE FUNCTION log_removed_members() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        BEGIN
            INSERT INTO group_events (kind, user_id, group_id, member_id)
                SELECT 'group.left', user_id, group_id, member_id FROM rows WHERE user_id IS NOT NULL
                UNION ALL
                SELECT DISTINCT 'member.changed', NULL::uuid, group_id,
                    CASE WHEN count(*) OVER (PARTITION BY group_id) <= \(membersToldMax) THEN member_id END
                FROM rows
                UNION ALL
                -- Whatever its openness was: its row may be gone by now.
                SELECT DISTINCT 'invitation.changed', p.user_id, NULL::uuid, NULL::uuid
                FROM rows r CROSS JOIN LATERAL (SELECT user_id FROM phones WHERE phone = r.phone OFFSET 0) p
                WHERE r.user_id IS NULL AND p.user_id IS NOT NULL;
            RETURN NULL;
        END $$;
        CREATE FUNCTION log_changed_member() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        BEGIN
            IF OLD.user_id IS DISTINCT FROM NEW.user_id THEN
                INSERT INTO group_events (kind, user_id, group_id, member_id)
                    SELECT 'group.left', OLD.user_id, OLD.group_id, OLD.member_id WHERE OLD.user_id IS NOT NULL
                    UNION ALL
                    SELECT 'group.joined', NEW.user_id, NEW.group_id, NEW.member_id WHERE NEW.user_id IS NOT NULL
                    UNION ALL
                    SELECT 'member.changed', NULL::uuid, NEW.group_id, NEW.member_id;
            ELSIF (OLD.phone, OLD.display_name, OLD.role, OLD.confirmed_by, OLD.unconfirmed_at)
                IS DISTINCT FROM (NEW.phone, NEW.display_name, NEW.role, NEW.confirmed_by, NEW.unconfirmed_at) THEN
                INSERT INTO group_events (kind, group_id, member_id) VALUES ('member.changed', NEW.group_id, NEW.member_id);
            END IF;
            IF (OLD.user_id IS NULL OR NEW.user_id IS NULL)
                AND EXISTS (SELECT FROM groups WHERE group_id = NEW.group_id AND openness <> 'open') THEN
                INSERT INTO group_events (kind, user_id)
                    SELECT DISTINCT 'invitation.changed', p.user_id
                    FROM (SELECT user_id FROM phones WHERE phone IN (OLD.phone, NEW.phone) OFFSET 0) p
                    WHERE p.user_id IS NOT NULL;
            END IF;
            RETURN NULL;
        END $$;
        CREATE TRIGGER members_added AFTER INSERT ON members REFERENCING NEW TABLE AS rows FOR EACH STATEMENT
            EXECUTE FUNCTION log_added_members();
        CREATE TRIGGER members_removed AFTER DELETE ON members REFERENCING OLD TABLE AS rows FOR EACH STATEMENT
            EXECUTE FUNCTION log_removed_members();
        -- Of these columns alone: who has added somebody is shown to nobody.
        CREATE TRIGGER members_changed AFTER UPDATE ON members FOR EACH ROW
            WHEN ((OLD.user_id, OLD.phone, OLD.display_name, OLD.role, OLD.confirmed_by, OLD.unconfirmed_at, OLD.declined_by,
                    OLD.expires_at)
                IS DISTINCT FROM (NEW.user_id, NEW.phone, NEW.display_name, NEW.role, NEW.confirmed_by, NEW.unconfirmed_at,
                    NEW.declined_by, NEW.expires_at))
            EXECUTE FUNCTION log_changed_member();
        """

    /// Triggers on groups. A deleted group has lost its members before. A change is one row for all pending members, however many there are: it
    /// is sent to the users who are invited at the time of delivery (`invitation.changed` with a group and no user). Only if the group becomes
    /// open there is a row for each, since that makes them members.
    static let groups = """
        CREATE FUNCTION log_changed_group() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        BEGIN
            INSERT INTO group_events (kind, user_id, group_id, member_id)
                SELECT 'group.changed', NULL::uuid, NEW.group_id, NULL::uuid
                UNION ALL
                -- Whose invitations show it.
                SELECT 'invitation.changed', NULL::uuid, NEW.group_id, NULL::uuid
                WHERE NEW.openness <> 'open'
                UNION ALL
                -- When it is told, they are invited no more.
                SELECT DISTINCT 'invitation.changed', p.user_id, NULL::uuid, NULL::uuid
                FROM members m CROSS JOIN LATERAL (SELECT user_id FROM phones WHERE phone = m.phone OFFSET 0) p
                WHERE OLD.openness <> 'open' AND NEW.openness = 'open' AND p.user_id IS NOT NULL
                    AND m.group_id = NEW.group_id AND m.user_id IS NULL AND m.declined_by IS DISTINCT FROM p.user_id
                    AND EXISTS (SELECT FROM unnest(m.added_by || m.also_added_by) inviter
                        WHERE NOT EXISTS (SELECT FROM blocked_inviters b
                            WHERE b.user_id = p.user_id AND b.inviter_user_id = inviter));
            RETURN NULL;
        END $$;
        CREATE TRIGGER groups_changed AFTER UPDATE OF name, openness, owner_user_id ON groups FOR EACH ROW
            WHEN ((OLD.name, OLD.openness, OLD.owner_user_id) IS DISTINCT FROM (NEW.name, NEW.openness, NEW.owner_user_id))
            EXECUTE FUNCTION log_changed_group();
        """

    /// Triggers on the users of numbers. A pending member is another user's invitation when the number changes hands. In a group that confirms,
    /// only members who may confirm see whether the number has a user; they get an event only if they can see that user: not if the user
    /// declined, or blocks the inviters or the recipient.
    static let phones = """
        CREATE FUNCTION log_number() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        DECLARE
            number text;
            people uuid[] = '{}';
        BEGIN
            IF TG_OP <> 'INSERT' THEN number = OLD.phone; people = people || OLD.user_id; END IF;
            IF TG_OP <> 'DELETE' THEN number = NEW.phone; people = people || NEW.user_id; END IF;
            -- Mostly only open groups wait for a number, or none.
            IF NOT EXISTS (
                SELECT FROM members m JOIN groups g ON g.group_id = m.group_id AND g.openness <> 'open'
                WHERE m.phone = number AND m.user_id IS NULL) THEN RETURN NULL; END IF;
            INSERT INTO group_events (kind, user_id, group_id, member_id)
                SELECT 'invitation.changed', person, NULL::uuid, NULL::uuid FROM unnest(people) person
                WHERE person IS NOT NULL
                UNION ALL
                SELECT DISTINCT 'member.changed', who.user_id, m.group_id, m.member_id
                FROM members m JOIN groups g ON g.group_id = m.group_id AND g.openness = 'confirm'
                JOIN members who ON who.group_id = m.group_id AND who.linked_at IS NOT NULL
                    AND (who.role = 'admin' OR who.user_id IN (g.owner_user_id, m.added_by) OR who.user_id = ANY(m.also_added_by))
                WHERE m.phone = number AND m.user_id IS NULL AND EXISTS (
                    SELECT FROM unnest(people) person
                    WHERE person IS NOT NULL AND person IS DISTINCT FROM m.declined_by
                        AND NOT EXISTS (SELECT FROM blocked_inviters b
                            WHERE b.user_id = person AND b.inviter_user_id = who.user_id)
                        AND EXISTS (SELECT FROM unnest(m.added_by || m.also_added_by) inviter
                            WHERE NOT EXISTS (SELECT FROM blocked_inviters b
                                WHERE b.user_id = person AND b.inviter_user_id = inviter)));
            RETURN NULL;
        END $$;
        CREATE TRIGGER phones_added AFTER INSERT ON phones FOR EACH ROW WHEN (NEW.user_id IS NOT NULL)
            EXECUTE FUNCTION log_number();
        CREATE TRIGGER phones_changed AFTER UPDATE OF user_id ON phones FOR EACH ROW
            WHEN (OLD.user_id IS DISTINCT FROM NEW.user_id) EXECUTE FUNCTION log_number();
        CREATE TRIGGER phones_removed AFTER DELETE ON phones FOR EACH ROW WHEN (OLD.user_id IS NOT NULL)
            EXECUTE FUNCTION log_number();

        -- A member is no longer unproven, or is again. When the number changes hands the members change, which is logged for them.
        CREATE FUNCTION log_proof() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        BEGIN
            INSERT INTO group_events (kind, group_id, member_id)
                SELECT 'member.changed', group_id, member_id FROM members
                WHERE user_id = NEW.user_id AND phone = NEW.phone AND confirmed_by IS NULL AND role = 'member';
            RETURN NULL;
        END $$;
        CREATE TRIGGER phones_proven AFTER UPDATE OF proven_by ON phones FOR EACH ROW
            WHEN (OLD.user_id = NEW.user_id AND OLD.proven_by IS DISTINCT FROM NEW.proven_by) EXECUTE FUNCTION log_proof();
        """

    /// Triggers on requests to join. The requesting user sees them among their invitations, and members who may confirm among the pending.
    static let requests = """
        CREATE FUNCTION log_join_request() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        DECLARE
            request join_requests;
        BEGIN
            IF TG_OP = 'DELETE' THEN request = OLD; ELSE request = NEW; END IF;
            INSERT INTO group_events (kind, user_id, group_id, member_id)
                SELECT 'invitation.changed', request.user_id, NULL::uuid, NULL::uuid
                UNION ALL
                SELECT DISTINCT 'member.changed', who.user_id, request.group_id, request.member_id
                FROM groups g JOIN members who ON who.group_id = g.group_id AND who.linked_at IS NOT NULL
                    AND (who.role = 'admin' OR who.user_id = g.owner_user_id)
                WHERE g.group_id = request.group_id;
            RETURN NULL;
        END $$;
        CREATE TRIGGER join_requests_changed AFTER INSERT OR UPDATE OR DELETE ON join_requests FOR EACH ROW
            EXECUTE FUNCTION log_join_request();
        """
}
