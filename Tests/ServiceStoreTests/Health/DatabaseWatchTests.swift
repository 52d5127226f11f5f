import LocalPostgres
import Logging
import Models
import Postgres
import RPC
import RPCTransport
import ServiceKit
import Synchronization
import TestDatabases
import Testing

@testable import ServiceStore

struct DatabaseWatchTests {
    /// A database, and a client of it as a service has it.
    private func withDatabase(_ body: (TestDatabase, PostgresClient) async throws -> Void) async throws {
        let facts = try await TestDatabase.fresh()
        var configuration = facts.configuration
        configuration.connectionsPerLoop = 1
        try await withEventLoopGroup(loopCount: 1, name: "test") { group in
            try await withPostgresClient(configuration, group: group) { try await body(facts, $0) }
        }
    }

    private func watch(_ database: PostgresClient, clock: WallClock = .system) -> DatabaseWatch {
        DatabaseWatch(database, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }) {
            clock.nowMilliseconds
        }
    }

    private func fault(of watch: DatabaseWatch) async throws -> DatabaseFault? {
        do {
            try await watch.check(deadline: .after(.seconds(60)))
            return nil
        } catch let fault as DatabaseFault {
            return fault
        }
    }

    @Test(arguments: [(-90.0, true), (-50, false), (50, false), (90, true)])
    func `A program doesn't start beside a database whose clock differs by a minute`(
        offset: Double,
        isRejected: Bool
    ) async throws {
        try await withDatabase { _, database in
            let clock = WallClock { WallClock.system.nowMilliseconds - Int64(offset * 1000) }
            guard case .clock(let seen)? = try await fault(of: watch(database, clock: clock)) else {
                return #expect(!isRejected)
            }
            #expect(isRejected)
            #expect(abs(seen - offset) < 30)
        }
    }

    @Test func `A clock that is set while the program runs doesn't end it`() async throws {
        try await withDatabase { _, database in
            let offset = Mutex<Int64>(0)
            let watch = watch(
                database,
                clock: WallClock { WallClock.system.nowMilliseconds - offset.withLock { $0 } }
            )
            #expect(try await fault(of: watch) == nil)
            offset.withLock { $0 = 3_600_000 }
            #expect(try await fault(of: watch) == nil)
            var text = MetricsText()
            watch.write(to: &text)
            let lines = "\(text.text)".split(separator: "\n")
            let sample = lines.first { $0.hasPrefix("vestibule_database_clock_offset_seconds ") }
            let seconds = try #require(sample?.split(separator: " ").last.flatMap { Double($0) })
            #expect(abs(seconds - 3600) < 30)
            #expect(lines.contains("vestibule_database_timeline 1"))
        }
    }

    @Test func `A database that only reads isn't ready, and is again when it takes writes`() async throws {
        try await withDatabase { _, database in
            let watch = watch(database)
            #expect(try await fault(of: watch) == nil)
            // As `ALTER SYSTEM` does to sessions that there are; new ones would not be begun (`target_session_attrs`).
            try await database.query("SET default_transaction_read_only = on")
            #expect(try await fault(of: watch) == .readOnly)
            try await database.query("SET default_transaction_read_only = off")
            #expect(try await fault(of: watch) == nil)
        }
    }

    @Test func `A refused write is counted, and has a write tried`() async throws {
        try await withDatabase { _, database in
            let watch = watch(database)
            #expect(try await fault(of: watch) == nil)
            let full: Query = "DO $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$"
            await #expect(throws: PostgresError.self) { try await database.execute(full) }
            #expect(database.refusedWrites.diskFull == 1)
            #expect(database.refusedWrites.readOnly == 0)
            // This disk has room.
            #expect(try await fault(of: watch) == nil)
            let left = try await database.query("SELECT count(*) FROM pg_largeobject_metadata")
            #expect(try left[0].decode(0, as: Int64.self) == 0)
        }
    }

    @Test func `A role that may not try a write is believed to be able to`() async throws {
        try await withDatabase { facts, database in
            let watch = watch(database)
            #expect(try await fault(of: watch) == nil)
            try facts.cluster.runSQL(
                "REVOKE EXECUTE ON FUNCTION lo_from_bytea(oid, bytea) FROM PUBLIC;",
                database: facts.database
            )
            let full: Query = "DO $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$"
            await #expect(throws: PostgresError.self) { try await database.execute(full) }
            #expect(try await fault(of: watch) == nil)
        }
    }

    @Test func `A plain role reads what the database keeps, and for whom`() async throws {
        try await withDatabase { _, database in
            let storage = try await DatabaseStorage.read(from: database, deadline: .after(.seconds(60)))
            #expect(storage.sizeBytes > 1_000_000)
            #expect(storage.standbyCount == 0 && storage.standbyLagBytes == nil && storage.archivingFails == nil)
            #expect(storage.slots.isEmpty)
        }
    }

    @Test func `A call that met a full disk says so`() {
        let error = RPCError(database: .server(.init(state: .diskFull, message: "could not extend file")))
        #expect(error.code == .unavailable)
        #expect(error.message == "The service's database takes no writes now. Try again in a moment.")
    }
}
