import IdentityDomain
import JOSE
import Models
import Postgres
import ServiceModels
import Testing

@testable import IdentityService

/// The short statement of a refresh and the whole one must agree about every row.
struct UsualRefreshTests {
    /// A row's numbers, and how long ago its times are, in seconds.
    private struct State: Sendable, Hashable {
        var generation: Int64
        var base: Int64?
        var previous: Int64?
        var firstChild: Int64?
        var rotated: Int64?
        var acknowledged: Int64?
        var revoked = false
        var expired = false
        var idle = false
    }

    private static var states: [State] {
        var states: [State] = []
        for generation in 0...2 as ClosedRange<Int64> {
            for times in [(nil, nil), (10, nil), (100, nil), (10, 10), (100, 10), (10, 100), (100, 100)]
                as [(Int64?, Int64?)]
            {
                states.append(State(generation: generation, rotated: times.0, acknowledged: times.1))
                for base in -1...generation {
                    for firstChild in (base + 1)...(generation + 1) {
                        for previous in [nil, base - 1, base] where (previous ?? 0) >= -1 {
                            states.append(
                                State(
                                    generation: generation,
                                    base: base,
                                    previous: previous,
                                    firstChild: firstChild,
                                    rotated: times.0,
                                    acknowledged: times.1
                                )
                            )
                        }
                    }
                }
            }
        }
        let usual = State(generation: 1, base: 0, previous: 0, firstChild: 1, rotated: 100, acknowledged: 100)
        for change in [\State.revoked, \.expired, \.idle] {
            var other = usual
            other[keyPath: change] = true
            states.append(other)
        }
        return states
    }

