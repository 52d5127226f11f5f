import Foundation

/// An app's client of a Vestibule server: it signs the user in and out, keeps the session, and makes calls.
///
/// An app makes one for its whole life. Nothing happens until it is used. All functions may be called by any task; a call whose task is
/// cancelled ends with `CancellationError`.
public final class Vestibule: Sendable {
    /// How long a call may take unless it says otherwise.
    public static let defaultDeadline: Duration = .seconds(30)

    /// Where the server is.
    public let url: URL
    /// The app's client of OpenID Connect; nil if the app signs in by providers' credentials alone.
    public let clientID: String?

    /// The issuer of the server's tokens, as its pages name themselves.
    let issuer: String
    let deadline: Duration
    let wire: Wire
    let retries: Retries
    let clock: TokenClock
    package let keeper: SessionKeeper

    /// A client.
    ///
    /// - Parameters:
    ///   - url: Where the server is, such as `https://api.example.com`. `http` is good for this machine alone (`http://127.0.0.1:8080`);
    ///     with another URL the program ends here.
    ///   - clientID: The app's client of OpenID Connect, if it signs users in by the server's page.
    ///   - issuer: The issuer of the server's tokens, if its URL is another one than `url`.
    ///   - store: Where the session is kept.
    ///   - deadline: How long a call may take, waiting and retries among it.
    ///   - languages: Tags (BCP 47) of the languages in which the server's messages should be, in the order of preference.
    public convenience init(
        url: URL,
        clientID: String? = nil,
        issuer: String? = nil,
        store: any SessionStore,
        deadline: Duration = Vestibule.defaultDeadline,
        languages: [String] = Locale.preferredLanguages
    ) {
        self.init(
            url: url,
            clientID: clientID,
            issuer: issuer,
            store: store,
            deadline: deadline,
            languages: languages,
            transport: URLSessionTransport(),
            clock: .system(),
            delayFactor: 1
        )
    }

    /// A client with parts of a test's.
    package init(
        url: URL,
        clientID: String?,
        issuer: String? = nil,
        store: any SessionStore,
        deadline: Duration = Vestibule.defaultDeadline,
        languages: [String] = [],
        transport: any HTTPTransport,
        clock: TokenClock,
        delayFactor: Double
    ) {
        precondition(ServerURL.isAllowed(url), "Vestibule's URL has to begin with https, or with http for this machine")
        self.url = url
        self.clientID = clientID
        self.issuer = issuer ?? ServerURL.base(url)
        self.deadline = deadline
        self.clock = clock
        wire = Wire(url: url, transport: transport, languages: languages.joined(separator: ", "))
        var policy = RetryPolicy()
        policy.factor = delayFactor
        retries = Retries(policy: policy)
        keeper = SessionKeeper(
            store: store,
            key: ServerURL.key(url),
            server: SessionServer(wire: wire, retries: retries, clock: clock),
            clock: clock,
            refreshDeadline: deadline
        )
    }

    // MARK: The session

    /// Whether a user is signed in, as the store has it.
    ///
    /// - Throws: ``VestibuleError`` with `STORE_FAILED`.
    public var state: SessionState {
        get async throws { try await keeper.state() }
    }

    /// The state of now, and every change: by this process, by another one that shares the store when this one notices it, and by the
    /// server. The reason why the server ended a session comes once, even if the app was not running: it is forgotten when the app
    /// requests the state after it, so an app that is killed before gets it again.
    ///
    /// It ends when its consumer stops.
    public var states: AsyncStream<SessionState> {
        let (states, continuation) = AsyncStream<SessionState>.makeStream(bufferingPolicy: .bufferingNewest(16))
        Task { await keeper.watch(continuation) }
        let delivered = Box<VestibuleError.Code?>(nil)
        return AsyncStream { [keeper] in
            if let reason = delivered.value {
                delivered.value = nil
                // Not awaited: another process may have the lock.
                Task { await keeper.clearEnded(reason) }
            }
            var iterator = states.makeAsyncIterator()
            let state = await iterator.next()
            if case .signedOut(let reason) = state { delivered.value = reason }
            return state
        }
    }

    /// An access token for a backend of the app's own, with a minute left at least; refreshed before if need be.
    ///
    /// - Parameter refused: The token that the backend has refused, if it has: then it is another one.
    /// - Throws: ``VestibuleError`` with `SIGNED_OUT` if there is no session, with the server's code if it has ended, `NETWORK` and others
    ///   if it can't be refreshed now; `CancellationError`.
    public func accessToken(insteadOf refused: String? = nil, deadline: Duration? = nil) async throws -> String {
        try await self.until(deadline) { [keeper] _ in
            try await keeper.session(insteadOf: refused).accessToken
        }
    }

    /// Refreshes the session although its tokens are good, such as after a change of what they say of the user.
    ///
    /// - Returns: The new access token.
    /// - Throws: as ``accessToken(insteadOf:deadline:)``.
    @discardableResult
    public func refresh(deadline: Duration? = nil) async throws -> String {
        try await self.until(deadline) { [keeper] _ in try await keeper.refreshedSession().accessToken }
    }

    /// What carries requests, unless a test has something else.
    package static func defaultTransport() -> any HTTPTransport { URLSessionTransport() }

    /// Signs the user out: at once in the app, also offline, and at the server as soon as that can be reached.
    ///
    /// It goes on if its task is cancelled.
    ///
    /// - Throws: ``VestibuleError`` with `STORE_FAILED`: then the user is still signed in. `TIMEOUT` or `CancellationError`: another process
    ///   works with the session; the user is signed out as soon as it has done so, which ``states`` has.
    public func signOut(deadline: Duration? = nil) async throws {
        try await keeper.signOut(Deadline(in: deadline ?? self.deadline))
    }

    /// Does a part of a call within its deadline.
    func until<Result: Sendable>(
        _ duration: Duration?,
        _ body: @escaping @Sendable (Deadline) async throws -> Result
    ) async throws -> Result {
        let deadline = Deadline(in: duration ?? self.deadline)
        return try await deadline.run { try await body(deadline) }
    }
}
