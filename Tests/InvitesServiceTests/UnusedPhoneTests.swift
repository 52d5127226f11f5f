import API
import Models
import Postgres
import ServiceKit
import ServiceModels
import Testing

@testable import InvitesService

/// A number without a user that no group waits for is deleted.
@Suite(.serialized) struct UnusedPhoneTests {
    @Test func `The numbers that a user added are deleted with their account`() async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let (hers, his) = (try await service.group(by: maria), try await service.group(by: jose))
            try await service.apply(claimed(9, by: maria))
            for number in 1...3 { try await service.add(phone(number), to: hers, by: maria) }
            try await service.add(phone(3), to: his, by: jose)
            try await service.close(maria)
            #expect(try await service.numbers() == [e164(3)], "Jose's group waits for it")
        }
    }

    @Test(arguments: ["leave", "delete", "remove", "release", "keep", "add again", "late release"])
    func `A number is deleted with the last place that waits for it`(way: String) async throws {
        try await InvitesFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let group = try await service.group(by: maria)
            switch way {
            case "leave":
                try await service.add(phone(1), to: group, by: maria)
                try await service.leave(group, maria)
            case "delete":
                try await service.add(phone(1), to: group, by: maria)
                try await service.delete(group, by: maria)
            case "remove":
                let id = try await service.add(phone(1), to: group, by: maria).memberID
                try await service.remove(id, from: group, by: maria)
            case "release":
                try await service.apply(claimed(1, by: jose))
                try await service.apply(released(1, by: jose))
                // Also a number without a user.
                try await service.apply(released(2, by: jose))
            case "late release":
                try await service.apply(claimed(1, by: jose))
                try await service.close(jose)
                try await service.apply(releasedByDeletion(1, by: jose))
                try await service.apply(claimed(2, by: jose))
            default:
                // Jose has given the number up, and Maria confirms him.
                try await service.join([jose], to: group, by: maria, first: 1)
                try await service.apply(released(1, by: jose))
                #expect(try await service.numbers() == [e164(1)], "the group waits for its next user")
                let id = try await service.memberID(of: jose, in: group, askedBy: maria)
                try await service.confirm(id, as: jose, in: group, by: maria)
                if way == "add again" {
                    #expect(try await service.numbers().isEmpty)
                    try await service.add(phone(1), to: group, by: maria)
                }
            }
            #expect(try await service.numbers().isEmpty)
        }
    }

    @Test func `Unused numbers are cleaned up, and pending ones are not`() async throws {
        try await InvitesFixture.run { service in
            let maria = someone()
            let group = try await service.group(by: maria)
            try await service.apply(claimed(1, by: maria))
            try await service.add(phone(2), to: group, by: maria)
            let count = UnusedPhones.lookMax * 2 + 10
            try await service.database.execute(
                """
                INSERT INTO phones (phone) SELECT (638000000000 + i)::text FROM generate_series(1, \(count)) i
                """
            )
            await service.parts.cleanup.clean()
            #expect(try await service.numbers() == [e164(1), e164(2)])
            // The next round starts again.
            try await service.database.execute("INSERT INTO phones (phone) VALUES ('638000000000')")
            await service.parts.cleanup.clean()
            #expect(try await service.numbers() == [e164(1), e164(2)])
        }
    }
}

extension InvitesFixture {
    /// All stored numbers, in order.
    fileprivate func numbers() async throws -> [String] {
        try await database.query("SELECT '+' || phone FROM phones ORDER BY phone").map {
            try $0.decode(0, as: String.self)
        }
    }
}
