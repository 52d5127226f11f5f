import API
import InvitesDomain
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import SwiftProtobuf
import Testing

@testable import InvitesService

/// Guests in groups, and the account that takes a guest's place.
@Suite(.serialized) struct GuestTests {
    @Test func `A guest has groups and joins others', but makes no link`() async throws {
        try await InvitesFixture.run { service in
            let (guest, maria) = (someone(), someone())
            let own = try await service.client.createGroup(
                .with { $0.name = "Ours" },
                options: service.guestOptions(for: guest)
            ).group.groupID
            let error = try await failure {
                try await service.client.createGroupLink(
                    .with { $0.groupID = own },
                    options: service.guestOptions(for: guest)
                )
            }
            #expect(error.code == .permissionDenied && error.reason == "GUEST_NOT_ALLOWED")
            #expect(try await service.count("SELECT count(*) FROM group_links") == 0)
            let group = try await service.group(by: maria)
            let token = try await service.link(to: group, by: maria).token
            _ = try await service.client.joinByLink(
                .with { $0.token = token },
                options: service.guestOptions(for: guest)
            )
            #expect(try await service.groups(of: guest).groups.count == 2)
        }
    }

    @Test func `A guest adds nobody by number, so that none learns who has one`() async throws {
        try await InvitesFixture.run { service in
            let (guest, jose) = (someone(), someone())
            _ = try await service.apply(claimed(1, by: jose))
            let options = service.guestOptions(for: guest)
            let own = try await service.client.createGroup(
                .with { ($0.name, $0.openness) = ("Ours", .open) },
                options: options
            ).group.groupID
            let alone = try await failure {
                try await service.client.addMember(
                    .with { ($0.groupID, $0.phoneNumber, $0.displayName) = (own, phone(1), "Jose") },
                    options: options
                )
            }
            let together = try await failure {
                try await service.client.addMembers(
                    .with {
                        $0.groupID = own
                        $0.members = [.with { ($0.phoneNumber, $0.displayName) = (phone(1), "Jose") }]
                    },
                    options: options
                )
            }
            for error in [alone, together] {
                #expect(error.code == .permissionDenied && error.reason == "GUEST_NOT_ALLOWED")
            }
            #expect(try await service.groups(of: jose).groups.isEmpty)
            #expect(try await service.count("SELECT count(*) FROM asked_numbers") == 0)
        }
    }

    @Test func `A guest is held with the groups, and goes on when reopened`() async throws {
        try await InvitesFixture.run { service in
            let (guest, maria) = (someone(), someone())
            _ = try await service.group(by: guest)
            #expect(try await service.holdGuest(guest, EventID.of(1)))
            #expect(try await failure { try await service.group(by: guest) }.reason == "ACCOUNT_HELD")
            let token = try await service.link(to: service.group(by: maria), by: maria).token
            #expect(try await failure { try await service.join(by: token, guest) }.reason == "ACCOUNT_HELD")
            try await service.reopen(guest, EventID.of(1))
            try await service.join(by: token, guest)
            #expect(try await service.groups(of: guest).groups.count == 2)
        }
    }

    @Test func `The successor is member, owner and inviter where the guest was, in every group`() async throws {
        try await InvitesFixture.run { service in
            let (guest, user, maria) = (someone(), someone(), someone())
            // One that the guest owns, one where both are, one where the guest is an admin and the user a member, one that is Maria's.
            let own = try await service.group("Own", by: guest)
            try await service.add(phone(1), named: "Jose", to: own, by: guest)
            let both = try await service.group("Both", by: maria)
            let admin = try await service.group("Admin", by: maria)
            let theirs = try await service.group("Theirs", by: maria)
            for group in [both, admin, theirs] {
                let token = try await service.link(to: group, by: maria).token
                try await service.join(by: token, guest)
                if group != theirs { try await service.join(by: token, user) }
            }
            let membership = try await service.memberID(of: guest, in: admin, askedBy: maria)
            try await service.setRole(.admin, of: membership, in: admin, by: maria)
            let kept = try await service.memberID(of: guest, in: theirs, askedBy: maria)
            #expect(try await service.holdGuest(guest, EventID.of(1)))
            for _ in 0..<2 { try await service.close(guest, successor: user) }

            #expect(try await service.groups(of: user).groups.count == 4)
            #expect(try await service.groups(of: guest).groups.isEmpty)
            #expect(try await service.group(own, askedBy: user).role == .owner)
            #expect(try await service.group(admin, askedBy: user).role == .admin)
            #expect(try await service.group(both, askedBy: user).role == .member)
            #expect(try await service.memberID(of: user, in: theirs, askedBy: maria) == kept)
            for group in [own, both, admin, theirs] {
                let members = try await service.members(of: group, askedBy: user, size: 100).members
                #expect(members.filter { $0.userID == user.description }.count == 1)
                #expect(!members.contains { $0.userID == guest.description })
            }
            // Whom the guest has added is still added, by the user.
            let adders = try await service.count(
                "SELECT count(*) FROM members WHERE user_id IS NULL AND added_by::text = '\(user)'"
            )
            #expect(adders == 1)
            // No trace of the guest is left but that the account is closed.
            let traces = try await service.count(
                """
                SELECT (SELECT count(*) FROM members WHERE '\(guest)' IN (user_id::text, added_by::text, confirmed_by::text))
                    + (SELECT count(*) FROM groups WHERE '\(guest)' IN (owner_user_id::text, created_by::text))
                    + (SELECT count(*) FROM held_accounts)
                """
            )
            #expect(traces == 0)
        }
    }