    @Test func `The short statement of a refresh does what the whole one would, or nothing`() async throws {
        try await TestService.run { service in
            let store = service.parts.methods.store
            let now = service.clock.wallClock.nowMilliseconds
            var usualCount = 0
            for state in Self.states {
                let nonce = [UInt8](repeating: 7, count: 16)
                let (first, second) = (
                    try await insert(state, nonce, now, service), try await insert(state, nonce, now, service)
                )
                for number in 0...4 as ClosedRange<UInt32> {
                    try await reset(first, state, now, service)
                    try await reset(second, state, now, service)
                    func token(_ id: SessionID) -> RefreshToken {
                        RefreshToken(sessionID: id, number: number, nonce: nonce)
                    }
                    let usual = try await service.database.execute(
                        store.usualRefreshStatement(token(first), ofClient: nil, key: nil, nowMilliseconds: now)
                    )
                    let whole = try await service.database.execute(
                        store.refreshStatement(
                            token(second),
                            ofClient: nil,
                            key: nil,
                            presentedAtMilliseconds: now,
                            nowMilliseconds: now
                        )
                    )
                    let verdict = try #require(whole.first).decode(0, as: String.self)
                    let isUsual = verdict == "rotated" || verdict == "sibling"
                    #expect(usual.count == (isUsual ? 1 : 0), "\(state), number \(number): \(verdict)")
                    guard isUsual, let row = usual.first, let other = whole.first else { continue }
                    usualCount += 1
                    #expect(try row.decode(0, as: String.self) == verdict, "\(state), number \(number)")
                    #expect(try row.decode(15, as: Int64.self) == other.decode(15, as: Int64.self))
                    #expect(
                        try await numbers(first, service) == numbers(second, service),
                        "\(state), number \(number): \(verdict)"
                    )
                }
            }
            #expect(usualCount > 200)
        }
    }

    @Test func `Another nonce, and a session that is not there, are left to the whole statement`() async throws {
        try await TestService.run { service in
            let store = service.parts.methods.store
            let now = service.clock.wallClock.nowMilliseconds
            let nonce = [UInt8](repeating: 7, count: 16)
            let id = try await insert(State(generation: 0), nonce, now, service)
            let strangers = [
                RefreshToken(sessionID: id, number: 0, nonce: [UInt8](repeating: 8, count: 16)),
                RefreshToken(sessionID: SessionID(high: 1, low: 1), number: 0, nonce: nonce),
            ]
            for token in strangers {
                let rows = try await service.database.execute(
                    store.usualRefreshStatement(token, ofClient: nil, key: nil, nowMilliseconds: now)
                )
                #expect(rows.isEmpty)
                let (verdict, _) = try await store.refresh(
                    token,
                    ofClient: nil,
                    key: nil,
                    presentedAtMilliseconds: now,
                    nowMilliseconds: now,
                    deadline: nil
                )
                #expect(verdict == .mismatched)
            }
        }
    }

    @Test(arguments: [nil, bound], [nil, bound, another])
    func `A bound session is refreshed by its key alone, and another one changes nothing`(
        key: JWKThumbprint?,
        proven: JWKThumbprint?
    ) async throws {
        try await TestService.run { service in
            let store = service.parts.methods.store
            let now = service.clock.wallClock.nowMilliseconds
            let nonce = [UInt8](repeating: 7, count: 16)
            let state = State(generation: 2, base: 2, previous: 1, firstChild: 3, rotated: 100, acknowledged: 100)
            let id = try await insert(state, nonce, now, service)
            // Number 0 is old: without the key it must not end the session either.
            for number in [2, 0] as [UInt32] {
                try await reset(id, state, now, service)
                try await service.database.execute(
                    "UPDATE sessions SET key_thumbprint = \(key?.bytes) WHERE session_id = \(id.uuid)"
                )
                let before = try await numbers(id, service)
                let (verdict, session) = try await store.refresh(
                    RefreshToken(sessionID: id, number: number, nonce: nonce),
                    ofClient: nil,
                    key: proven,
                    presentedAtMilliseconds: now,
                    nowMilliseconds: now,
                    deadline: nil
                )
                if key == nil || key == proven {
                    #expect(verdict == (number == 2 ? .rotated : .reused))
                    #expect(session?.facts.key == key)
                } else {
                    #expect(verdict == .keyNotProven)
                    #expect(try await numbers(id, service) == before)
                }
            }
        }
    }

    private static let bound = JWKThumbprint(bytes: [UInt8](repeating: 1, count: 32))
    private static let another = JWKThumbprint(bytes: [UInt8](repeating: 2, count: 32))

    private func insert(_ state: State, _ nonce: [UInt8], _ now: Int64, _ service: TestService) async throws
        -> SessionID
    {
        let (user, session) = (
            UserID(high: .random(in: 0 ... .max), low: 1), SessionID(high: .random(in: 0 ... .max), low: 2)
        )
        let time = PostgresTimestamp(milliseconds: now)
        try await service.database.execute(
            """
            WITH account AS (INSERT INTO accounts (user_id, created_at) VALUES (\(user.uuid), \(time)))
            INSERT INTO sessions (
                session_id, user_id, provider, client_id, opened_account, nonce, proof, created_at, last_used_at,
                expires_at)
            VALUES (\(session.uuid), \(user.uuid), 'apple', 'app', true, \(nonce), 'nonce', \(time), \(time), \(time))
            """
        )
        return session
    }

    private func reset(_ id: SessionID, _ state: State, _ now: Int64, _ service: TestService) async throws {
        func ago(_ seconds: Int64?) -> PostgresTimestamp? {
            seconds.map { PostgresTimestamp(milliseconds: now - $0 * 1000) }
        }
        let limits = service.settings.limits
        let reason: String? = state.revoked ? "sign_out" : nil
        try await service.database.execute(
            """
            UPDATE sessions SET generation = \(state.generation), base = \(state.base), previous = \(state.previous),
                first_child = \(state.firstChild), rotated_at = \(ago(state.rotated)),
                acknowledged_at = \(ago(state.acknowledged)), created_at = \(ago(1_000)),
                last_used_at = \(ago(state.idle ? limits.inactivitySeconds : 50)),
                expires_at = \(ago(state.expired ? 0 : -1_000)), revoked_at = \(ago(state.revoked ? 1 : nil)),
                revoke_reason = \(reason)
            WHERE session_id = \(id.uuid)
            """
        )
    }

    /// What a refresh changes, as text.
    private func numbers(_ id: SessionID, _ service: TestService) async throws -> String? {
        try await service.database.execute(
            """
            SELECT (ROW(generation, base, previous, first_child, rotated_at, acknowledged_at, last_used_at, revoked_at))::text
            FROM sessions WHERE session_id = \(id.uuid)
            """
        ).first?.decode(0, as: String?.self)
    }
}
