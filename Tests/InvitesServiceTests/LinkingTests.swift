import API
import Models
import RPC
import Testing

@testable import InvitesService

@Suite(.serialized) struct LinkingTests {
    @Test func `A number without a user waits, and becomes a member when it is claimed`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let jose = someone()
            let group = try await service.group(by: maria)
            let pending = try await service.add(phone(1), named: "Jose", to: group, by: maria)
            #expect(pending.state == .pending)
            #expect(pending.userID.isEmpty)
            #expect(pending.phoneNumber == e164(1))
            #expect(pending.displayName == "Jose")
            #expect(try await service.groups(of: jose).groups.isEmpty)

            #expect(try await service.apply(claimed(1, by: jose)) == 1)
            let members = try await service.members(of: group, askedBy: jose).members
            #expect(members.count == 2)
            #expect(members[1].memberID == pending.memberID, "the membership is the same one")
            #expect(members[1].state == .member)
            #expect(members[1].userID == jose.description)
            #expect(members[1].displayName == "Jose")
            #expect(try await service.groups(of: jose).groups.map(\.groupID) == [group])
        }
    }

    @Test func `A user's number makes a member at once`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let jose = someone()
            #expect(try await service.apply(claimed(1, by: jose)) == 0)
            let group = try await service.group(by: maria)
            let member = try await service.add(phone(1), to: group, by: maria)
            #expect(member.state == .member)
            #expect(member.userID == jose.description)
        }
    }

    @Test func `The same number again is the existing member, in every notation and state`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let jose = someone()
            let group = try await service.group(by: maria)
            let first = try await service.add(phone(1), named: "Jose", to: group, by: maria)
            #expect(try await service.add(e164(1), named: "Pepe", to: group, by: maria) == first)
            try await service.apply(claimed(1, by: jose))
            let linked = try await service.add("00" + e164(1).dropFirst(), to: group, by: maria)
            #expect(linked.memberID == first.memberID)
            #expect(linked.state == .member)
            // After the member gave it up, the number waits in a second place; its user then adds nobody.
            try await service.apply(released(1, by: jose))
            #expect(await outcome { try await service.add(phone(1), to: group, by: jose) } == "MEMBER_UNCONFIRMED")
            let awaited = try await service.add(phone(1), to: group, by: maria)
            #expect(awaited.state == .pending && awaited.memberID != first.memberID)
            #expect(try await service.members(of: group, askedBy: maria).members.count == 3)
        }
    }

    @Test func `All groups that wait for a number are linked at once`() async throws {
        try await InvitesFixture.run { service in
            let jose = someone()
            for number in 0..<5 {
                let maria = someone()
                let group = try await service.group("Group \(number)", by: maria)
                try await service.add(phone(1), to: group, by: maria)
            }
            #expect(try await service.apply(claimed(1, by: jose)) == 5)
            #expect(try await service.groups(of: jose).groups.count == 5)
        }
    }

    @Test func `A number that was given up waits for its next owner`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let jose = someone()
            let ana = someone()
            let group = try await service.group(by: maria)
            try await service.apply(claimed(1, by: jose), released(1, by: jose))
            #expect(try await service.add(phone(1), to: group, by: maria).state == .pending)
            #expect(try await service.apply(claimed(1, by: ana)) == 1)
            #expect(try await service.groups(of: ana).groups.count == 1)
            #expect(try await service.groups(of: jose).groups.isEmpty)
        }
    }

    @Test func `A number's new owner is added beside the user who was added by it before`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let jose = someone()
            let ana = someone()
            let group = try await service.group(by: maria)
            try await service.add(phone(1), to: group, by: maria)
            try await service.apply(claimed(1, by: jose), released(1, by: jose), claimed(1, by: ana))
            let added = try await service.add(phone(1), to: group, by: maria)
            #expect(added.userID == ana.description)
            let users = try await service.members(of: group, askedBy: ana).members.map(\.userID)
            #expect(users == [maria, jose, ana].map(\.description))
        }
    }

    @Test func `A late release takes nothing from the new owner`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let jose = someone()
            let ana = someone()
            let group = try await service.group(by: maria)
            try await service.apply(claimed(1, by: ana))
            try await service.apply(released(1, by: jose))
            #expect(try await service.add(phone(1), to: group, by: maria).userID == ana.description)
        }
    }

    @Test func `A user who is a member already is in the group once`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let group = try await service.group(by: maria, called: "Maria")
            // The creator's own number, which the service doesn't know yet.
            try await service.add(phone(1), to: group, by: maria)
            #expect(try await service.apply(claimed(1, by: maria)) == 0)
            let members = try await service.members(of: group, askedBy: maria).members
            #expect(members.count == 1)
            #expect(members[0].displayName == "Maria")
            #expect(try await service.add(phone(1), to: group, by: maria) == members[0])
        }
    }

    @Test func `A user who waits in a group under two numbers is in it once`() async throws {
        for oneBatch in [true, false] {
            try await InvitesFixture.run { service in
                let maria = someone()
                let jose = someone()
                let group = try await service.group(by: maria)
                let first = try await service.add(phone(1), to: group, by: maria)
                try await service.add(phone(2), to: group, by: maria)
                let events = [claimed(1, by: jose), released(1, by: jose), claimed(2, by: jose)]
                if oneBatch {
                    #expect(try await service.apply(events) == 1)
                } else {
                    for event in events { try await service.apply(event) }
                }
                let members = try await service.members(of: group, askedBy: maria).members
                // The group waits for the first number again: its user may be another by now.
                #expect(members.map(\.userID) == [maria.description, jose.description, ""])
                #expect(members[1].memberID == first.memberID && members[2].phoneNumber == e164(1))
            }
        }
    }

    @Test func `A full group accepts nobody new, and finds existing members`() async throws {
        try await InvitesFixture.run(groupMembersMax: 3) { service in
            let maria = someone()
            let group = try await service.group(by: maria)
            try await service.add(phone(1), to: group, by: maria)
            try await service.add(phone(2), to: group, by: maria)
            let error = try await failure { try await service.add(phone(3), to: group, by: maria) }
            #expect(error.code == .failedPrecondition)
            #expect(error.reason == "GROUP_FULL")
            #expect(try await service.add(phone(2), to: group, by: maria).state == .pending)
            // Pending people still get in.
            #expect(try await service.apply(claimed(1, by: someone())) == 1)
        }
    }
}
