import JOSE
import Synchronization
import WebPages

/// A browser's session at the console.
struct ConsoleSession: Sendable, Hashable {
    /// By what the operator signed in.
    enum Way: Sendable, Hashable {
        /// By a certificate, which each request's connection must have proven too.
        case certificate
        /// By the provider: as whom, and when the person proved it.
        case provider(ProviderSubject, SignInProof)
    }

    /// The operator's name. The role is looked up with each request.
    let name: String
    let way: Way
    /// When it began.
    let beganAt: ConsoleTime
    /// When it was last used by the operator.
    var usedAt: ConsoleTime
    /// What each form of its pages has.
    let formValue: String
}

/// The sessions of the console, in memory: a restart ends them. Keyed by a hash of the cookie's value, so that no memory dump has one.
final class ConsoleSessions: Sendable {
    /// The most sessions; the one used longest ago makes room.
    static let countMax = 256
    /// The most sessions of one operator, so that none ends those of others.
    static let countOfOneMax = 8
    private static let tokenByteCount = 32

    /// How long sessions last.
    struct Limits: Sendable, Hashable {
        /// From its beginning, in seconds.
        var lifetimeSeconds: Int64
        /// Without a use, in seconds.
        var idleSeconds: Int64
    }

    private let limits: Limits
    private let sessions = Mutex<[[UInt8]: ConsoleSession]>([:])

    init(limits: Limits) { self.limits = limits }

    /// Begins a session, and returns the value of its cookie.
    func begin(_ name: String, _ way: ConsoleSession.Way, now: ConsoleTime) -> String {
        let token = Base64URL.encode(SecureRandom.bytes(Self.tokenByteCount))
        let session = ConsoleSession(
            name: name,
            way: way,
            beganAt: now,
            usedAt: now,
            formValue: PageForm.value(ofToken: token)
        )
        sessions.withLock { sessions in
            sessions = sessions.filter { isAlive($0.value, now) }
            let own = sessions.filter { $0.value.name == name }
            for (crowd, most) in [(own, Self.countOfOneMax), (sessions, Self.countMax)] where crowd.count >= most {
                let oldest = crowd.min { $0.value.usedAt.runSeconds < $1.value.usedAt.runSeconds }
                if let oldest { sessions[oldest.key] = nil }
            }
            sessions[SHA256.hash(token)] = session
        }
        return token
    }

    /// The live session of a cookie.
    ///
    /// - Parameter isByOperator: whether to count it as a use; not for a page that asks for more by itself.
    func use(_ token: String, now: ConsoleTime, isByOperator: Bool) -> ConsoleSession? {
        guard !token.isEmpty else { return nil }
        let key = SHA256.hash(token)
        return sessions.withLock { sessions in
            guard var session = sessions[key] else { return nil }
            guard isAlive(session, now) else {
                sessions[key] = nil
                return nil
            }
            if isByOperator {
                session.usedAt = now
                sessions[key] = session
            }
            return session
        }
    }

    /// Ends a session.
    func end(_ token: String) { sessions.withLock { $0[SHA256.hash(token)] = nil } }

    private func isAlive(_ session: ConsoleSession, _ now: ConsoleTime) -> Bool {
        now.seconds(since: session.beganAt) < limits.lifetimeSeconds
            && now.seconds(since: session.usedAt) < limits.idleSeconds
    }
}
