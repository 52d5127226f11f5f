extension SessionKeeper {
    /// Waits for the refresh that is under way, or begins one. A caller that is cancelled stops waiting; the refresh goes on.
    func renewed(replacing refreshToken: String) async throws -> SessionRecord.Session {
        if let refresh { return try await refresh.flight.value() }
        let (rest, error) = pauseLeft(refreshToken)
        if let error, rest > server.retries.policy.longestPause * server.retries.policy.factor { throw error }
        let flight = Flight<SessionRecord.Session>()
        let task = Task {
            let result: Result<SessionRecord.Session, any Error>
            do {
                result = .success(try await self.refresh(replacing: refreshToken))
            } catch {
                // Signing out cancels it.
                result = .failure(Task.isCancelled ? VestibuleError.signedOut : error)
            }
            self.refresh = nil
            flight.finish(result)
        }
        refresh = (flight, task)
        return try await flight.value()
    }

    /// What is left of the pause that the server asked for, and how it did.
    private func pauseLeft(_ refreshToken: String) -> (Duration, VestibuleError?) {
        guard let pause, pause.refreshToken == refreshToken else { return (.zero, nil) }
        return (pause.until - clock.elapsed(), pause.error)
    }

    private func refresh(replacing refreshToken: String) async throws -> SessionRecord.Session {
        try await Task.sleep(for: max(.zero, pauseLeft(refreshToken).0))
        let deadline = Deadline(in: refreshDeadline)
        let record = Box(SessionRecord())
        do {
            try await deadline.run { [self] in
                // The lock is free during the pauses.
                _ = try await server.retries.run(deadline, mayRetry: SessionServer.mayRetryRefresh) { timeout in
                    let timeout = min(timeout, server.retries.policy.refreshTryMax)
                    record.value = try await tryRefresh(replacing: refreshToken, timeout)
                    return JSONObject()
                }
            }
        } catch let failure as CallFailure {
            let error = failure.error
            if let asked = error.retryAfter {
                let until = clock.elapsed() + min(asked, RetryPolicy.waitMax) * server.retries.policy.factor
                pause = (refreshToken, until, error)
            }
            throw error
        }
        guard let session = record.value.session else { throw VestibuleError.signedOut }
        pause = nil
        endSessionsAtServer(record.value)
        return session
    }

    private func tryRefresh(replacing refreshToken: String, _ timeout: Duration) async throws -> SessionRecord {
        let over = Box<VestibuleError?>(nil)
        let record = try await locked { [self] record in
            // Another process was faster.
            guard let session = record.session, session.refreshToken == refreshToken else { return }
            switch try await server.refresh(session, timeout) {
            case .session(let new):
                record.session = new
                await received(new)
            case .over(let error):
                record.session = nil
                record.ended = error.code
                over.value = error
            }
        }
        if let error = over.value { throw error }
        return record
    }

    /// Stops the refresh that is under way, whose answer nobody needs any more.
    func cancelRefresh() { refresh?.task.cancel() }
}
