import API
import Models
import RPC
import ServiceKit
import Testing

@testable import InvitesService

/// Numbers that are awaited for a while only.
@Suite(.serialized) struct ExpiryTests {
    private static let hour: Int64 = 3_600_000

    private static var limits: InvitesLimits {
        var limits = InvitesFixture.unlimited
        limits.pendingLifetimeMilliseconds = hour
        return limits
    }

    @Test(arguments: [AppV1.GroupOpenness.open, .confirm, .consent])
    func `An expired place is invisible to everybody, and starts again when it is added again`(
        openness: AppV1.GroupOpenness
    ) async throws {
        try await InvitesFixture.run(groupMembersMax: 2, limits: Self.limits) { service in
            let (maria, jose) = (someone(), someone())
            let group = try await service.group(openness, by: maria).groupID
            let first = try await service.add(phone(1), named: "Joey", to: group, by: maria)
            let shown = try await service.pending(of: group, askedBy: maria).people
            #expect(shown.map { $0.expiresAt.milliseconds - $0.since.milliseconds } == [Self.hour])
            service.clock.advance(milliseconds: Self.hour)
            #expect(try await service.members(of: group, askedBy: maria).members.count == 1)
            #expect(try await service.pending(of: group, askedBy: maria).people.isEmpty)
            #expect(try await service.apply(claimed(1, by: jose)) == 0)
            #expect(try await service.invitations(of: jose).invitations.isEmpty)
            #expect(try await service.groups(of: jose).groups.isEmpty)
            #expect(
                await outcome { try await service.accept(first.memberID, in: group, by: jose) }
                    == "INVITATION_NOT_FOUND"
            )
            if openness == .confirm {
                let confirmed = await outcome {
                    try await service.confirm(first.memberID, as: jose, in: group, by: maria)
                }
                #expect(confirmed == "PERSON_CHANGED")
            }
            // The place is free, and the same number gets it anew.
            let second = try await service.add(phone(1), named: "Jose", to: group, by: maria)
            #expect(second.memberID != first.memberID && second.displayName == "Jose")
            #expect(second.state == (openness == .open ? .member : openness == .confirm ? .pending : .invited))
            #expect(try await service.members(of: group, askedBy: maria).members.count == 2)
            if openness == .consent {
                #expect(try await service.accept(second.memberID, in: group, by: jose).userID == jose.description)
            }
            await service.parts.cleanup.clean()
            #expect(try await service.count("SELECT count(*) FROM members") == 2)
        }
    }

    @Test func `Expired places are cleaned up with their number, and others are not`() async throws {
        try await InvitesFixture.run(limits: Self.limits) { service in
            let (maria, jose) = (someone(), someone())
            let group = try await service.group(.confirm, by: maria).groupID
            let token = try await service.link(to: group, by: maria).token
            for number in 1...3 { try await service.add(phone(number), to: group, by: maria) }
            try await service.apply(claimed(2, by: jose))
            try await service.join(by: token, someone())
            service.clock.advance(milliseconds: Self.hour / 2)
            try await service.add(phone(4), to: group, by: maria)
            let late = someone()
            try await service.join(by: token, late)
            await service.parts.cleanup.clean()
            #expect(try await service.count("SELECT count(*) FROM members") == 5)
            service.clock.advance(milliseconds: Self.hour / 2)
            #expect(try await service.pending(of: group, askedBy: maria).people.count == 2)
            await service.parts.cleanup.clean()
            #expect(try await service.count("SELECT count(*) FROM members") == 2)
            #expect(try await service.count("SELECT count(*) FROM join_requests") == 1)
            #expect(
                try await service.count("SELECT count(*) FROM phones") == 2,
                "one that a user has, and one that is awaited"
            )
            #expect(try await service.invitations(of: late).invitations.count == 1)
        }
    }

    @Test func `Members never expire, and without a lifetime nothing does`() async throws {
        try await InvitesFixture.run(limits: Self.limits) { service in
            let (maria, jose) = (someone(), someone())
            let group = try await service.group(by: maria)
            try await service.add(phone(1), to: group, by: maria)
            #expect(try await service.apply(claimed(1, by: jose)) == 1)
            service.clock.advance(milliseconds: 10 * Self.hour)
            await service.parts.cleanup.clean()
            #expect(try await service.members(of: group, askedBy: jose).members.count == 2)
        }
        try await InvitesFixture.run { service in
            let maria = someone()
            let group = try await service.group(by: maria)
            try await service.add(phone(1), to: group, by: maria)
            service.clock.advance(milliseconds: 3_650 * 86_400_000)
            await service.parts.cleanup.clean()
            #expect(try await service.members(of: group, askedBy: maria).members.count == 2)
        }
    }
}
