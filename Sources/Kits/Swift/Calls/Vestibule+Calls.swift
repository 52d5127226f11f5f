import Foundation

extension Vestibule {
    /// Calls a method: by the user's access token if it needs one, once more after a refresh if that is rejected, and again after a
    /// pause where it is safe.
    ///
    /// - Throws: ``VestibuleError``, or `CancellationError`.
    @usableFromInline
    package func call(
        _ method: CallMethod,
        _ message: JSONObject,
        deadline: Duration? = nil
    ) async throws -> JSONObject {
        var message = message
        if let key = method.idempotencyKey, message[key] == nil {
            message.members[key] = .text(UUID().uuidString.lowercased())
        }
        let request = ServerRequest.call(method, message)
        return try await until(deadline) { [self] deadline in
            guard method.caller == .user else {
                return try await send(request.isIdempotent, deadline) { timeout in
                    try await wire.call(request, token: nil, timeout: timeout)
                }
            }
            return try await withSession(request, deadline).response
        }
    }

    /// Sends a request with the user's access token. A token that is rejected is shown to a refresh, which decides about the session.
    ///
    /// - Returns: The response, and the session that it was sent by.
    /// - Throws: ``VestibuleError`` with `SIGNED_OUT` if another user has signed in before the response; or others.
    func withSession(
        _ request: ServerRequest,
        _ deadline: Deadline
    ) async throws -> (response: JSONObject, session: SessionRecord.Session) {
        let first = try await keeper.session()
        var session = first
        var isRefreshed = false
        var tries = 0
        // Whether the server may have done it, although it was not heard.
        var mayBeDone = false
        while true {
            do {
                let response = try await send(request.isIdempotent, deadline) { timeout in
                    tries += 1
                    if tries > 1 { session = try await next(keeper.session(), of: first) }
                    do {
                        return try await wire.call(request, token: session.accessToken, timeout: timeout)
                    } catch let failure as CallFailure {
                        let error = failure.error
                        if mayBeDone, request.endsSession, error.status == 401, ErrorTable.endsSession(error.code) {
                            return JSONObject()
                        }
                        mayBeDone = mayBeDone || error.status != 401
                        throw failure
                    }
                }
                return (response, session)
            } catch let error as VestibuleError where error.rejectsToken && !isRefreshed {
                isRefreshed = true
                _ = try await next(keeper.session(insteadOf: session.accessToken), of: first)
            }
        }
    }

    /// What one user began is not done to another, who has signed in meanwhile.
    private func next(_ session: SessionRecord.Session, of first: SessionRecord.Session) throws -> SessionRecord.Session
    {
        guard session.userID == first.userID else { throw VestibuleError.signedOut }
        return session
    }

    /// Sends a request, again where it is safe.
    func send(
        _ isIdempotent: Bool,
        _ deadline: Deadline,
        _ attempt: (Duration) async throws -> JSONObject
    ) async throws -> JSONObject {
        do {
            return try await retries.run(
                deadline,
                mayRetry: { RetryPolicy.mayRetry($0, isIdempotent: isIdempotent) },
                attempt
            )
        } catch let failure as CallFailure {
            throw failure.error
        }
    }
}

extension VestibuleError {
    /// Whether a call was refused for its access token or the session.
    var rejectsToken: Bool {
        status == 401 && code != .badResponse && (action == .refresh || ErrorTable.endsSession(code))
    }
}

/// A request to the server: a value, so that what sends it is there once, and not for each of them.
enum ServerRequest: Sendable {
    case call(CallMethod, JSONObject)
    /// A call that ends its caller's session. If its response is lost, the session is over at the next try: that is success.
    case lastCall(CallMethod, JSONObject)
    case route(method: String, path: String, body: Data, type: String?)

    var isIdempotent: Bool {
        switch self {
        case .call(let method, _): method.isIdempotent || method.idempotencyKey != nil
        // The methods of routes are PUT and DELETE: RFC 9110 section 9.2.2.
        case .lastCall, .route: true
        }
    }

    var endsSession: Bool {
        if case .lastCall = self { true } else { false }
    }
}

extension Wire {
    /// Sends a request once.
    ///
    /// - Throws: ``CallFailure``, or `CancellationError`.
    fileprivate func call(_ request: ServerRequest, token: String?, timeout: Duration) async throws -> JSONObject {
        switch request {
        case .call(let method, let message), .lastCall(let method, let message):
            try await call(method, message, token: token, timeout: timeout)
        case .route(let method, let path, let body, let type):
            try await route(method, path, body, type: type, token: token ?? "")
        }
    }
}
