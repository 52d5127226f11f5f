import JOSE
import RPCTransport

/// Makes the accounts and the provider tokens before the first call is measured.
struct Preparation: Sendable {
    /// How many are made concurrently: enough to keep a simulator busy.
    private static let atOnce = 16
    /// The maximum of attempts for one account: requests are limited by address, and a random phone number may be taken.
    private static let triesMax = 60

    let plan: LoadPlan
    let source: any TokenSource
    let target: any Target
    let console: LoadConsole

    /// Accounts that have signed in, or whose sessions are in the sessions file, with a profile if the scenario needs one. Throws
    /// `CallFailure` for the first account that can't be made, or `LoadError`.
    func accounts() async throws -> [Account] {
        guard let path = plan.sessionsFile else { return try await signedIn() }
        let accounts = try SessionsFile.accounts(path, countMin: plan.workerCount)
        guard plan.scenario.callsProfile, target.needsProofs else { return accounts }
        // Fetched now, so that a short run measures only profile, and not identity as well.
        return try await many("proofs", accounts.count) { number in
            var account = accounts[number]
            account.take(try await target.checkSession(account))
            return account
        }
    }

    private func signedIn() async throws -> [Account] {
        try await many("accounts", plan.accountCount) { _ in
            let email = "load-\(Hex.encode(SecureRandom.bytes(10)))@example.com"
            var account: Account?
            return try await patiently {
                if account == nil {
                    account = Account(email: email, tokens: try await target.signIn(source.proof(email: email)))
                }
                guard let account else { preconditionFailure("just made") }
                if plan.scenario.needsProfiles {
                    try await target.updateProfile(
                        account,
                        name: "Load Generator",
                        phone: "+\(PhoneSequence.randomFirst())"
                    )
                }
                return account
            }
        }
    }

    /// Tokens for sign-ins of those accounts.
    func proofs(_ accounts: [Account]) async throws -> [ProviderProof] {
        guard plan.tokenCount > 0 else { return [] }
        return try await many("tokens", plan.tokenCount) { number in
            try await source.proof(email: accounts[number % accounts.count].email)
        }
    }

    /// Retries where that helps: after a wait for RATE_LIMITED, immediately with another number for PHONE_TAKEN.
    private func patiently(_ body: () async throws -> Account) async throws -> Account {
        var tries = 1
        while true {
            do {
                return try await body()
            } catch let failure as CallFailure {
                let isLimited = failure.reason == "RATE_LIMITED"
                guard isLimited || failure.reason == "PHONE_TAKEN", tries < Self.triesMax else { throw failure }
                tries += 1
                if isLimited { try await Task.sleep(for: .milliseconds(500)) }
            }
        }
    }

    private func many<Made: Sendable>(
        _ title: String,
        _ count: Int,
        _ make: @escaping @Sendable (Int) async throws -> Made
    ) async throws -> [Made] {
        try await withThrowingTaskGroup(of: Made.self) { group in
            var made: [Made] = []
            made.reserveCapacity(count)
            var begun = 0
            while begun < min(Self.atOnce, count) {
                group.addTask { [begun] in try await make(begun) }
                begun += 1
            }
            while let one = try await group.next() {
                made.append(one)
                console.progress(title, done: made.count, of: count)
                if begun < count {
                    group.addTask { [begun] in try await make(begun) }
                    begun += 1
                }
            }
            return made
        }
    }
}
