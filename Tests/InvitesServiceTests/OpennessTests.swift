import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import Testing

@testable import InvitesService

/// A group's openness decides what adding a number does, and what it reveals.
@Suite(.serialized) struct OpennessTests {
    @Test func `A group's openness is its creator's choice, or else the deployment's`() async throws {
        try await InvitesFixture.run(groupOpenness: .confirm) { service in
            let maria = someone()
            let closed = try await service.group(.consent, by: maria)
            #expect(closed.openness == .consent)
            #expect(try await service.group(.unspecified, by: maria).openness == .confirm)
            #expect(try await service.groups(of: maria).groups.map(\.openness) == [.confirm, .consent])
            #expect(await outcome { try await service.group(.UNRECOGNIZED(9), by: maria) } == "OPENNESS_INVALID")
        }
    }

    @Test(arguments: [AppV1.GroupOpenness.confirm, .consent])
    func `A user's number waits if the group isn't open`(openness: AppV1.GroupOpenness) async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.apply(claimed(1, by: jose))
            let group = try await service.group(openness, by: maria).groupID
            let state: AppV1.MemberState = openness == .consent ? .invited : .pending
            for number in 1...2 {
                let member = try await service.add(phone(number), to: group, by: maria)
                #expect(member.state == state && member.userID.isEmpty && member.role == .unspecified)
                #expect(try await service.add(phone(number), to: group, by: maria) == member)
            }
            let members = try await service.members(of: group, askedBy: maria).members
            #expect(members.map(\.state) == [.member, state, state])
            #expect(try await service.groups(of: jose).groups.isEmpty)
        }
    }

    @Test func `In a group with consent a member's other number looks like one without a user`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let group = try await service.group(by: maria)
            try await service.apply(claimed(1, by: jose), claimed(2, by: jose))
            try await service.add(phone(1), to: group, by: maria)
            _ = try await service.update(group, by: maria, openness: .consent)
            let theirs = try await service.add(phone(2), to: group, by: maria)
            let nobodys = try await service.add(phone(3), to: group, by: maria)
            #expect(theirs.state == .invited && nobodys.state == .invited)
        }
    }

    @Test func `A group that becomes open links all numbers of users`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose, closed) = (someone(), someone(), someone())
            let group = try await service.group(.confirm, by: maria).groupID
            try await service.apply(claimed(1, by: jose), claimed(2, by: jose), claimed(3, by: closed))
            for number in 1...4 { try await service.add(phone(number), to: group, by: maria) }
            try await service.close(closed)
            _ = try await service.update(group, by: maria, openness: .open)
            let members = try await service.members(of: group, askedBy: maria).members
            #expect(members.map(\.userID) == [maria.description, jose.description, "", ""])
            #expect(members.map(\.phoneNumber) == ["", e164(1), e164(3), e164(4)], "who waited twice is there once")
            #expect(try await service.apply(claimed(4, by: someone())) == 1)
            // Opening an open group changes nothing.
            _ = try await service.update(group, by: maria, openness: .open)
            #expect(try await service.members(of: group, askedBy: maria).members.count == 4)
        }
    }

    @Test func `A group doesn't become open while a future member is held`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let group = try await service.group(.confirm, by: maria).groupID
            try await service.apply(claimed(1, by: jose))
            try await service.add(phone(1), to: group, by: maria)
            #expect(try await service.hold(jose, EventID.of(1)))
            #expect(await outcome { try await service.update(group, by: maria, openness: .open) } == "ACCOUNT_HELD")
            #expect(try await service.group(group, askedBy: maria).openness == .confirm)
            try await service.reopen(jose, EventID.of(1))
            _ = try await service.update(group, by: maria, openness: .open)
            #expect(try await service.groups(of: jose).groups.count == 1)
        }
    }

    /// A person added while a group becomes open is linked by the addition or by the opening.
    @Test(arguments: 1...3)
    func `A group that becomes open during additions leaves nobody waiting`(seed: Int) async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let numbers = (0..<10).map { 100 * seed + $0 }
            try await service.apply(numbers.map { claimed($0, by: $0 == numbers[0] ? jose : someone()) })
            let group = try await service.group(.confirm, by: maria).groupID
            try await withThrowingTaskGroup { tasks in
                for number in numbers {
                    tasks.addTask { _ = try await service.add(phone(number), to: group, by: maria) }
                }
                tasks.addTask { _ = try await service.update(group, by: maria, openness: .open) }
                try await tasks.waitForAll()
            }
            let members = try await service.members(of: group, askedBy: maria).members
            #expect(members.count == 11 && members.allSatisfy { $0.state == .member })
        }
    }

    @Test func `A group can be opened during any number of additions`() async throws {
        var limits = InvitesFixture.unlimited
        limits.userGroupChanges = .daily("changes", countMax: 1_000)
        try await InvitesFixture.run(limits: limits) { service in
            let maria = someone()
            let group = try await service.group(by: maria)
            let people = (0..<400).map { _ in someone() }
            for (index, person) in people.enumerated() { try await service.apply(claimed(index, by: person)) }
            let adders = people.prefix(8)
            for index in adders.indices { try await service.add(phone(index), to: group, by: maria) }
            try await withThrowingTaskGroup { tasks in
                for (index, adder) in adders.enumerated() {
                    tasks.addTask {
                        for number in stride(from: adders.count + index, to: people.count, by: adders.count) {
                            try await service.add(phone(number), to: group, by: adder)
                        }
                    }
                }
                tasks.addTask {
                    for _ in 0..<20 {
                        for openness in [AppV1.GroupOpenness.consent, .open] {
                            _ = try await service.update(group, by: maria, openness: openness)
                        }
                    }
                }
                try await tasks.waitForAll()
            }
            #expect(try await service.count("SELECT count(*) FROM members WHERE user_id IS NULL") == 0)
        }
    }
}
