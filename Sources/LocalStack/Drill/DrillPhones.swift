import JOSE

/// The load of a drill: phones that sign up, save a name, and now and then delete the account again; and after the restore the
/// comparison of what is there with what was acknowledged.
struct DrillPhones: Sendable {
    /// Every so manieth account is deleted again.
    private static let deletedOneOf = 8
    private static let pauseAfterFailure = Duration.milliseconds(20)
    static let countMax = 32

    let app: DemoApp
    let count: Int

    /// Makes calls until the task is cancelled. Calls that fail are not counted, as nobody was promised anything.
    func call(_ ledger: DrillLedger) async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    var number = 0
                    while !Task.isCancelled {
                        number += 1
                        do {
                            try await live(ledger, isDeleted: number % Self.deletedOneOf == 0)
                        } catch {
                            try? await Task.sleep(for: Self.pauseAfterFailure)
                        }
                    }
                }
            }
        }
    }

    private func live(_ ledger: DrillLedger, isDeleted: Bool) async throws {
        let person = DemoPerson(role: "Drill")
        let session = try await app.signInWithGoogle(person)
        let index = await ledger.add(person, session)
        _ = try await app.gateway.send(
            "PATCH",
            "/me",
            accessToken: session.accessToken,
            body: ["display_name": .string(person.fullName)],
            expecting: 200
        )
        await ledger.named(index)
        guard isDeleted else { return }
        await ledger.deleting(index)
        _ = try await app.gateway.send("DELETE", "/me", accessToken: session.accessToken, expecting: 204)
        await ledger.deleted(index)
    }

    /// Compares all entries with what is there.
    ///
    /// - Parameter destroyedAt: when the database was destroyed.
    func compare(
        _ entries: [DrillLedger.Entry],
        destroyedAt: ContinuousClock.Instant
    ) async throws -> DrillComparison {
        try await withThrowingTaskGroup(of: DrillComparison.self) { group in
            for worker in 0..<count {
                group.addTask {
                    var found = DrillComparison()
                    for index in stride(from: worker, to: entries.count, by: count) {
                        try await compare(entries[index], destroyedAt, &found)
                    }
                    return found
                }
            }
            return try await group.reduce(into: DrillComparison()) { $0.add($1) }
        }
    }

    private func compare(
        _ entry: DrillLedger.Entry,
        _ destroyedAt: ContinuousClock.Instant,
        _ found: inout DrillComparison
    ) async throws {
        let former = try await app.gateway.send("GET", "/me", accessToken: entry.session.accessToken)
        if former.status != 401 { found.liveSessions += 1 }
        // Of a deletion without an answer, both outcomes are right.
        if entry.wasDeletionTried, entry.deletedAt == nil { return }
        let session = try await app.signInWithGoogle(entry.person)
        let isSame = session.userID == entry.session.userID
        if let deletedAt = entry.deletedAt {
            found.deletions += 1
            if isSame { found.lost.append(destroyedAt - deletedAt) }
            return
        }
        found.accounts += 1
        if !isSame { found.lost.append(destroyedAt - entry.signedInAt) }
        guard let namedAt = entry.namedAt else { return }
        found.names += 1
        let me = try await app.gateway.send("GET", "/me", accessToken: session.accessToken, expecting: 200)
        if me.json["display_name"]?.string != entry.person.fullName { found.lost.append(destroyedAt - namedAt) }
    }
}

/// The outcome of a comparison.
struct DrillComparison: Sendable, Hashable {
    /// Acknowledged writes that were compared.
    var accounts = 0
    var names = 0
    var deletions = 0
    /// For each acknowledged write that is missing, how long before the destruction it was acknowledged.
    var lost: [Duration] = []
    /// Access tokens from before that are still accepted.
    var liveSessions = 0

    mutating func add(_ other: DrillComparison) {
        accounts += other.accounts
        names += other.names
        deletions += other.deletions
        lost += other.lost
        liveSessions += other.liveSessions
    }
}
