import API
import Models
import Postgres
import RPC
import ServiceKit
import SwiftProtobuf
import TestWaits
import Testing

@testable import ProfileService

/// A user who has only a name is deleted, so that another account can absorb theirs.
@Suite(.serialized) struct CloseIfEmptyTests {
    @Test func `A name alone is deleted, and nothing can be saved any more`() async throws {
        try await ProfileFixture.run { service in
            let (maria, nobody) = (someone(), someone())
            try await service.update(maria, displayName: "Maria")
            for _ in 0..<2 {
                #expect(try await service.closeIfEmpty(maria, 1))
                #expect(try await service.closeIfEmpty(nobody, 2))
            }
            #expect(try await failure { try await service.update(maria, phone: phone(1)) }.reason == "SESSION_REVOKED")
            #expect(try await failure { try await service.update(nobody, phone: phone(1)) }.reason == "SESSION_REVOKED")
            #expect(try await service.count("SELECT count(*) FROM profiles") == 0)
            // Identity's later report of the closing changes nothing.
            try await service.close(maria)
            #expect(try await service.waitingEvents().isEmpty)
        }
    }

    @Test func `A user with a number or a username keeps everything, and this absorption stays refused`() async throws {
        try await ProfileFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.update(maria, displayName: "Maria", phone: phone(1))
            try await service.update(jose, username: "jose_r")
            #expect(try await !service.closeIfEmpty(maria, 1))
            #expect(try await !service.closeIfEmpty(jose, 2))
            #expect(try await service.profile(maria).displayName == "Maria")
            try await service.database.execute("DELETE FROM work")
            try await service.database.execute("UPDATE profiles SET phone = NULL, username = NULL")
            // An earlier call that arrives late.
            #expect(try await !service.closeIfEmpty(maria, 1))
            #expect(try await service.closeIfEmpty(maria, 3))
        }
    }

    @Test func `A user with undelivered events isn't empty`() async throws {
        try await ProfileFixture.run { service in
            let maria = someone()
            try await service.update(maria, phone: phone(1))
            try await service.database.execute("UPDATE profiles SET phone = NULL")
            #expect(try await !service.closeIfEmpty(maria, 1))
            try await service.database.execute("UPDATE work SET parked_at = now(), failure = 'X'")
            #expect(try await !service.closeIfEmpty(maria, 2))
            try await service.database.execute("DELETE FROM work")
            #expect(try await service.closeIfEmpty(maria, 3))
            service.clock.advance(milliseconds: 86_400_000)
            await service.parts.cleanup.clean()
            #expect(try await service.count("SELECT count(*) FROM refused_absorptions") == 0)
        }
    }

    @Test func `A number that is saved concurrently is kept, or refused`() async throws {
        try await ProfileFixture.run { service in
            for round in 0..<20 {
                let maria = someone()
                try await service.update(maria, displayName: "Maria")
                async let isClosed = service.closeIfEmpty(maria, UInt64(round))
                async let saved: ProfileV1.Profile? = try? service.update(maria, phone: phone(round))
                let outcome = try await (isClosed, saved)
                #expect(outcome.0 == (outcome.1 == nil))
                let number = try await service.profile(maria).phoneNumber
                #expect(number == (outcome.0 ? "" : "+" + digits(round)))
            }
        }
    }

    @Test func `A held user's event waits as long as needed, and delays nobody else's`() async throws {
        try await ProfileFixture.run { service in
            service.invites.hold(phone: "+" + digits(1))
            try await service.relaying {
                let (maria, jose) = (someone(), someone())
                try await service.update(maria, phone: phone(1))
                try await service.update(jose, phone: phone(2))
                try await eventually("the other user's is delivered") {
                    service.invites.told == ["claimed \(digits(2)) \(jose)"]
                }
                try await eventually("it was tried") { service.invites.failureCount > 0 }
                try await eventually("only that waits") {
                    try await service.waitingEvents() == ["claimed \(digits(1)) \(maria)"]
                }
                service.invites.mend()
                service.clock.advance(milliseconds: 3_600_000)
                try await eventually("it is delivered") { service.invites.told.count == 2 }
                #expect(try await service.count("SELECT count(*) FROM work WHERE parked_at IS NOT NULL") == 0)
            }
        }
    }

    @Test func `Malformed ids are refused`() async throws {
        try await ProfileFixture.run { service in
            let user = someone().description
            for (userID, absorption, reason) in [
                ("me", user, "USER_ID_INVALID"), (user, "x", "ABSORPTION_ID_INVALID"),
            ] {
                let request = ProfileV1.CloseIfEmptyRequest.with { ($0.userID, $0.absorptionID) = (userID, absorption) }
                let error = try await failure { try await service.client.closeIfEmpty(request) }
                #expect(error.reason == reason)
            }
        }
    }
}

extension ProfileFixture {
    fileprivate func closeIfEmpty(_ userID: UserID, _ absorption: UInt64) async throws -> Bool {
        try await client.closeIfEmpty(
            .with { ($0.userID, $0.absorptionID) = (userID.description, EventID(high: 7, low: absorption).description) }
        ).isEmpty
    }
}
