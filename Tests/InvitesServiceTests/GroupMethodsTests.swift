import API
import Models
import RPC
import Testing

@testable import InvitesService

@Suite(.serialized) struct GroupMethodsTests {
    @Test func `A new group has its creator as the first member`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            var request = AppV1.CreateGroupRequest()
            request.name = " Hikers "
            let options = service.options(for: maria, called: "Maria")
            let group = try await service.client.createGroup(request, options: options).group
            #expect(group.name == "Hikers")
            #expect(group.ownerUserID == maria.description)
            #expect(GroupID(group.groupID) != nil)
            #expect(group.createdAt.milliseconds > 1_700_000_000_000)
            #expect(try await service.groups(of: maria).groups == [group])

            let members = try await service.members(of: group.groupID, askedBy: maria).members
            #expect(members.count == 1)
            #expect(members[0].state == .member)
            #expect(members[0].userID == maria.description)
            #expect(members[0].displayName == "Maria")
            #expect(members[0].phoneNumber.isEmpty)
            #expect(members[0].groupID == group.groupID)
            #expect(try await service.groups(of: someone()).groups.isEmpty)
        }
    }

    @Test func `Groups come newest first, page by page, each once`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            var made: [String] = []
            for number in 0..<7 { made.append(try await service.group("Group \(number)", by: maria)) }
            _ = try await service.group("Another's", by: someone())

            var seen: [[String]] = []
            var token = ""
            repeat {
                let page = try await service.groups(of: maria, size: 3, token: token)
                seen.append(page.groups.map(\.groupID))
                token = page.nextPageToken
            } while !token.isEmpty
            #expect(seen.map(\.count) == [3, 3, 1])
            #expect(seen.flatMap { $0 } == made.reversed())
            // The page with the last group has no next token.
            #expect(try await service.groups(of: maria, size: 7).nextPageToken.isEmpty)
        }
    }

    @Test func `Members come oldest first, page by page, each once`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let group = try await service.group(by: maria, called: "Maria")
            for number in 0..<6 { try await service.add(phone(number), to: group, by: maria) }
            var seen: [[String]] = []
            var token = ""
            repeat {
                let page = try await service.members(of: group, askedBy: maria, size: 3, token: token)
                seen.append(page.members.map(\.phoneNumber))
                token = page.nextPageToken
            } while !token.isEmpty
            #expect(seen.map(\.count) == [3, 3, 1])
            #expect(seen.flatMap { $0 } == [""] + (0..<6).map(e164))
        }
    }

    @Test func `A page's size and token are validated`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let group = try await service.group(by: maria)
            for number in 0..<3 { try await service.add(phone(number), to: group, by: maria) }
            let size = try await failure { try await service.groups(of: maria, size: -1) }
            #expect(size.code == .invalidArgument)
            #expect(size.reason == "PAGE_SIZE_INVALID")
            let token = try await failure { try await service.groups(of: maria, token: "x") }
            #expect(token.reason == "INVALID_CURSOR")
            // One list's token is invalid for the other.
            let members = try await service.members(of: group, askedBy: maria, size: 1)
            let foreign = try await failure {
                try await service.groups(of: maria, token: members.nextPageToken)
            }
            #expect(foreign.reason == "INVALID_CURSOR")
            #expect(try await service.members(of: group, askedBy: maria, size: 1_000).members.count == 4)
        }
    }

    @Test func `A non-member can't distinguish an existing group from a missing one`() async throws {
        try await InvitesFixture.run { service in
            let group = try await service.group(by: someone())
            let outsider = someone()
            let absent = GroupID(high: 1, low: 1).description
            for id in [group, absent] {
                let list = try await failure { try await service.members(of: id, askedBy: outsider) }
                #expect(list.code == .permissionDenied)
                #expect(list.reason == "NOT_A_MEMBER")
                let add = try await failure { try await service.add(phone(1), to: id, by: outsider) }
                #expect(add.code == .permissionDenied)
                #expect(add.reason == "NOT_A_MEMBER")
            }
            #expect(try await service.count("SELECT count(*) FROM members WHERE phone IS NOT NULL") == 0)
            #expect(try await service.count("SELECT count(*) FROM phones") == 0, "a refused call stores nothing")
        }
    }

    @Test func `A malformed id is treated as unknown`() async throws {
        try await InvitesFixture.run { service in
            let group = try await failure { try await service.members(of: "mine", askedBy: someone()) }
            #expect(group.code == .notFound)
            #expect(group.reason == "GROUP_NOT_FOUND")
        }
    }

    @Test func `All invalid fields are reported together`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let group = try await failure {
                try await service.group(" ", by: maria, called: String(repeating: "M", count: 51))
            }
            #expect(group.code == .invalidArgument)
            #expect(group.fieldViolations.map(\.field) == ["name", "owner_display_name"])
            #expect(group.fieldViolations.map(\.reason) == ["GROUP_NAME_INVALID", "DISPLAY_NAME_INVALID"])
            let id = try await service.group(by: maria)
            let member = try await failure { try await service.add("12", named: "", to: id, by: maria) }
            #expect(member.code == .invalidArgument)
            #expect(member.reason == "PHONE_INVALID")
            #expect(member.fieldViolations.map(\.field) == ["phone_number", "display_name"])
            #expect(member.fieldViolations.map(\.reason) == ["PHONE_INVALID", "DISPLAY_NAME_INVALID"])
        }
    }
}
