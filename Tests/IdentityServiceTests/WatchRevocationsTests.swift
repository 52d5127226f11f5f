import API
import IdentityDomain
import Models
import Postgres
import RPC
import ServiceKit
import Synchronization
import TestDatabases
import Testing

@testable import IdentityService

/// The stream of ended sessions: its content, its positions, and when it is closed.
@Suite(.timeLimit(.minutes(5)))
struct WatchRevocationsTests {
    @Test(.readsLogsBySnapshots)
    func `A sign-out at one replica reaches a stream of another, by the notification alone`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signIn().tokens
            try await Replica.run(of: service, limits: Replica.onlyWhenTold) { here in
                try await Replica.run(of: service, limits: Replica.onlyWhenTold) { there in
                    let told = Mutex<[String]>([])
                    try await there.watch { message in
                        told.withLock { $0 += message.sessionIds }
                        if message.reset {
                            // The listening connection may be opened after the stream.
                            var isListening = false
                            while !isListening {
                                isListening = try await !service.database.query(
                                    "SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()"
                                ).isEmpty
                            }
                            var request = IdentityV1.SignOutRequest()
                            request.accessToken = tokens.accessToken
                            _ = try await here.client.signOut(request)
                        }
                        return !message.sessionIds.contains(tokens.sessionID)
                    }
                    #expect(told.withLock { $0 } == [tokens.sessionID])
                }
            }
        }
    }

    @Test func `An end without a notification is found by polling`() async throws {
        try await TestService.run { service in
            let sessions = try await service.makeSessions(1)
            try await Replica.run(of: service) { replica in
                try await replica.watch { message in
                    if message.reset { try await service.database.execute(TestService.end(sessions)) }
                    return message.sessionIds != sessions
                }
            }
        }
    }

    @Test func `A watcher continues from its position, page by page`() async throws {
        try await TestService.run { service in
            var limits = RevocationHub.Limits()
            (limits.sessionsPerPage, limits.transactionsInDoubt) = (10, 0)
            try await Replica.run(of: service, limits: limits) { replica in
                let first = try await service.makeSessions(25)
                try await service.database.execute(TestService.end(first))
                let all = try await replica.earlier()
                #expect(all.isReset)
                #expect(Set(all.sessionIDs) == Set(first))
                #expect(all.messageCount == 3)
                #expect(all.sessionsFromMilliseconds == 0)
                let second = try await service.makeSessions(15)
                try await service.database.execute(TestService.end(second))
                let rest = try await replica.earlier(from: all.position)
                #expect(!rest.isReset)
                // Other writers in the cluster hold the position back: then some ends are sent twice.
                #expect(Set(rest.sessionIDs).isSuperset(of: second))
                #expect(Set(rest.sessionIDs).isSubset(of: first + second))
            }
        }
    }

    @Test(.readsLogsBySnapshots)
    func `A position that is too old, of another database, or missing starts again`() async throws {
        try await TestService.run { service in
            try await Replica.run(of: service) { replica in
                let sessions = try await service.makeSessions(2)
                try await service.database.execute(TestService.end(sessions))
                let cursors = service.settings.cursors
                let given = try await replica.earlier().position
                let position: RevocationPosition = try cursors.open(given, for: RevocationPosition.scope)
                #expect(try await !replica.earlier(from: given).isReset)
                // Only positions made by identity are accepted: none without its MAC, and none with a changed bit.
                let flipped = given.dropLast() + [given[given.count - 1] ^ 1]
                for forged in [position.bytes, Array(flipped), Array(given.dropLast()), given + [0]] {
                    #expect(try await replica.earlier(from: forged).isReset)
                }
                func other(
                    _ database: DatabaseIdentity? = nil,
                    horizon: UInt64? = nil,
                    madeAtSeconds: Int64? = nil
                ) -> [UInt8] {
                    let other = RevocationPosition(
                        database: database ?? position.database,
                        horizon: horizon ?? position.horizon,
                        madeAtSeconds: madeAtSeconds ?? position.madeAtSeconds
                    )
                    return cursors.seal(other, for: RevocationPosition.scope)
                }
                let system = position.database.systemIdentifier
                let timeline = position.database.timeline
                let bad = [
                    other(DatabaseIdentity(systemIdentifier: system + 1, timeline: timeline)),
                    other(DatabaseIdentity(systemIdentifier: system, timeline: timeline + 1)),
                    other(horizon: position.horizon + 1_000_000), other(horizon: .max),
                    // No clock made these.
                    other(madeAtSeconds: .min), other(madeAtSeconds: .max),
                ]
                for position in bad {
                    let told = try await replica.earlier(from: position)
                    #expect(told.isReset)
                    #expect(Set(told.sessionIDs) == Set(sessions))
                }
                service.clock.advance(seconds: IdentityStore.revocationsKeptMilliseconds / 1000)
                #expect(try await replica.earlier(from: given).isReset)
            }
        }
    }

    @Test func `The end of all sessions is sent as the time from which sessions count`() async throws {
        try await TestService.run { service in
            try await Replica.run(of: service) { replica in
                let from = Mutex<Int64>(0)
                try await replica.watch { message in
                    if message.reset {
                        let store = service.parts.methods.store
                        let at = try await store.endSessions(.all, count: 0, service.clock.wallClock)
                        from.withLock { $0 = at }
                        return true
                    }
                    let told = message.hasSessionsFromMilliseconds ? message.sessionsFromMilliseconds : nil
                    return told != from.withLock { $0 }
                }
                #expect(try await replica.earlier().sessionsFromMilliseconds == from.withLock { $0 })
            }
        }
    }

    @Test func `Without ends there are heartbeats, and positions that advance`() async throws {
        try await TestService.run { service in
            var limits = RevocationHub.Limits()
            limits.pollInterval = .milliseconds(10)
            limits.heartbeat = .milliseconds(50)
            try await Replica.run(of: service, limits: limits) { replica in
                let count = Mutex(0)
                try await replica.watch { message in
                    #expect(message.caughtUp)
                    #expect(!message.position.isEmpty)
                    #expect(message.heartbeatMilliseconds == (message.reset ? 50 : 0))
                    return count.withLock { count in
                        count += 1
                        return count < 5
                    }
                }
            }
        }
    }

    @Test(
        arguments: [(0, 1_000), (-5, 1_000), (1, 100), (250, 250), (5_000, 1_000), (.max, 1_000)] as [(Int64, Int64)]
    )
    func `A watcher gets the heartbeat that it asks for, within bounds`(asked: Int64, heartbeat: Int64) async throws {
        try await TestService.run { service in
            try await Replica.run(of: service) { replica in
                try await replica.watch(heartbeatMilliseconds: asked) { message in
                    #expect(message.heartbeatMilliseconds == heartbeat)
                    return false
                }
            }
        }
    }

    @Test(arguments: [true, false])
    func `A gateway hears which keys there are, once`(isGateway: Bool) async throws {
        let gateways: CallerTrust = isGateway ? .everybody : .named(["spiffe://example/gateway"])
        try await TestService.run(gateways: gateways) { service in
            var limits = RevocationHub.Limits()
            limits.pollInterval = .milliseconds(10)
            limits.heartbeat = .milliseconds(20)
            try await Replica.run(of: service, limits: limits) { replica in
                let ids = Mutex<[[UInt8]]>([])
                try await replica.watch { message in
                    ids.withLock { ids in
                        ids.append(Array(message.keysID))
                        return ids.count < 4
                    }
                }
                let expected = isGateway ? replica.parts.methods.ownKeys.current.id : []
                #expect(ids.withLock { $0 } == [expected, [], [], []])
            }
        }
    }

    @Test func `A watcher that reads nothing is cut off, and another one is not`() async throws {
        try await TestService.run { service in
            try await Replica.run(of: service) { replica in
                let hub = replica.parts.methods.revocations
                let slow = try hub.join(caller: "slow")
                let quick = try hub.join(caller: "quick")
                let news = RevocationUpdate(
                    sessionIDs: [],
                    position: RevocationPosition(
                        database: DatabaseIdentity(systemIdentifier: 1, timeline: 1),
                        horizon: 1,
                        madeAtSeconds: 0
                    ),
                    toldAtMilliseconds: 0
                )
                var much = news
                much.sessionIDs = (0..<RevocationWatcher.sessionsMax).map { SessionID(high: 0, low: UInt64($0)) }
                #expect(await quick.next() != nil)
                _ = await slow.next()
                #expect(slow.put(much))
                // Reads at once: on a busy machine the rest of this may take longer than a message may wait.
                let told = Task {
                    while let news = await quick.next() {
                        if !news.sessionIDs.isEmpty { return Set(news.sessionIDs.map(\.description)) }
                    }
                    return []
                }
                let sessions = try await service.makeSessions(1)
                try await service.database.execute(TestService.end(sessions))
                #expect(await slow.ended() == .behind)
                #expect(await slow.next() == nil)
                // A poll that failed sends it twice.
                #expect(await told.value == Set(sessions))
                hub.leave(slow)
                hub.leave(quick)
                // An end is counted after it was sent to the watcher.
                var text = MetricsText()
                while !text.text.contains("streams_closed_total{reason=\"behind\"} 1\n"), !Task.isCancelled {
                    await Task.yield()
                    text = MetricsText()
                    hub.write(to: &text)
                }
                #expect(text.text.contains("vestibule_identity_revocation_streams_closed_total{reason=\"behind\"} 1\n"))
                #expect(text.text.contains("vestibule_identity_revocation_watchers 0\n"))
            }
        }
    }

    @Test func `More ends than a poll can hold cut off all streams, and are sent page by page`() async throws {
        try await TestService.run { service in
            var limits = RevocationHub.Limits()
            limits.sessionsPerLookMax = 50
            try await Replica.run(of: service, limits: limits) { replica in
                let sessions = try await service.makeSessions(60)
                let position = Mutex<[UInt8]>([])
                await expectFailure(.resourceExhausted, nil) {
                    try await replica.watch { message in
                        position.withLock { $0 = Array(message.position) }
                        if message.reset { try await service.database.execute(TestService.end(sessions)) }
                        return true
                    }
                }
                let told = try await replica.earlier(from: position.withLock { $0 })
                #expect(Set(told.sessionIDs) == Set(sessions))
                #expect(!told.isReset)
            }
        }
    }

    @Test func `The streams of each caller are limited, and of all callers together`() async throws {
        try await TestService.run { service in
            var limits = RevocationHub.Limits()
            (limits.watchersMax, limits.watchersPerCallerMax) = (3, 2)
            try await Replica.run(of: service, limits: limits) { replica in
                let hub = replica.parts.methods.revocations
                let first = try hub.join(caller: "a")
                _ = try hub.join(caller: "a")
                #expect(throws: RevocationHub.Refusal.tooMany) { try hub.join(caller: "a") }
                _ = try hub.join(caller: "b")
                #expect(throws: RevocationHub.Refusal.tooMany) { try hub.join(caller: "c") }
                await expectFailure(.resourceExhausted, nil) { try await replica.watch { _ in true } }
                hub.leave(first)
                _ = try hub.join(caller: "c")
            }
        }
    }

    @Test func `When the server drains the streams end, and new ones are refused`() async throws {
        try await TestService.run { service in
            try await Replica.run(of: service) { replica in
                await expectFailure(.unavailable, nil) {
                    try await replica.watch { message in
                        if message.reset { replica.parts.methods.revocations.stop() }
                        return true
                    }
                }
                await expectFailure(.unavailable, nil) { try await replica.watch { _ in true } }
                #expect(replica.parts.methods.revocations.watcherCount == 0)
            }
        }
    }
}
