import API
import Models
import RPC
import ServiceKit
import SwiftProtobuf
import TestWaits
import Testing

@testable import ProfileService

/// A user whose account was closed is forgotten.
@Suite(.serialized) struct CloseAccountTests {
    @Test func `Number and name are free at once, and invites is told that it is by deletion`() async throws {
        try await ProfileFixture.run { service in
            try await service.relaying {
                let (maria, jose) = (someone(), someone())
                try await service.update(maria, displayName: "Maria", phone: phone(1), username: "maria_s")
                try await service.close(maria)
                #expect(try await service.profile(maria).displayName.isEmpty)
                #expect(try await service.isFree("maria_s"))
                try await service.update(jose, phone: phone(1), username: "Maria_S")
                try await eventually("all is delivered") { service.invites.told.count >= 3 }
                #expect(
                    service.invites.told == [
                        "claimed \(digits(1)) \(maria)", "released \(digits(1)) \(maria)",
                        "claimed \(digits(1)) \(jose)",
                    ]
                )
                #expect(service.invites.events.map(\.released.byDeletion) == [false, true, false])
                try await service.update(jose, phone: phone(2))
                try await eventually("the change is told") { service.invites.told.count >= 5 }
                #expect(!service.invites.events[3].released.byDeletion)
            }
        }
    }

    @Test func `Closing again, and one who told nothing, changes nothing`() async throws {
        try await ProfileFixture.run { service in
            let (maria, nobody) = (someone(), someone())
            try await service.update(maria, phone: phone(1))
            for _ in 0..<2 { try await service.close(maria) }
            try await service.close(nobody)
            #expect(
                try await service.waitingEvents() == [
                    "claimed \(digits(1)) \(maria)", "released \(digits(1)) \(maria)",
                ]
            )
            for table in ["profiles", "phones", "usernames"] {
                #expect(try await service.count("SELECT count(*) FROM \(table)") == 0)
            }
            #expect(try await service.count("SELECT count(*) FROM closed_accounts") == 2)
            let error = try await failure {
                try await service.client.closeAccount(.with { $0.userID = "me" })
            }
            #expect(error.code == .invalidArgument && error.reason == "USER_ID_INVALID")
        }
    }

    @Test func `A save that was let in before finds nobody to save for`() async throws {
        try await ProfileFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.update(maria, phone: phone(1))
            for user in [maria, jose] {
                try await service.close(user)
                let error = try await failure { try await service.update(user, displayName: "Late", phone: phone(2)) }
                #expect(error.code == .unauthenticated && error.reason == "SESSION_REVOKED")
            }
            #expect(try await service.count("SELECT count(*) FROM profiles") == 0)
            #expect(try await service.count("SELECT count(*) FROM phones") == 0)
        }
    }

    @Test(arguments: 1...3)
    func `Saves and a closing at one moment leave nothing`(seed: Int) async throws {
        try await ProfileFixture.run { service in
            for round in 0..<8 {
                let user = someone()
                if (seed + round).isMultiple(of: 2) { try await service.update(user, username: "user_\(round)") }
                try await withThrowingTaskGroup { tasks in
                    for index in 0..<4 {
                        tasks.addTask {
                            do throws(RPCError) {
                                try await service.update(
                                    user,
                                    phone: phone(round * 10 + index),
                                    username: "u_\(round)_\(index)"
                                )
                            } catch {
                                #expect(error.reason == "SESSION_REVOKED")
                            }
                        }
                    }
                    tasks.addTask { try await service.close(user) }
                    try await tasks.waitForAll()
                }
                for table in ["profiles", "phones", "usernames"] {
                    #expect(try await service.count("SELECT count(*) FROM \(table)") == 0)
                }
            }
            // Each number that was taken was given up, in this order.
            let events = try await service.waitingEvents()
            for number in Set(events.map { $0.split(separator: " ")[1] }) {
                let kinds = events.filter { $0.contains(number) }.map { $0.prefix(1) }
                #expect(kinds.last == "r" && kinds.count.isMultiple(of: 2))
            }
        }
    }

    @Test func `A number or a name of a closed account is no conflict, before this service was told`() async throws {
        try await ProfileFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.update(maria, phone: phone(1), username: "maria_s")
            service.identity.close(maria)
            try await service.update(jose, phone: phone(1), username: "maria_s")
            #expect(try await service.profile(jose).phoneNumber == "+" + digits(1))
            #expect(
                try await service.waitingEvents() == [
                    "claimed \(digits(1)) \(maria)", "released \(digits(1)) \(maria)", "claimed \(digits(1)) \(jose)",
                ]
            )
            // And the message that comes after it takes nothing from who has it now.
            try await service.close(maria)
            #expect(try await service.profile(jose).phoneNumber == "+" + digits(1))
            #expect(try await service.isFree("maria_s", for: jose))
        }
    }

    @Test func `A number and a name of two closed accounts are no conflict either`() async throws {
        try await ProfileFixture.run { service in
            let (maria, ana, jose) = (someone(), someone(), someone())
            try await service.update(maria, phone: phone(1))
            try await service.update(ana, username: "ana_c")
            service.identity.close(maria)
            service.identity.close(ana)
            try await service.update(jose, phone: phone(1), username: "ana_c")
            #expect(service.identity.questionCount == 2)
        }
    }

    @Test func `What somebody has whose account is open stays theirs, and the try counts`() async throws {
        try await ProfileFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.update(maria, phone: phone(1), username: "maria_s")
            #expect(try await failure { try await service.update(jose, phone: phone(1)) }.reason == "PHONE_TAKEN")
            #expect(
                try await failure { try await service.update(jose, username: "maria_s") }.reason == "USERNAME_TAKEN"
            )
            #expect(try await service.count("SELECT phone_tries::bigint FROM profiles WHERE phone IS NULL") == 1)
        }
    }

    @Test(arguments: [Status.Code.unavailable, .deadlineExceeded, .internalError])
    func `While identity can't tell, nobody is told that a number is taken`(code: Status.Code) async throws {
        try await ProfileFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.update(maria, phone: phone(1))
            service.identity.failure = code
            let error = try await failure { try await service.update(jose, phone: phone(1)) }
            #expect(error.code == .unavailable && error.reason == "HOLDER_UNKNOWN" && error.retryAfter != nil)
            #expect(try await service.profile(maria).phoneNumber == "+" + digits(1))
        }
    }

    @Test(arguments: [Status.Code.unimplemented, .permissionDenied])
    func `An identity that doesn't answer such questions leaves all as it was`(code: Status.Code) async throws {
        try await ProfileFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.update(maria, phone: phone(1))
            service.identity.failure = code
            #expect(try await failure { try await service.update(jose, phone: phone(1)) }.reason == "PHONE_TAKEN")
        }
    }

    @Test func `Claims of a closed account's number at one moment have one winner, and never a conflict with it`()
        async throws
    {
        try await ProfileFixture.run { service in
            for round in 0..<6 {
                let maria = someone()
                try await service.update(maria, phone: phone(round))
                service.identity.close(maria)
                let winners = try await withThrowingTaskGroup { tasks in
                    for _ in 0..<3 {
                        tasks.addTask {
                            do throws(RPCError) {
                                try await service.update(someone(), phone: phone(round))
                                return 1
                            } catch {
                                #expect(error.reason == "PHONE_TAKEN")
                                return 0
                            }
                        }
                    }
                    tasks.addTask {
                        try await service.close(maria)
                        return 0
                    }
                    return try await tasks.reduce(0, +)
                }
                #expect(winners == 1)
            }
        }
    }

    @Test func `It is forgotten after two months who was closed`() async throws {
        try await ProfileFixture.run { service in
            try await service.close(someone())
            service.clock.advance(milliseconds: 59 * 86_400_000)
            await service.parts.cleanup.clean()
            #expect(try await service.count("SELECT count(*) FROM closed_accounts") == 1)
            service.clock.advance(milliseconds: 86_400_000)
            await service.parts.cleanup.clean()
            #expect(try await service.count("SELECT count(*) FROM closed_accounts") == 0)
        }
    }
}

extension ProfileFixture {
    /// Tells that an account was closed.
    func close(_ userID: UserID) async throws {
        _ = try await client.closeAccount(.with { $0.userID = userID.description })
    }
}
