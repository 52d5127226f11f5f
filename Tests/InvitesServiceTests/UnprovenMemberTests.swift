import API
import Models
import Postgres
import RPC
import ServiceModels
import Testing

@testable import InvitesService

/// Members by a number that nobody has proven: anybody may type one.
struct UnprovenMemberTests {
    /// The group's owner, a stranger who typed a number that the group waited for, and the group.
    private struct Scene {
        let service: InvitesFixture
        let maria = someone()
        let stranger = someone()
        let group: String
        let memberID: String

        init(_ service: InvitesFixture, _ openness: AppV1.GroupOpenness = .open) async throws {
            self.service = service
            group = try await service.group(openness, by: maria).groupID
            memberID = try await service.add(phone(1), to: group, by: maria).memberID
            try await service.apply(claimed(1, by: stranger, isProven: false))
            if openness == .consent { try await service.accept(memberID, in: group, by: stranger) }
        }

        /// The stranger's membership as the owner sees it.
        func member() async throws -> AppV1.Member {
            let members = try await service.members(of: group, askedBy: maria, size: 100).members
            return try #require(members.first { $0.memberID == memberID })
        }

        func adding(_ number: Int = 2) async -> String {
            await outcome { try await service.add(phone(number), to: group, by: stranger) }
        }
    }

    @Test(arguments: [AppV1.GroupOpenness.open, .consent])
    func `A user who typed a pending number is marked, and adds nobody until confirmed`(
        openness: AppV1.GroupOpenness
    ) async throws {
        try await InvitesFixture.run { service in
            let scene = try await Scene(service, openness)
            var member = try await scene.member()
            #expect(member.state == .member && member.userID == scene.stranger.description)
            #expect(member.isUnproven && !member.isUnconfirmed)
            let refused = try await failure { try await service.add(phone(2), to: scene.group, by: scene.stranger) }
            #expect(refused.code == .permissionDenied && refused.reason == "MEMBER_UNCONFIRMED")
            let many = await outcome {
                try await service.add([phone(2), phone(3)], to: scene.group, by: scene.stranger)
            }
            #expect(many == "MEMBER_UNCONFIRMED")
            #expect(
                await outcome { try await service.link(to: scene.group, by: scene.stranger) } == "ROLE_INSUFFICIENT"
            )
            #expect(try await service.count("SELECT count(*) FROM phones") == 1, "a refused call stores nothing")
            #expect(try await service.count("SELECT count(*) FROM asked_numbers") == 1, "and counts nothing")
            let vouching = await outcome {
                try await service.confirm(scene.memberID, as: scene.stranger, in: scene.group, by: scene.stranger)
            }
            #expect(vouching != "done", "nobody vouches for themselves")
            member = try await service.confirm(scene.memberID, as: scene.stranger, in: scene.group, by: scene.maria)
            #expect(!member.isUnproven)
            #expect(await scene.adding() == "done")
        }
    }

    @Test func `Proving the number ends it, for as long as the user has the number`() async throws {
        try await InvitesFixture.run { service in
            let scene = try await Scene(service)
            #expect(await scene.adding() == "MEMBER_UNCONFIRMED")
            let watched = try await service.count("SELECT count(*) FROM group_events WHERE kind = 'member.changed'")
            try await service.apply(claimed(1, by: scene.stranger))
            #expect(try await !scene.member().isUnproven)
            #expect(
                try await service.count("SELECT count(*) FROM group_events WHERE kind = 'member.changed'") == watched
                    + 1,
                "watchers are notified"
            )
            #expect(await scene.adding() == "done")
            // Given up, and typed again by the same user: a former proof says nothing about today.
            try await service.apply(released(1, by: scene.stranger))
            #expect(try await scene.member().isUnconfirmed)
            #expect(await scene.adding(3) == "MEMBER_UNCONFIRMED")
            try await service.apply(claimed(1, by: scene.stranger, isProven: false))
            #expect(try await scene.member().isUnproven)
        }
    }

    @Test func `An earlier version ends a proof without knowing about it`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(1, by: maria))
            // The way it hands numbers over, and deletes users.
            for owner in [jose.uuid, nil] {
                try await service.database.execute("UPDATE phones SET user_id = \(owner)")
                #expect(try await service.count("SELECT count(*) FROM phones WHERE proven_by IS NOT NULL") == 0)
            }
        }
    }

    @Test func `A user who is added by a number that they already have is marked, unless it is proven`() async throws {
        try await InvitesFixture.run { service in
            let (maria, typist, prover) = (someone(), someone(), someone())
            let group = try await service.group(by: maria)
            try await service.apply(claimed(1, by: typist, isProven: false), claimed(2, by: prover))
            #expect(try await service.add(phone(1), to: group, by: maria).isUnproven)
            #expect(try await !service.add(phone(2), to: group, by: maria).isUnproven)
            let members = try await service.members(of: group, askedBy: maria).members
            #expect(members.map(\.isUnproven) == [false, true, false])
        }
    }

    @Test func `A group's creator, users who joined by a link, and admins and owners are never marked`() async throws {
        try await InvitesFixture.run { service in
            let scene = try await Scene(service)
            let guest = someone()
            try await service.apply(claimed(7, by: guest, isProven: false))
            try await service.join(by: service.link(to: scene.group, by: scene.maria).token, guest)
            #expect(await outcome { try await service.add(phone(2), to: scene.group, by: guest) } == "done")
            try await service.setRole(.admin, of: scene.memberID, in: scene.group, by: scene.maria)
            #expect(try await !scene.member().isUnproven)
            #expect(await scene.adding(3) == "done")
            // A group's creator added themselves, whatever number they typed.
            let own = try await service.group(by: scene.stranger)
            #expect(await outcome { try await service.add(phone(4), to: own, by: scene.stranger) } == "done")
        }
    }

    @Test func `An unproven member confirms nobody, not even people added before`() async throws {
        try await InvitesFixture.run { service in
            let scene = try await Scene(service)
            let friend = someone()
            try await service.apply(claimed(1, by: scene.stranger))
            #expect(await scene.adding(5) == "done")
            try await service.apply(claimed(5, by: friend, isProven: false))
            let row = try await service.memberID(of: friend, in: scene.group, askedBy: scene.maria)
            try await service.apply(claimed(1, by: scene.stranger, isProven: false))
            func confirming() async -> String {
                await outcome { try await service.confirm(row, as: friend, in: scene.group, by: scene.stranger) }
            }
            #expect(await confirming() == "MEMBER_UNCONFIRMED")
            try await service.confirm(scene.memberID, as: scene.stranger, in: scene.group, by: scene.maria)
            #expect(await confirming() == "done")
        }
    }
}

