import API
import Models
import RPC
import ServiceKit
import SwiftProtobuf
import TestWaits
import Testing

@testable import ProfileService

/// The data of a closed account is deleted.
@Suite(.serialized) struct CloseAccountTests {
    @Test func `Number and username are free at once, and invites gets a release by deletion`() async throws {
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
                try await eventually("the change is delivered") { service.invites.told.count >= 5 }
                #expect(!service.invites.events[3].released.byDeletion)
            }
        }
    }

    @Test func `Closing again, or closing an account without a profile, changes nothing`() async throws {
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

    @Test func `A save that was authenticated before the closing is refused`() async throws {
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
    func `Concurrent saves and a closing leave nothing`(seed: Int) async throws {
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
            // Each number that was taken was released, in this order.
            let events = try await service.waitingEvents()
            for number in Set(events.map { $0.split(separator: " ")[1] }) {
                let kinds = events.filter { $0.contains(number) }.map { $0.prefix(1) }
                #expect(kinds.last == "r" && kinds.count.isMultiple(of: 2))
            }
        }
    }

    @Test func `A closed account's number or username is no conflict, even before the closing is delivered`()
        async throws
    {
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
            // The later message about the closing takes nothing from the new user.
            try await service.close(maria)
            #expect(try await service.profile(jose).phoneNumber == "+" + digits(1))
            #expect(try await service.isFree("maria_s", for: jose))
        }
    }

    @Test func `A number and a username of two closed accounts are no conflict either`() async throws {
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

    @Test func `An open account keeps its number and username, and the attempt counts`() async throws {
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
    func `If identity can't answer, no number is reported as taken`(code: Status.Code) async throws {
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
    func `An identity that doesn't know the method keeps the conflict`(code: Status.Code) async throws {
        try await ProfileFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.update(maria, phone: phone(1))
            service.identity.failure = code
            #expect(try await failure { try await service.update(jose, phone: phone(1)) }.reason == "PHONE_TAKEN")
        }
    }

    @Test func `Of concurrent claims of a closed account's number one wins, and none conflicts with that account`()
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

    @Test func `The record of a closed account is deleted after two months`() async throws {
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
    /// Reports that an account was closed.
    func close(_ userID: UserID) async throws {
        _ = try await client.closeAccount(.with { $0.userID = userID.description })
    }
}
