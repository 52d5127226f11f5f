import API
import Models
import Postgres
import RPC
import SwiftProtobuf

@testable import InvitesService

/// Invitations, links and blocks, as tests say it.
extension InvitesFixture {
    /// What waits for a user.
    func invitations(of user: UserID, size: Int32 = 0, token: String = "") async throws
        -> AppV1
        .ListMyInvitationsResponse
    {
        try await client.listMyInvitations(
            .with { ($0.pageSize, $0.pageToken) = (size, token) },
            options: options(for: user)
        )
    }

    /// The ids of what waits for a user, newest first.
    func invitationIDs(of user: UserID) async throws -> [String] {
        try await invitations(of: user).invitations.map(\.memberID)
    }

    @discardableResult
    func accept(_ member: String, in group: String, by user: UserID) async throws -> AppV1.Member {
        try await client.acceptInvitation(
            .with { ($0.groupID, $0.memberID) = (group, member) },
            options: options(for: user)
        ).member
    }

    func decline(_ member: String, in group: String, by user: UserID) async throws {
        _ = try await client.declineInvitation(
            .with { ($0.groupID, $0.memberID) = (group, member) },
            options: options(for: user)
        )
    }

    @discardableResult
    func confirm(
        _ member: String,
        as user: UserID,
        in group: String,
        by caller: UserID
    ) async throws -> AppV1.Member {
        try await client.confirmMember(
            .with { ($0.groupID, $0.memberID, $0.confirmedUserID) = (group, member, user.description) },
            options: options(for: caller)
        ).member
    }

    /// Whom a group waits for and who is in doubt.
    func pending(
        of group: String,
        askedBy user: UserID,
        size: Int32 = 0,
        token: String = ""
    ) async throws -> AppV1.ListPendingResponse {
        try await client.listPending(
            .with { ($0.groupID, $0.pageSize, $0.pageToken) = (group, size, token) },
            options: options(for: user)
        )
    }

    /// Makes a link; 0 stands for what is so if nothing is said.
    func link(
        to group: String,
        by user: UserID,
        seconds: Int32 = 0,
        uses: Int32 = 0
    ) async throws -> AppV1.CreateGroupLinkResponse {
        try await client.createGroupLink(
            .with { ($0.groupID, $0.lifetimeSeconds, $0.usesMax) = (group, seconds, uses) },
            options: options(for: user)
        )
    }

    func links(of group: String, askedBy user: UserID) async throws -> [AppV1.GroupLink] {
        try await client.listGroupLinks(.with { $0.groupID = group }, options: options(for: user)).links
    }

    func revoke(_ link: String, of group: String, by user: UserID) async throws {
        _ = try await client.revokeGroupLink(
            .with { ($0.groupID, $0.linkID) = (group, link) },
            options: options(for: user)
        )
    }

    func preview(
        _ token: String,
        by user: UserID,
        from address: String? = nil
    ) async throws -> AppV1.PreviewGroupLinkResponse {
        var options = options(for: user)
        if let address { options.metadata.add("vestibule-client-address", address) }
        return try await client.previewGroupLink(.with { $0.token = token }, options: options)
    }

    @discardableResult
    func join(by token: String, _ user: UserID) async throws -> AppV1.JoinByLinkResponse {
        try await client.joinByLink(.with { $0.token = token }, options: options(for: user))
    }

    func block(_ inviter: UserID, by user: UserID) async throws {
        _ = try await client.blockInviter(
            .with { $0.inviterUserID = inviter.description },
            options: options(for: user)
        )
    }

    func unblock(_ inviter: UserID, by user: UserID) async throws {
        _ = try await client.unblockInviter(
            .with { $0.inviterUserID = inviter.description },
            options: options(for: user)
        )
    }

    func blocked(by user: UserID, size: Int32 = 0, token: String = "") async throws
        -> AppV1
        .ListBlockedInvitersResponse
    {
        try await client.listBlockedInviters(
            .with { ($0.pageSize, $0.pageToken) = (size, token) },
            options: options(for: user)
        )
    }

    /// Puts a member in doubt and lets the number wait beside, as a release that is no deletion leaves them.
    func doubt(_ member: String) async throws {
        let rows = try await database.execute(
            """
            WITH doubted AS (
                UPDATE members SET unconfirmed_at = now() WHERE member_id::text = \(member) RETURNING *
            )
            INSERT INTO members (group_id, member_id, phone, display_name, added_by, added_at)
            SELECT group_id, gen_random_uuid(), phone, display_name, added_by, now() FROM doubted
            """
        )
        precondition(rows.affected == 1)
    }
}