/// Who sees the number that a member was added by.
struct NumberVisibilityTests {
    /// The numbers in a group's list of members as a user sees them, by the members' names.
    private func shown(
        _ group: String,
        to user: UserID,
        _ service: InvitesFixture
    ) async throws -> [String: String] {
        let members = try await service.members(of: group, askedBy: user, size: 100).members
        return Dictionary(uniqueKeysWithValues: members.map { ($0.displayName, $0.phoneNumber) })
    }

    @Test(arguments: [AppV1.GroupOpenness.open, .confirm, .consent])
    func `A number is shown to its person, to its inviters, to admins and to the owner`(
        openness: AppV1.GroupOpenness
    ) async throws {
        try await InvitesFixture.run { service in
            let (maria, jose, ana, ben) = (someone(), someone(), someone(), someone())
            let group = try await service.group(by: maria, called: "Maria")
            for (number, user, name) in [(1, jose, "Jose"), (2, ana, "Ana"), (3, ben, "Ben")] {
                try await service.apply(claimed(number, by: user))
                try await service.add(phone(number), named: name, to: group, by: maria)
            }
            let anaID = try await service.memberID(of: ana, in: group, askedBy: maria)
            _ = try await service.update(group, by: maria, openness: openness)
            // Pending: added by Jose, and by Ben after him.
            let added = try await service.add(phone(9), named: "Cleo", to: group, by: jose)
            #expect(added.phoneNumber == e164(9))
            let all = ["Maria": "", "Jose": e164(1), "Ana": e164(2), "Ben": e164(3), "Cleo": e164(9)]
            #expect(try await shown(group, to: maria, service) == all)
            #expect(
                try await shown(group, to: jose, service)
                    == all.merging(["Ana": "", "Ben": ""]) { $1 },
                "himself, and whom he added"
            )
            let none = ["Maria": "", "Jose": "", "Ana": "", "Ben": "", "Cleo": ""]
            #expect(try await shown(group, to: ben, service) == none.merging(["Ben": e164(3)]) { $1 })
            #expect(
                try await service.add(phone(9), named: "C", to: group, by: ben).phoneNumber == e164(9),
                "he named it"
            )
            #expect(try await shown(group, to: ben, service)["Cleo"] == e164(9))
            #expect(try await shown(group, to: ana, service)["Cleo"] == "")
            for (user, isShown) in [(maria, true), (jose, true), (ben, true), (ana, false)] {
                let people = try await service.pending(of: group, askedBy: user).people
                #expect(people.map(\.phoneNumber) == [isShown ? e164(9) : ""])
            }
            try await service.setRole(.admin, of: anaID, in: group, by: maria)
            #expect(try await shown(group, to: ana, service) == all)
        }
    }

    @Test func `An inviter who used another number isn't shown the number of the membership`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            let group = try await service.group(by: maria)
            try await service.apply(claimed(1, by: jose), claimed(2, by: ana), claimed(3, by: ana))
            for number in [1, 2] { try await service.add(phone(number), to: group, by: maria) }
            let recognized = try await service.add(phone(3), to: group, by: jose)
            #expect(recognized.userID == ana.description && recognized.phoneNumber == "")
            #expect(try await service.add(phone(3), to: group, by: maria).phoneNumber == e164(2))
            let results = try await service.add([phone(2), phone(3)], to: group, by: jose)
            #expect(results.map(\.member.phoneNumber) == [e164(2), ""], "but by the one that is named")
        }
    }

    @Test func `Confirming or accepting shows a member nothing more`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            let group = try await service.group(.confirm, by: maria).groupID
            try await service.apply(claimed(1, by: jose), claimed(2, by: ana))
            let row = try await service.add(phone(1), to: group, by: maria).memberID
            #expect(try await service.confirm(row, as: jose, in: group, by: maria).phoneNumber == e164(1))
            let other = try await service.add(phone(2), to: group, by: jose).memberID
            #expect(try await service.confirm(other, as: ana, in: group, by: jose).phoneNumber == e164(2))
            #expect(try await service.members(of: group, askedBy: ana).members.map(\.phoneNumber) == ["", "", e164(2)])
        }
    }

    @Test(arguments: ["李", "J", " O\u{302} ", "👩‍👩‍👧"]) func `A person's name may have a single character`(name: String)
        async throws
    {
        try await InvitesFixture.run { service in
            let maria = someone()
            let group = try await service.group(by: maria, called: "M")
            let member = try await service.add(phone(1), named: name, to: group, by: maria)
            #expect(member.displayName.count == 1)
            #expect(
                try await service.members(of: group, askedBy: maria).members.map(\.displayName) == [
                    "M", member.displayName,
                ]
            )
        }
    }
}
