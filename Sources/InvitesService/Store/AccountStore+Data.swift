import Models
import Postgres
import ServiceKit
import ServiceModels
import ServiceStore

extension AccountStore {
    /// Returns how much data an account has.
    func trace(_ userID: UserID) async throws -> AccountTrace {
        try await AccountPlace.trace(
            userID.uuid,
            held: [
                AccountPlace("groups", "owner_user_id = person.id"),
                AccountPlace("groups", "created_by = person.id", as: "groups_made"), AccountPlace("members"),
                AccountPlace("members", "added_by = person.id", as: "members_added"),
                AccountPlace("members", "person.id = ANY(also_added_by)", as: "members_also_added"),
                AccountPlace("members", "confirmed_by = person.id", as: "members_confirmed"), AccountPlace("phones"),
                AccountPlace("members", "declined_by = person.id", as: "members_declined"),
                AccountPlace("join_requests"), AccountPlace("group_links", "created_by = person.id"),
                AccountPlace("group_link_uses"), AccountPlace("blocked_inviters"),
                AccountPlace("blocked_inviters", "inviter_user_id = person.id", as: "blocked_by"),
                AccountPlace("merged_numbers"), AccountPlace("group_keys"), AccountPlace("asked_numbers"),
                AccountPlace("held_accounts"),
                // Not delivered to identity yet.
                AccountPlace("work", "user_id = person.id AND queue = '\(ServiceEventWork.queue)'", as: "events"),
                // For the user's own devices, for a day.
                AccountPlace("group_events"),
                AccountPlace("quotas", "subject = uuid_send(person.id)"),
            ],
            kept: [
                AccountPlace("closed_accounts"),
                AccountPlace("closed_accounts", "successor = person.id", as: "guests_merged"),
            ],
            in: database
        )
    }

    /// All data of an account, as a JSON object: also the people whom the user added.
    func export(_ userID: UserID) async throws -> String {
        let user = userID.uuid
        let rows = try await database.query(
            """
            SELECT json_build_object(
                'groups', (SELECT coalesce(json_agg(listed ORDER BY group_id), '[]')
                    FROM groups listed WHERE owner_user_id = \(user) OR created_by = \(user)),
                'memberships', (SELECT coalesce(json_agg(listed ORDER BY group_id), '[]')
                    FROM members listed WHERE user_id = \(user)),
                'added', (SELECT coalesce(json_agg(listed ORDER BY group_id, member_id), '[]')
                    FROM members listed WHERE \(user) = ANY(added_by || also_added_by) AND user_id IS DISTINCT FROM \(user)),
                'confirmed', (SELECT coalesce(json_agg(listed ORDER BY group_id, member_id), '[]')
                    FROM members listed WHERE confirmed_by = \(user) AND user_id IS DISTINCT FROM \(user)),
                'declined', (SELECT coalesce(json_agg(listed ORDER BY group_id, member_id), '[]')
                    FROM members listed WHERE declined_by = \(user)),
                'join_requests', (SELECT coalesce(json_agg(listed ORDER BY group_id), '[]')
                    FROM join_requests listed WHERE user_id = \(user)),
                'links', (SELECT coalesce(json_agg(json_build_object('link_id', link_id, 'group_id', group_id,
                        'created_at', created_at, 'expires_at', expires_at, 'uses', uses) ORDER BY link_id), '[]')
                    FROM group_links WHERE created_by = \(user)),
                'used_links', (SELECT coalesce(json_agg(listed ORDER BY used_at), '[]')
                    FROM group_link_uses listed WHERE user_id = \(user)),
                'blocked_inviters', (SELECT coalesce(json_agg(listed ORDER BY inviter_user_id), '[]')
                    FROM blocked_inviters listed WHERE user_id = \(user)),
                'asked_numbers', (SELECT count(*) FROM asked_numbers WHERE user_id = \(user)),
                'phones', (SELECT coalesce(json_agg(listed), '[]') FROM phones listed WHERE user_id = \(user)),
                'further_numbers', (SELECT coalesce(json_agg(listed ORDER BY group_id, phone), '[]')
                    FROM merged_numbers listed WHERE user_id = \(user)),
                'changes', (SELECT coalesce(json_agg(listed ORDER BY xid::text, id), '[]')
                    FROM group_events listed WHERE user_id = \(user)),
                'events', (SELECT coalesce(json_agg(listed ORDER BY id), '[]') FROM work listed
                    WHERE user_id = \(user) AND queue = \(ServiceEventWork.queue))
            )::text
            """
        )
        return try rows[0].decode(0)
    }
}
