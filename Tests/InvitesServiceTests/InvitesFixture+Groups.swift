import API
import Models
import RPC
import SwiftProtobuf

@testable import InvitesService

/// Managing groups, as tests say it.
extension InvitesFixture {
    /// Creates a group of an openness.
    func group(_ openness: AppV1.GroupOpenness, by user: UserID) async throws -> AppV1.Group {
        try await client.createGroup(
            .with { ($0.name, $0.openness) = ("Hikers", openness) },
            options: options(for: user)
        ).group
    }

    /// A group as a user sees it.
    func group(_ group: String, askedBy user: UserID) async throws -> AppV1.Group {
        try await client.getGroup(.with { $0.groupID = group }, options: options(for: user)).group
    }

    /// Adds numbers at once, each under a name that passes.
    func add(
        _ phones: [String],
        to group: String,
        by user: UserID,
        from address: String? = nil
    ) async throws -> [AppV1.AddMembersResult] {
        var options = options(for: user)
        if let address { options.metadata.add("vestibule-client-address", address) }
        return try await client.addMembers(
            .with {
                $0.groupID = group
                $0.members = phones.map { phone in .with { ($0.phoneNumber, $0.displayName) = (phone, "Invitee") } }
            },
            options: options
        ).results
    }

    /// Makes users members of a group by numbers from `first` on.
    func join(_ users: [UserID], to group: String, by owner: UserID, first: Int = 500) async throws {
        for (index, user) in users.enumerated() {
            try await apply(claimed(first + index, by: user))
            try await add(phone(first + index), to: group, by: owner)
        }
    }

    /// The membership of a user in a group.
    func memberID(of user: UserID, in group: String, askedBy asker: UserID) async throws -> String {
        let members = try await members(of: group, askedBy: asker, size: 100).members
        return members.first { $0.userID == user.description }?.memberID ?? "nobody"
    }

    func update(
        _ group: String,
        by user: UserID,
        name: String? = nil,
        openness: AppV1.GroupOpenness = .unspecified
    ) async throws -> AppV1.Group {
        try await client.updateGroup(
            .with {
                $0.groupID = group
                if let name { $0.name = name }
                $0.openness = openness
            },
            options: options(for: user)
        ).group
    }

    func delete(_ group: String, by user: UserID) async throws {
        _ = try await client.deleteGroup(.with { $0.groupID = group }, options: options(for: user))
    }

    func leave(_ group: String, _ user: UserID) async throws {
        _ = try await client.leaveGroup(.with { $0.groupID = group }, options: options(for: user))
    }

    func remove(_ member: String, from group: String, by user: UserID) async throws {
        _ = try await client.removeMember(
            .with { ($0.groupID, $0.memberID) = (group, member) },
            options: options(for: user)
        )
    }

    @discardableResult
    func setRole(
        _ role: AppV1.GroupRole,
        of member: String,
        in group: String,
        by user: UserID
    ) async throws -> AppV1.Member {
        try await client.setMemberRole(
            .with { ($0.groupID, $0.memberID, $0.role) = (group, member, role) },
            options: options(for: user)
        ).member
    }

    @discardableResult
    func handOver(_ group: String, to member: String, by user: UserID) async throws -> AppV1.Group {
        try await client.handOverGroup(
            .with { ($0.groupID, $0.memberID) = (group, member) },
            options: options(for: user)
        ).group
    }
}

/// The reason of the error that a call ends with; "done" if it ends with none.
func outcome<Value>(_ body: () async throws -> Value) async -> String {
    do {
        _ = try await body()
        return "done"
    } catch {
        return (error as? RPCError)?.reason ?? "\(error)"
    }
}
