import API
import Models
import Postgres
import ProfileDomain
import RPC
import ServiceKit
import ServiceModels
import ServiceStore
import SwiftProtobuf
import Synchronization
import TestDatabases
import Testing

@testable import ProfileService

/// What is sent after events that an operator has retried or discarded: who has the number now.
@Suite(.serialized) struct PhoneRestatementTests {
    /// Delivers the oldest events.
    private func deliver(_ service: ProfileFixture, limit: Int64 = 100) async throws {
        try await service.database.execute(
            """
            DELETE FROM work WHERE id IN (
                SELECT id FROM work WHERE queue = 'phone_events' AND parked_at IS NULL ORDER BY id LIMIT \(limit))
            """
        )
    }

    @Test func `If a user takes the number at that moment, the last event has them`() async throws {
        try await ProfileFixture.run(required: RequiredFields([])) { service in
            let maria = someone()
            try await service.update(maria, phone: phone(1))
            try await deliver(service)
            try await service.update(maria, phone: "")
            _ = try await service.parkOldest()
            let (isHeld, tell) = AsyncStream.makeStream(of: Void.self)
            let isReleased = Mutex(false)
            async let claiming: Void = service.database.withTransaction(deadline: .after(.seconds(60))) { transaction in
                defer { tell.finish() }
                // As a save does that takes the number again.
                try await transaction.execute(
                    """
                    WITH taken AS (
                        INSERT INTO phones (phone, user_id, claimed_at) VALUES (\(digits(1)), \(maria.uuid), now())
                    )
                    INSERT INTO work (queue, event_id, key, user_id, created_at, data)
                    VALUES ('phone_events', gen_random_uuid(), \(digits(1)), \(maria.uuid), now(), '{"kind": "claimed"}')
                    """
                )
                tell.finish()
                try await service.database.waitForLockWaits(orUntil: { isReleased.withLock { $0 } })
            }
            for await _ in isHeld {}
            #expect(try await service.work(.retry(.all)) == ["1 will be retried"])
            isReleased.withLock { $0 = true }
            try await claiming
            #expect(
                try await service.toldInFull() == ["released 1 \(maria)", "claimed 1 \(maria)", "claimed 1 \(maria)"]
            )
        }
    }

    @Test(.waitsByLocksAlone) func `A user who takes a number while its release is sent comes after it`() async throws {
        try await ProfileFixture.run(required: RequiredFields([])) { service in
            let maria = someone()
            try await service.update(maria, phone: phone(1))
            try await service.update(maria, phone: "")
            try await deliver(service, limit: 1)
            _ = try await service.parkOldest()
            let (isHeld, tell) = AsyncStream.makeStream(of: Void.self)
            async let holding: Void = service.database.withTransaction(deadline: .after(.seconds(60))) { transaction in
                defer { tell.finish() }
                // Neither the release nor the save's event can be written for a moment.
                try await transaction.execute("LOCK TABLE work IN SHARE MODE")
                tell.finish()
                try await service.database.waitForLockWaits(at: "WITH free AS")
                try await service.database.waitForLockWaits(
                    at: "INSERT INTO phones (phone, user_id, claimed_at) SELECT"
                )
            }
            for await _ in isHeld {}
            async let released = service.work(.retry(.all))
            try await service.database.waitForLockWaits(at: "WITH free AS")
            try await service.update(maria, phone: phone(1))
            #expect(try await released == ["1 will be retried"])
            try await holding
            #expect(
                try await service.toldInFull() == ["released 1 \(maria)", "released 1 \(maria)", "claimed 1 \(maria)"]
            )
        }
    }

    @Test func `Retrying an event of a number without a user stores no row for it`() async throws {
        try await ProfileFixture.run(required: RequiredFields([])) { service in
            let (maria, jose) = (someone(), someone())
            try await service.update(maria, phone: phone(1))
            try await service.update(maria, phone: "")
            _ = try await service.parkOldest()
            #expect(try await service.work(.retry(.all)) == ["1 will be retried"])
            #expect(try await service.count("SELECT count(*) FROM phones") == 0)
            try await service.update(jose, phone: phone(1))
            #expect(
                try await service.toldInFull() == [
                    "claimed 1 \(maria)", "released 1 \(maria)", "released 1 \(maria)", "claimed 1 \(jose)",
                ]
            )
        }
    }

    @Test func `A discarded release is replaced`() async throws {
        try await ProfileFixture.run(required: RequiredFields([])) { service in
            let (maria, jose) = (someone(), someone())
            try await service.update(maria, phone: phone(1))
            try await service.update(jose, phone: phone(2))
            try await deliver(service)
            try await service.update(maria, phone: "")
            let release = try await service.parkOldest()
            #expect(try await service.work(.discard(release)) == ["1 discarded"])
            #expect(try await service.toldInFull() == ["released 1 \(maria)"])
            try await deliver(service)
            // The release of a closed account stays one by deletion.
            _ = try await service.client.closeAccount(.with { $0.userID = jose.description })
            let closing = try await service.parkOldest()
            #expect(try await service.work(.discard(closing)) == ["1 discarded"])
            #expect(try await service.toldInFull() == ["released 2 \(jose)"])
            #expect(try await service.count("SELECT count(*) FROM work WHERE (data ->> 'by_deletion')::boolean") == 1)
        }
    }

    @Test func `A discarded claim is replaced, with the user whom a proof took it from`() async throws {
        try await ProfileFixture.run { service in
            let (mallory, jose, ana) = (someone(), someone(), someone())
            try await service.update(mallory, phone: phone(1))
            try await deliver(service)
            try await service.prove(e164(1), of: jose)
            let claim = try await service.parkOldest()
            #expect(try await service.work(.discard(claim)) == ["1 discarded"])
            #expect(try await service.toldInFull() == ["claimed 1 \(jose) proven from \(mallory)"])
            // No user has the number any more: it is released of each user who may have it at invites.
            let again = try await service.parkOldest()
            _ = try await service.client.releasePhone(.with { $0.userID = jose.description })
            #expect(try await service.work(.discard(again)) == ["1 discarded"])
            let told = try await service.toldInFull()
            #expect(told.first == "released 1 \(jose)")
            #expect(Set(told.dropFirst()) == ["released 1 \(jose)", "released 1 \(mallory)"] && told.count == 3)
            // Or another user has it: the proof was theirs.
            try await deliver(service)
            try await service.prove(e164(1), of: jose)
            let last = try await service.parkOldest()
            _ = try await service.client.releasePhone(.with { $0.userID = jose.description })
            try await service.update(ana, phone: phone(1))
            #expect(try await service.work(.discard(last)) == ["1 discarded"])
            #expect(try await service.toldInFull().last == "claimed 1 \(ana)")
        }
    }

    @Test func `Only parked events are discarded`() async throws {
        try await ProfileFixture.run { service in
            try await service.update(someone(), phone: phone(1))
            let rows = try await service.database.query("SELECT id FROM work")
            let name = WorkName.number(try rows[0].decode(0))
            await #expect(throws: WorkCommandError.self) { try await service.work(.discard([name])) }
            #expect(try await service.toldInFull().count == 1)
        }
    }
}
