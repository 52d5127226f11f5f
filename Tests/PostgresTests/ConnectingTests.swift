import Dispatch
import Foundation
import LocalPostgres
import RPC
import RPCTransport
import Synchronization
import TestCertificates
import TestDatabases
import Testing

@testable import Postgres

/// Answers nothing until it is released.
private final class HangingResolver: NameResolver {
    private let state = Mutex<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))
    let asked = Atomic(0)
    let answer: [String]

    init(answer: [String] = []) { self.answer = answer }

    func addresses(of host: String) async -> [String] {
        asked.add(1, ordering: .relaxed)
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
        return answer
    }

    func letGo() {
        let waiting = state.withLock { state in
            defer { state = (true, []) }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// Answers as often as the test says, and then never.
private final class ForgetfulResolver: NameResolver {
    let answers: Atomic<Int>
    let address: String
    init(answers: Int, address: String) {
        self.answers = Atomic(answers)
        self.address = address
    }
    func addresses(of host: String) async -> [String] {
        answers.subtract(1, ordering: .relaxed).newValue >= 0 ? [address] : []
    }
}

extension ServerTests {
    struct ConnectingTests {
        @Test(.timeLimit(.minutes(5)))
        func `While a resolver hangs the loop continues, one lookup is made, and calls get an error`() async throws {
            let resolver = HangingResolver()
            var configuration = PostgresConfiguration(host: "db.test", user: "app", database: "app")
            configuration.resolver = resolver
            configuration.waitLimit = .milliseconds(700)
            configuration.connectTimeout = .milliseconds(200)
            try await withClient(configuration) { client, group in
                let call = Task { await postgresError { try await client.ping() } }
                // A loop that waited for the resolver would never answer again.
                while resolver.asked.load(ordering: .relaxed) == 0 { _ = try await group.loops[0].run { 1 } }
                for _ in 0..<100 { _ = try await group.loops[0].run { 1 } }
                guard case .unavailable(let reason) = await call.value else { throw PostgresError.closed }
                #expect(reason.contains("looking up"))
                // Several attempts to connect, and still one lookup.
                #expect(resolver.asked.load(ordering: .relaxed) == 1)
                resolver.letGo()
            }
        }

        @Test
        func `Every address of a name is tried, and the last lookup is used until there is a new one`() async throws {
            try await TCPCluster.run { server in
                // Nothing listens on the first.
                var configuration = server.configuration(host: "db.test", tls: .disable)
                configuration.resolver = TableResolver(table: ["db.test": ["127.255.255.1", server.address]])
                try await withClient(configuration) { client, _ in
                    try await client.ping()
                }
                let forgetful = ForgetfulResolver(answers: 1, address: server.address)
                configuration.resolver = forgetful
                try await withClient(configuration) { client, _ in
                    for _ in 0..<3 {
                        try await client.ping()
                        try server.cluster.runSQL(
                            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app';"
                        )
                    }
                    try await client.ping()
                }
                #expect(forgetful.answers.load(ordering: .relaxed) < -1)
                configuration.resolver = TableResolver(table: [:])
                try await withClient(configuration) { client, _ in
                    guard case .unavailable(let reason) = await postgresError({ try await client.ping() }) else {
                        throw PostgresError.closed
                    }
                    #expect(reason.contains("has no address"))
                }
            }
        }

        @Test(.enabled(if: TCPCluster.hasTLS, "this PostgreSQL was built without TLS"))
        func `If the server must prove its name nothing is sent in clear text, nor to another server`() async throws {
            let authority = try TestAuthority()
            defer { authority.remove() }
            let stranger = try TestAuthority()
            defer { stranger.remove() }
            let certificate = try authority.issue("db", names: "DNS:db.test")
            let proof = PostgresTLS.verifyFull(authoritiesFile: authority.file)

            func isEncrypted(_ server: TCPCluster, _ host: String, _ tls: PostgresTLS) async throws -> Bool {
                var configuration = server.configuration(host: host, tls: tls)
                configuration.resolver = TableResolver(table: [
                    "db.test": [server.address], "other.test": [server.address],
                ])
                return try await withClient(configuration) { client, _ in
                    try await client.query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")[0]
                        .decode(0, as: Bool.self)
                }
            }
            func refusal(_ server: TCPCluster, _ host: String, _ tls: PostgresTLS) async throws -> String {
                let error = await postgresError { try await isEncrypted(server, host, tls) }
                guard case .unavailable(let reason) = error else { throw error ?? .closed }
                return reason
            }

            try await TCPCluster.run(certificate: certificate) { server in
                let proven = try await isEncrypted(server, "db.test", proof)
                let required = try await isEncrypted(server, "other.test", .require)
                let preferred = try await isEncrypted(server, "other.test", .prefer)
                let disabled = try await isEncrypted(server, "db.test", .disable)
                #expect([proven, required, preferred, disabled] == [true, true, true, false])
                let wrongName = try await refusal(server, "other.test", proof)
                #expect(wrongName.contains("does not match host name"))
                let foreign = PostgresTLS.verifyFull(authoritiesFile: stranger.file)
                let wrongAuthority = try await refusal(server, "db.test", foreign)
                #expect(wrongAuthority.contains("certificate verify failed"))
                let missing = PostgresTLS.verifyFull(authoritiesFile: "/nowhere")
                let noAuthority = try await refusal(server, "db.test", missing)
                #expect(noAuthority.contains("/nowhere"))
            }
            try await TCPCluster.run { server in
                let isPreferred = try await isEncrypted(server, "db.test", .prefer)
                #expect(!isPreferred)
                let inClear = try await refusal(server, "db.test", proof)
                #expect(inClear.contains("does not support SSL"))
                let log = try String(contentsOfFile: server.folder + "/server.log", encoding: .utf8)
                #expect(!log.contains("FATAL"))
                var configuration = server.configuration(host: server.address, tls: proof)
                configuration.connectTimeout = .seconds(2)
                let migration = await migrationError {
                    try await Migrator(configuration).run([], schema: "app")
                }
                guard case .unavailable(let reason) = migration else { throw PostgresError.closed }
                #expect(reason.contains("does not support SSL"))
            }
        }

        @Test
        func `A server that has become a standby is left for the primary, with no write lost or unknown`()
            async throws
        {
            try await TCPCluster.run { first in
                try await TCPCluster.run { second in
                    for server in [first, second] {
                        try server.cluster.runSQL(
                            "CREATE TABLE t (n bigint PRIMARY KEY); GRANT ALL ON t TO app;",
                            database: "app"
                        )
                    }
                    try await second.setReadOnly(true)
                    var configuration = first.configuration(host: "\(second.address), \(first.address)", tls: .disable)
                    configuration.connectionsPerLoop = 2
                    configuration.waitLimit = .milliseconds(500)
                    try await withClient(configuration) { client, _ in
                        try await client.execute("INSERT INTO t VALUES (1)")
                        try await first.setReadOnly(true)
                        // No server accepts writes now: the error says so, and the former primary doesn't answer reads.
                        for n in 2...4 {
                            let error = await postgresError { try await client.execute("INSERT INTO t VALUES (\(n))") }
                            #expect(error?.isUnavailable == true)
                            switch error {
                            case .timeout(true), .connectionLost(true), .cancelled(true): Issue.record("in doubt: \(n)")
                            default: break
                            }
                        }
                        let refused = await postgresError {
                            try await client.withTransaction { try await $0.execute("INSERT INTO t VALUES (5)") }
                        }
                        #expect(refused?.isUnavailable == true)
                        try await second.setReadOnly(false)
                        let end = ContinuousClock.now + .seconds(10)
                        var isThere = false
                        while !isThere, ContinuousClock.now < end {
                            let insert: Query = "INSERT INTO t VALUES (6)"
                            isThere = await postgresError { try await client.execute(insert) } == nil
                        }
                        #expect(isThere)
                        // The next failover is detected by a write and a transaction that succeed by themselves.
                        try await first.setReadOnly(false)
                        try await second.setReadOnly(true)
                        try await client.execute("INSERT INTO t VALUES (7)")
                        try await second.setReadOnly(false)
                        try await first.setReadOnly(true)
                        let rows = try await client.withTransaction(retries: 9, deadline: .after(.seconds(10))) {
                            try await $0.execute("INSERT INTO t VALUES (8)")
                        }
                        #expect(rows.affected == 1)
                    }
                    let rows = "SELECT string_agg(n::text, ',' ORDER BY n) FROM t;"
                    #expect(try first.cluster.runSQL(rows, database: "app") == "1,7")
                    #expect(try second.cluster.runSQL(rows, database: "app") == "6,8")
                }
            }
        }

        @Test
        func `A failure to connect is reported, once in a while and without the password`() async throws {
            let told = Mutex<[String]>([])
            try await withClient(configure: {
                $0.password = "not this one"
                $0.waitLimit = .milliseconds(800)
                $0.onConnectionFailure = { reason in told.withLock { $0.append(reason) } }
            }) { client, _ in
                let error = await postgresError { try await client.ping() }
                #expect(error != nil)
                let attempts = client.statistics(waitingAtMost: .seconds(10))[0].connectionsLost
                #expect(attempts > 1)
                let reasons = told.withLock { $0 }
                #expect(reasons.count == 1)
                #expect(reasons[0].contains("password authentication failed"))
                #expect(!reasons[0].contains("not this"))
            }
        }
    }
}
