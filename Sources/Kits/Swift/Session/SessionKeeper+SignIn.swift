extension SessionKeeper {
    /// Keeps what a provider says once, until the server has it.
    ///
    /// - Returns: What is to be sent: this, or what was kept of the same user before; nil if there is nothing.
    func keepName(_ name: SessionRecord.PendingName) async throws -> SessionRecord.PendingName? {
        guard !name.isEmpty else {
            guard let kept = try await record().pendingName, name.isSameUser(as: kept), !kept.hasExpired(clock.wall())
            else { return nil }
            return kept
        }
        return try await locked { record in record.pendingName = name.merged(with: record.pendingName) }.pendingName
    }

    /// Keeps a new session in the place of the one there was, which is ended at the server, or kept if it is a guest's.
    ///
    /// - Parameter sent: The name that the server got with it.
    /// - Throws: ``VestibuleError`` with `SIGNED_IN` for a guest if somebody has signed in meanwhile, and others.
    func begin(_ session: SessionRecord.Session, sent: SessionRecord.PendingName? = nil) async throws {
        let record = try await locked { record in
            record.begin(session)
            if record.pendingName == sent { record.pendingName = nil }
            if record.session?.accessToken == session.accessToken { await self.received(session) }
        }
        endSessionsAtServer(record)
        if session.isGuest, record.session?.isSame(as: session) != true { throw VestibuleError.signedIn }
    }

    /// Forgets the guest that is kept, unless it is another one by now.
    func forget(_ guest: SessionRecord.Guest) async {
        // If the store fails, the guest stays, and the server says the same again.
        _ = try? await locked { record in if record.guest == guest { record.guest = nil } }
    }

    /// Keeps the session that a call of a session was answered with, which is over by that.
    func replace(_ former: SessionRecord.Session, by session: SessionRecord.Session) async throws {
        let record = try await locked { record in
            guard let present = record.session, present.isSame(as: former) else {
                // Another user has signed in meanwhile, or this one out: nobody needs it.
                record.end(.init(refreshToken: session.refreshToken, clientID: session.clientID))
                return
            }
            record.session = nil
            record.begin(session)
            await self.received(session)
        }
        endSessionsAtServer(record)
    }

    /// Forgets a name that the server has got.
    func forgetName(_ sent: SessionRecord.PendingName?) async {
        guard let sent else { return }
        // If the store fails, it is sent once more.
        _ = try? await locked { record in if record.pendingName == sent { record.pendingName = nil } }
    }

    /// Keeps a sign-in by the page until its answer comes.
    func keepHosted(_ hosted: SessionRecord.Hosted) async throws {
        try await locked { record in record.hosted = (record.hosted + [hosted]).suffix(SessionRecord.hostedMax) }
    }

    /// Takes the sign-in that an answer belongs to, which is good once; nil if there is none.
    func takeHosted(state: String?) async throws -> SessionRecord.Hosted? {
        let taken = Box<SessionRecord.Hosted?>(nil)
        try await locked { record in
            taken.value = record.hosted.first { $0.state == state }
            record.hosted.removeAll { $0.state == state }
        }
        return taken.value
    }

    // MARK: The end

    /// Ends the session: at once for the app, and at the server as soon as that can be reached. It goes on if its caller stops waiting.
    ///
    /// - Parameter deadline: How long the store's lock and the server are waited for. The server is asked again later then.
    /// - Throws: ``VestibuleError`` with `STORE_FAILED` or `TIMEOUT`, or `CancellationError`.
    package func signOut(_ deadline: Deadline) async throws {
        // Else it would hold the lock for as long as the network takes.
        cancelRefresh()
        try await deadline.run { [self] in try await Flight.run { try await self.leave() } }
        try? await deadline.run { [self] in
            try await waitForEnds()
        }
    }

    private func leave() async throws {
        let record = try await locked { record in
            record.leaveSession()
            record.leaveGuest()
            record.ended = nil
        }
        endSessionsAtServer(record)
    }

    /// The user has ended a session at the server.
    ///
    /// If there is another session by now, that stays.
    func end(_ session: SessionRecord.Session) async {
        // If the store fails, the next call finds it out again.
        let record = try? await locked { record in
            guard record.session?.isSame(as: session) == true else { return }
            record.session = nil
            record.leaveGuest()
        }
        if let record { endSessionsAtServer(record) }
    }

    /// Ends at the server what was left, in the background and by one task at a time. What isn't confirmed is tried again after the next
    /// refresh, and at the next start.
    func endSessionsAtServer(_ record: SessionRecord) {
        guard !record.signOuts.isEmpty, ending == nil else { return }
        let flight = Flight<Void>()
        ending = flight
        Task {
            await self.endAll()
            self.ending = nil
            flight.finish(.success(()))
        }
    }

    /// Waits for the task of ``endSessionsAtServer(_:)``.
    ///
    /// - Throws: `CancellationError`.
    private func waitForEnds() async throws { try await ending?.value() }

    private func endAll() async {
        let deadline = Deadline(in: refreshDeadline)
        var tried: [SessionRecord.SignOut] = []
        // Each time as the record is then: a sign-in may have opened one of them again, or replaced another one.
        while let signOut = try? await record().signOuts.first(where: { !tried.contains($0) }) {
            tried.append(signOut)
            let isConfirmed = try? await deadline.run { [server] in await server.end(signOut, deadline) }
            guard isConfirmed == true else { continue }
            _ = try? await locked { record in record.signOuts.removeAll { $0 == signOut } }
        }
    }
}
