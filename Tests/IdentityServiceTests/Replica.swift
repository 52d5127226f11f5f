import API
import IdentityDomain
import Models
import Postgres
import RPC
import RPCTransport
import Synchronization

@testable import IdentityService

/// Another process of the service over the same database, limited to the stream of ended sessions.
struct Replica {
    let parts: IdentityParts
    let client: IdentityServiceClient

    /// Creates it, and runs it beside the body.
    static func run(
        of service: TestService,
        limits: RevocationHub.Limits = RevocationHub.Limits(),
        _ body: (Replica) async throws -> Void
    ) async throws {
        let parts = IdentityParts(
            settings: service.settings,
            database: service.database,
            group: service.group,
            fetcher: service.provider,
            http: TestHTTP(),
            profile: OtherServices.profile,
            invites: OtherServices.invites,
            revocationLimits: limits,
            clock: service.clock.wallClock,
            logger: TestService.silentLogger
        )
        var router = Router()
        router.add(parts.methods)
        let replica = Replica(parts: parts, client: IdentityServiceClient(InProcessChannel(router)))
        let running = Task { await parts.tellRevocations() }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(replica))
        } catch {
            result = .failure(error)
        }
        running.cancel()
        await running.value
        try result.get()
    }

    /// Limits that let it read the log only after a notification.
    static var onlyWhenTold: RevocationHub.Limits {
        var limits = RevocationHub.Limits()
        limits.pollInterval = .seconds(3_600)
        limits.heartbeat = .seconds(7_200)
        return limits
    }

    /// Watches until the body returns false; the body gets each message.
    func watch(
        from position: [UInt8] = [],
        heartbeatMilliseconds: Int64 = 0,
        _ enough: @escaping @Sendable (IdentityV1.WatchRevocationsResponse) async throws -> Bool
    ) async throws {
        var request = IdentityV1.WatchRevocationsRequest()
        request.position = .init(position)
        request.heartbeatMilliseconds = heartbeatMilliseconds
        try await client.watchRevocations(request, options: CallOptions(timeout: .seconds(60))) { messages in
            for try await message in messages {
                if try await !enough(message) { return }
            }
        }
    }

    /// The sessions in the stream up to its current end.
    func earlier(from position: [UInt8] = []) async throws -> Earlier {
        let seen = Mutex(Earlier())
        try await watch(from: position) { message in
            seen.withLock { $0.take(message) }
            return !message.caughtUp
        }
        return seen.withLock { $0 }
    }
}

/// The sessions that ended before a stream was opened.
struct Earlier: Sendable {
    var sessionIDs: [String] = []
    var isReset = false
    var sessionsFromMilliseconds: Int64?
    var position: [UInt8] = []
    var messageCount = 0

    mutating func take(_ message: IdentityV1.WatchRevocationsResponse) {
        messageCount += 1
        sessionIDs += message.sessionIds
        if message.reset { isReset = true }
        if message.hasSessionsFromMilliseconds { sessionsFromMilliseconds = message.sessionsFromMilliseconds }
        if !message.position.isEmpty { position = Array(message.position) }
    }
}

extension TestService {
    /// Inserts sessions without sign-ins; returns their ids.
    func makeSessions(_ count: Int) async throws -> [String] {
        let rows = try await database.execute(
            """
            WITH account AS (
                INSERT INTO accounts SELECT gen_random_uuid(), now() FROM generate_series(1, \(count)) RETURNING user_id
            )
            INSERT INTO sessions (session_id, user_id, provider, client_id, opened_account, nonce, created_at, last_used_at,
                expires_at, proof)
            SELECT gen_random_uuid(), user_id, 'apple', 'test', true, decode(repeat('00', 16), 'hex'), now(), now(),
                now() + interval '1 day', 'nonce' FROM account
            RETURNING session_id::text
            """
        )
        return try rows.map { try $0.decode(0, as: String.self) }
    }

    /// The statement that ends sessions in any version.
    static func end(_ sessionIDs: [String]) -> Query {
        """
        UPDATE sessions SET revoked_at = now(), revoke_reason = 'sign_out', expires_at = now()
        WHERE session_id::text = ANY (\(sessionIDs)) AND revoked_at IS NULL
        """
    }
}
