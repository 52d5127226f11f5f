import RPCTransport

/// Makes one call after another, like a phone: it refreshes an expired access token and repeats the call, retries a refresh with
/// a lost response with the same token, and signs in again when a session has ended.
///
/// Runs on its lane's loop, like all code that it awaits.
struct Worker: Sendable {
    private static let pauseFirst: Duration = .milliseconds(5)
    private static let pauseMax: Duration = .milliseconds(100)

    let lane: Lane
    let target: any Target
    let source: any TokenSource
    /// Whether it waits after an error: in a closed loop, where it would otherwise call an unreachable server a hundred thousand
    /// times per second. The calls of an open loop have fixed starts.
    let pausesAfterErrors: Bool

    /// Makes calls until the run is over.
    func run() async {
        var pause = Self.pauseFirst
        while let start = await lane.nextStart() {
            let operation = lane.nextOperation()
            let account = lane.accounts.take()
            let failure = await call(operation, account)
            lane.accounts.giveBack(account)
            lane.record(operation, start: start, failure: failure)
            if failure == nil {
                pause = Self.pauseFirst
            } else if !pausesAfterErrors {
                // A call may fail without suspending, and the loop must serve other workers.
                await Task.yield()
            } else if !lane.isOver {
                try? await Task.sleep(for: pause)
                pause = min(pause * 2, Self.pauseMax)
            }
        }
    }

    private func call(_ operation: Operation, _ account: Int) async -> CallFailure? {
        do throws(CallFailure) {
            if lane.accounts[account].isSignedOut { try await signInAgain(account) }
            do throws(CallFailure) {
                try await once(operation, account)
            } catch {
                guard error.asksForRefresh else { throw error }
                lane.side.expiredTokenCount += 1
                try await refresh(account)
                try await once(operation, account)
            }
            return nil
        } catch {
            // A rejected sign-in doesn't end the account's current session.
            if error.endsSession, operation != .signIn { lane.accounts[account].isSignedOut = true }
            return error
        }
    }

    private func once(_ operation: Operation, _ account: Int) async throws(CallFailure) {
        switch operation {
        case .checkSession: try await check(account)
        case .refresh: try await refresh(account)
        case .refreshAndCheck:
            try await refresh(account)
            _ = try await target.checkSession(lane.accounts[account])
        case .signIn: _ = try await target.signIn(try await nextProof(account))
        case .getProfile:
            try await prove(account)
            try await target.getProfile(lane.accounts[account])
        case .updateProfile:
            try await prove(account)
            lane.updateCount += 1
            let name = lane.updateCount.isMultiple(of: 2) ? "Load Generator" : "Generator of Load"
            try await target.updateProfile(lane.accounts[account], name: name, phone: nil)
        case .claimPhone:
            try await prove(account)
            try await target.updateProfile(lane.accounts[account], name: "Load Generator", phone: lane.phones.next())
        }
    }

    private func check(_ account: Int) async throws(CallFailure) {
        let proof = try await target.checkSession(lane.accounts[account])
        lane.accounts[account].take(proof)
    }

    /// Renews the account's proof by a CheckSession if it is too old for profile. A gateway does so with each call.
    private func prove(_ account: Int) async throws(CallFailure) {
        guard target.needsProofs, lane.accounts[account].profileProof?.isFresh != true else { return }
        lane.side.renewedProofCount += 1
        try await check(account)
    }

    /// Refreshes the session. The token is replaced only when the next one has arrived: after a lost response the same token is sent
    /// again, and the server accepts it as a retry.
    private func refresh(_ account: Int) async throws(CallFailure) {
        let tokens: SessionTokens
        do throws(CallFailure) {
            tokens = try await target.refresh(lane.accounts[account].refreshToken)
        } catch {
            if !error.endsSession { lane.accounts[account].awaitsLostAnswer = true }
            throw error
        }
        if lane.accounts[account].awaitsLostAnswer { lane.side.resumedRefreshCount += 1 }
        lane.accounts[account].take(tokens)
    }

    private func signInAgain(_ account: Int) async throws(CallFailure) {
        lane.side.repeatedSignInCount += 1
        let proof = try await source.proof(email: lane.accounts[account].email)
        lane.accounts[account].take(try await target.signIn(proof))
    }

    private func nextProof(_ account: Int) async throws(CallFailure) -> ProviderProof {
        if let proof = lane.proofs.popLast() { return proof }
        lane.side.lateTokenCount += 1
        return try await source.proof(email: lane.accounts[account].email)
    }
}