    @Test func `Requests to join and blocks are handed on`() async throws {
        try await InvitesFixture.run { service in
            let (guest, user, maria, jose) = (someone(), someone(), someone(), someone())
            let closed = try await service.group(.confirm, by: maria).groupID
            let asked = try await service.group(.confirm, by: maria).groupID
            for group in [closed, asked] {
                let token = try await service.link(to: group, by: maria).token
                try await service.join(by: token, guest)
                if group == asked { try await service.join(by: token, user) }
            }
            try await service.block(jose, by: guest)
            try await service.block(guest, by: maria)
            try await service.block(user, by: guest)
            try await service.close(guest, successor: user)
            let requests = try await service.count(
                "SELECT count(*) FROM join_requests WHERE user_id::text = '\(user)'"
            )
            #expect(requests == 2)
            #expect(try await service.count("SELECT count(*) FROM join_requests") == 2)
            let blocks = """
                SELECT count(*) FROM blocked_inviters
                WHERE (user_id::text, inviter_user_id::text) IN (('\(user)', '\(jose)'), ('\(maria)', '\(user)'))
                """
            #expect(try await service.count(blocks) == 2)
            #expect(try await service.count("SELECT count(*) FROM blocked_inviters") == 2)
        }
    }

    @Test func `A request to join is kept where the guest only left traces`() async throws {
        try await InvitesFixture.run { service in
            let (guest, user, maria) = (someone(), someone(), someone())
            var groups: [String] = []
            for _ in 0..<2 {
                let group = try await service.group(.confirm, by: maria).groupID
                let token = try await service.link(to: group, by: maria).token
                // The guest made the group, handed it over and left; and may want to join again.
                try await service.database.execute(
                    "UPDATE groups SET created_by = \(guest.uuid) WHERE group_id::text = \(group)"
                )
                try await service.join(by: token, groups.isEmpty ? user : guest)
                groups.append(group)
            }
            try await service.close(guest, successor: user)
            let asking = try await service.count(
                "SELECT count(*) FROM join_requests WHERE user_id::text = '\(user)' AND group_id::text = ANY('{\(groups.joined(separator: ","))}')"
            )
            #expect(asking == 2)
            #expect(try await service.groups(of: user).groups.isEmpty)
        }
    }

    @Test func `A successor who is closed takes nobody's place`() async throws {
        try await InvitesFixture.run { service in
            let (guest, user) = (someone(), someone())
            let own = try await service.group(by: guest)
            try await service.close(user)
            try await service.close(guest, successor: user)
            #expect(try await service.count("SELECT count(*) FROM groups WHERE group_id::text = '\(own)'") == 0)
        }
    }

    @Test func `An account whose guest's groups are still joining isn't empty`() async throws {
        try await InvitesFixture.run { service in
            let (guest, user) = (someone(), someone())
            _ = try await service.group(by: guest)
            // As by a call that was cut off behind its first transaction.
            try await service.parts.methods.accounts.close(
                guest,
                successor: user,
                clock: service.clock.clock,
                deadline: nil
            )
            #expect(
                try await !service.invites.closeIfEmpty(
                    .with { ($0.userID, $0.absorptionID) = (user.description, EventID.of(1).description) }
                ).isEmpty
            )
            service.clock.advance(milliseconds: AccountStore.leaseMilliseconds + 1)
            await service.parts.methods.closings.round()
            #expect(try await service.groups(of: user).groups.count == 1)
        }
    }

    @Test func `Closed beside the user's own joins and additions nothing is lost`() async throws {
        try await InvitesFixture.run { service in
            for round in 0..<6 {
                let (guest, user, maria) = (someone(), someone(), someone())
                var groups: [String] = []
                for _ in 0..<4 {
                    let group = try await service.group(by: maria)
                    let token = try await service.link(to: group, by: maria).token
                    try await service.join(by: token, guest)
                    groups.append(token)
                }
                let tokens = groups
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    tasks.addTask { try await service.close(guest, successor: user) }
                    for token in tokens { tasks.addTask { try await service.join(by: token, user) } }
                    try await tasks.waitForAll()
                }
                await service.parts.methods.closings.round()
                #expect(try await service.groups(of: user).groups.count == 4, "round \(round)")
                #expect(try await service.groups(of: guest).groups.isEmpty)
            }
        }
    }
}

extension InvitesFixture {
    /// What a gateway calls the service with on behalf of a guest.
    fileprivate func guestOptions(for user: UserID) -> CallOptions {
        let minute = CallerProof.minute(madeAtMilliseconds: clock.clock.nowMilliseconds)
        let proof = CallerProof(userID: user, sessionID: nil, isGuest: true, minute: minute)
        var options = CallOptions()
        if let key = Self.proofKey {
            options.metadata.add(CallerProofKey.metadataName, proof.text(under: key, for: "invites"))
        }
        return options
    }

    fileprivate func holdGuest(_ userID: UserID, _ absorption: EventID) async throws -> Bool {
        try await invites.closeIfEmpty(
            .with { ($0.userID, $0.absorptionID, $0.isGuest) = (userID.description, absorption.description, true) }
        ).isEmpty
    }

    fileprivate func close(_ userID: UserID, successor: UserID) async throws {
        _ = try await invites.closeAccount(
            .with { ($0.userID, $0.successorUserID) = (userID.description, successor.description) }
        )
    }
}
