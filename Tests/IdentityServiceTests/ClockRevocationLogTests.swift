import Models
import Postgres
import ServiceKit
import ServiceStore
import Testing

@testable import IdentityService

/// The log of ended sessions, read by its clock, on PostgreSQL.
struct ClockRevocationLogTests {
    @Test func `Each end is read once, however late it is committed`() async throws {
        try await TestService.run { service in
            let log = ClockRevocationLog(database: service.database)
            let sessions = try await service.makeSessions(3)
            var seen = try await log.read(since: nil, limit: 100, changesMax: 10).seen
            func read() async throws -> [String] {
                let read = try await log.read(since: seen, limit: 100, changesMax: 10)
                seen = read.seen
                return read.sessionIDs.map(\.description)
            }
            try await service.database.execute(TestService.end([sessions[0]]))
            #expect(try await read() == [sessions[0]])
            try await service.database.withTransaction { transaction in
                try await transaction.execute(TestService.end([sessions[1]]))
                try await service.database.execute(TestService.end([sessions[2]]))
            }
            #expect(try await Set(read()) == [sessions[1], sessions[2]])
            #expect(try await read().isEmpty)
        }
    }

    @Test func `A caller who comes back gets page by page what ended since, and the last minute before`() async throws {
        try await TestService.run { service in
            let log = ClockRevocationLog(database: service.database)
            let sessions = try await service.makeSessions(7)
            let before = try await log.read(since: nil, limit: 1, changesMax: 0).seen
            try await service.database.execute(TestService.end(sessions))
            var (place, pages, told) = (log.place(before: before.horizon), 0, Set<String>())
            while true {
                let page = try await log.read(after: place, limit: 3, deadline: nil)
                told.formUnion(page.sessionIDs.map(\.description))
                pages += 1
                guard let last = page.last, page.sessionIDs.count == 3 else { break }
                place = last
            }
            #expect(told == Set(sessions) && pages == 3)
            // A horizon that a caller can't have.
            #expect(log.place(before: 0) == .before(0) && log.place(before: 5) == .before(0))
            #expect(try await log.read(after: log.place(before: .max), limit: 3, deadline: nil).sessionIDs.isEmpty)
        }
    }

    @Test func `A change of an account is read once, and none from before the beginning`() async throws {
        try await TestService.run { service in
            let log = ClockRevocationLog(database: service.database)
            func link() async throws {
                try await service.database.execute(
                    """
                    INSERT INTO security_events (event_id, user_id, kind, occurred_at, details)
                    VALUES (security_event_id(clock_timestamp(), false), gen_random_uuid(), 'provider_linked', clock_timestamp(),
                        '{"provider": "apple"}')
                    """
                )
            }
            try await link()
            var seen = try await log.read(since: nil, limit: 10, changesMax: 10).seen
            try await link()
            var counts: [Int] = []
            for _ in 0..<3 {
                let read = try await log.read(since: seen, limit: 10, changesMax: 10)
                seen = read.seen
                counts.append(read.accountChanges.count)
            }
            #expect(counts == [1, 0, 0])
        }
    }

    @Test func `A clock that was set back, and what ended before the beginning`() async throws {
        try await TestService.run { service in
            let log = ClockRevocationLog(database: service.database)
            let sessions = try await service.makeSessions(2)
            try await service.database.execute(TestService.end([sessions[0]]))
            let begun = try await log.read(since: nil, limit: 10, changesMax: 10)
            #expect(try await log.read(since: begun.seen, limit: 10, changesMax: 10).sessionIDs.isEmpty)
            // As another database: watchers begin anew.
            let ahead = Int64(begun.seen.horizon) + 60_000_000
            let seen = RevocationsSeen.clock(
                RevocationClock(sessions: ClockWindow(end: ahead), changes: ClockWindow(end: ahead))
            )
            #expect(try await log.read(since: seen, limit: 10, changesMax: 10).database != begun.database)
            // A server whose clock is a little behind.
            let position = RevocationPosition(
                database: begun.database,
                horizon: begun.seen.horizon + 1_000_000,
                madeAtSeconds: 1_700_000_000
            )
            #expect(position.isGood(for: begun, nowSeconds: 1_700_000_000))
        }
    }
}
