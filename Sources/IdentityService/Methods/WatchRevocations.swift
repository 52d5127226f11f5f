import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Tells which sessions end, for as long as the caller takes it and this server serves.
    func watchRevocations(
        _ request: IdentityV1.WatchRevocationsRequest,
        responses: MessageWriter<IdentityV1.WatchRevocationsResponse>,
        context: ServerContext
    ) async throws {
        try await context.answer {
            let watcher = try join(context.peer, request.heartbeatMilliseconds)
            defer { revocations.leave(watcher) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                let isGateway = gateways.believes(context.peer.certificateNames)
                group.addTask { try await tell(watcher, from: request.position, isGateway: isGateway, responses) }
                // Cuts off a caller who takes nothing, too.
                group.addTask {
                    if let end = await watcher.ended() { throw RPCError(end) }
                }
                try await group.next()
                try Task.checkCancellation()
                // News end when the watcher has: what the other task throws is why.
                try await group.next()
            }
        }
    }

    private func join(_ peer: PeerInfo, _ heartbeatMilliseconds: Int64) throws(RPCError) -> RevocationWatcher {
        // Without a certificate by address, less the port.
        let address = peer.address.lastIndex(of: ":").map { String(peer.address[..<$0]) } ?? peer.address
        do {
            return try revocations.join(
                caller: peer.certificateNames.isEmpty ? address : peer.certificateNames.joined(separator: " "),
                heartbeat: heartbeatMilliseconds > 0 ? .milliseconds(min(heartbeatMilliseconds, 60_000)) : nil
            )
        } catch {
            switch error {
            case .tooMany: throw RPCError(.resourceExhausted, "too many watch which sessions end")
            case .stopping: throw RPCError(.unavailable, "the server is stopping")
            }
        }
    }

    private func tell(
        _ watcher: RevocationWatcher,
        from position: some Collection<UInt8> & Sendable,
        isGateway: Bool,
        _ responses: MessageWriter<IdentityV1.WatchRevocationsResponse>
    ) async throws {
        var keys = KeyNews(isGateway: isGateway)
        // After a look, what is not read here is sent by a later one. What this update holds is read as well.
        guard await watcher.next() != nil else { return }
        try await tellEarlier(
            from: opened(position),
            heartbeat: watcher.heartbeat,
            keysID: keys.next(ownKeys.current),
            responses
        )
        while let news = await watcher.next() {
            var message = IdentityV1.WatchRevocationsResponse()
            message.add(news.sessionIDs, sessionsFromMilliseconds: news.sessionsFromMilliseconds)
            message.accountChanges = news.accountChanges.map { IdentityV1.AccountChange($0) }
            message.keysID = .init(keys.next(ownKeys.current))
            message.finish(sealed(news.position), toldAtMilliseconds: news.toldAtMilliseconds, readAt: news.readAt)
            try await responses.write(message)
        }
    }

    /// Whether the keys are other ones than in the message before.
    private struct KeyNews {
        let isGateway: Bool
        var last: [UInt8] = []

        /// The id of the keys if it has to be sent, else nothing.
        mutating func next(_ keys: KeysInUse) -> [UInt8] {
            guard isGateway, keys.id != last else { return [] }
            last = keys.id
            return last
        }
    }

    /// Opens a caller's position; nil, for a reset, if it is none of ours.
    private func opened(_ position: some Collection<UInt8>) -> RevocationPosition? {
        try? ownKeys.current.cursors.open(position, for: RevocationPosition.scope)
    }

    private func sealed(_ position: RevocationPosition) -> [UInt8] {
        ownKeys.current.cursors.seal(position, for: RevocationPosition.scope)
    }

    /// Sends the sessions that ended earlier, page by page. What is committed between two pages, before the position of the second, is sent by
    /// the look after it.
    private func tellEarlier(
        from position: RevocationPosition?,
        heartbeat: Duration,
        keysID: [UInt8],
        _ responses: MessageWriter<IdentityV1.WatchRevocationsResponse>
    ) async throws {
        let (now, begun) = (clock.nowMilliseconds, ContinuousClock.now)
        let limits = revocations.limits
        let size = limits.sessionsPerPage
        let log = revocations.log
        func page(after place: RevocationPlace) async throws -> RevocationsRead {
            try await log.read(after: place, limit: size, deadline: nil)
        }
        let from = position.map { log.place(before: $0.horizon) } ?? .before(0)
        var read = try await page(after: from)
        let isReset = !(position?.isGood(for: read, nowSeconds: now / 1000) ?? false)
        if isReset, from != .before(0) { read = try await page(after: .before(0)) }
        let reached = RevocationPosition(
            database: read.database,
            horizon: read.seen.horizon,
            madeAtSeconds: now / 1000
        )
        var message = IdentityV1.WatchRevocationsResponse()
        message.reset = isReset
        message.keysID = .init(keysID)
        message.heartbeatMilliseconds = Int64(heartbeat / .milliseconds(1))
        message.believedMilliseconds = IdentityStore.tokensBelievedMilliseconds
        message.add(read.sessionIDs, sessionsFromMilliseconds: read.sessionsFromMilliseconds)
        while let last = read.last, read.sessionIDs.count >= size {
            try await responses.write(message)
            read = try await page(after: last)
            guard read.database == reached.database else { throw RPCError(.database) }
            message = IdentityV1.WatchRevocationsResponse()
            message.add(read.sessionIDs, sessionsFromMilliseconds: nil)
        }
        message.finish(sealed(reached), toldAtMilliseconds: now, readAt: begun)
        try await responses.write(message)
    }
}

extension IdentityV1.WatchRevocationsResponse {
    fileprivate mutating func add(_ sessionIDs: [SessionID], sessionsFromMilliseconds: Int64?) {
        self.sessionIds = sessionIDs.map(\.description)
        if let sessionsFromMilliseconds { self.sessionsFromMilliseconds = sessionsFromMilliseconds }
    }

    /// The caller knows all now.
    fileprivate mutating func finish(_ position: [UInt8], toldAtMilliseconds: Int64, readAt: ContinuousClock.Instant) {
        caughtUp = true
        self.position = .init(position)
        self.toldAtMilliseconds = toldAtMilliseconds
        ageMilliseconds = Int64((ContinuousClock.now - readAt) / .milliseconds(1))
    }
}

extension RPCError {
    fileprivate init(_ end: RevocationWatcher.End) {
        switch end {
        case .behind: self.init(.resourceExhausted, "the caller is behind: it comes back with its last position")
        case .stopping: self.init(.unavailable, "the server is stopping")
        case .database: self.init(.unavailable, "the database is another one")
        }
    }
}
