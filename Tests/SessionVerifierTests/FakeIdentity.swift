import API
import APIDoubles
import JOSE
import RPC
import SwiftProtobuf
import Synchronization

@testable import SessionVerifier

/// Identity as a verifier sees it: a key set, a stream that the test writes, and answers to questions.
final class FakeIdentity: Sendable {
    typealias Message = IdentityV1.WatchRevocationsResponse

    struct State {
        var keys: [SigningKey] = []
        var keySetFetches = 0
        var ended: Set<String> = []
        var asked = 0
        var positions: [[UInt8]] = []
        var stream: AsyncStream<Message?>.Continuation?
        var isAnswering = true
    }

    static let issuer = "https://id.example.com"
    static let audience = "vestibule"

    let state = Mutex(State())
    let channel: any ClientChannel
    private let double = IdentityServiceDouble()
    /// The verifier's clock.
    let nowMilliseconds = Atomic<Int64>(1_800_000_000_000)

    init() throws {
        let key = try SigningKey.generateP256()
        state.withLock { $0.keys = [key] }
        var router = Router()
        router.add(double)
        channel = InProcessChannel(router)
        double.set { answers in
            answers.getJWKS = { [weak self] _, _ in try self?.keySet() ?? .init() }
            answers.checkSession = { [weak self] request, _ in try self?.check(request) ?? .init() }
            answers.watchRevocations = { [weak self] request, responses, _ in
                guard let messages = self?.beginStream(from: Array(request.position)) else { return }
                // Nil cuts it.
                for await message in messages {
                    guard let message else { throw RPCError(.unavailable, "cut") }
                    try await responses.write(message)
                }
            }
        }
    }

    func verifier(_ change: (inout SessionVerifierConfiguration) -> Void = { _ in }) -> SessionVerifier {
        var configuration = SessionVerifierConfiguration(issuer: Self.issuer, audience: Self.audience)
        (configuration.reconnectWait, configuration.reconnectWaitMax) = (.milliseconds(1), .milliseconds(5))
        change(&configuration)
        return SessionVerifier(channel: channel, configuration: configuration) {
            self.nowMilliseconds.load(ordering: .relaxed)
        }
    }

    private func keySet() throws -> IdentityV1.GetJWKSResponse {
        try state.withLock { state in
            state.keySetFetches += 1
            guard state.isAnswering else { throw RPCError(.unavailable, "down") }
            return .with {
                $0.jwksJson = KeySet(state.keys).json.text
                $0.maxAgeSeconds = 300
            }
        }
    }

    private func check(_ request: IdentityV1.CheckSessionRequest) throws -> IdentityV1.CheckSessionResponse {
        try state.withLock { state in
            state.asked += 1
            guard state.isAnswering else { throw RPCError(.unavailable, "down") }
            let jws = try CompactJWS(parsing: request.accessToken)
            let claims = try JSONObject(parsing: jws.unverifiedPayload)
            let session = claims["sid"]?.string ?? ""
            if state.ended.contains(session) {
                throw RPCError.domain(.unauthenticated, reason: "SESSION_REVOKED", message: "ended")
            }
            return .with {
                $0.sessionID = session
                $0.userID = claims["sub"]?.string ?? ""
            }
        }
    }

    private func beginStream(from position: [UInt8]) -> AsyncStream<Message?> {
        let (messages, continuation) = AsyncStream<Message?>.makeStream()
        state.withLock { state in
            state.positions.append(position)
            state.stream = continuation
        }
        return messages
    }

    /// Waits for the next stream, after so many.
    func stream(number: Int) async {
        while state.withLock({ $0.positions.count }) < number, !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(2))
        }
    }

    /// Writes to the stream that is open.
    func tell(
        _ sessions: [String] = [],
        isFirst: Bool = false,
        isCaughtUp: Bool = true,
        position: UInt8 = 1,
        ageMilliseconds: Int64 = 0,
        _ change: (inout Message) -> Void = { _ in }
    ) {
        var message = Message()
        message.sessionIds = sessions
        if isFirst {
            message.reset = true
            message.heartbeatMilliseconds = 60_000
            message.believedMilliseconds = 3_600_000
        }
        message.caughtUp = isCaughtUp
        if isCaughtUp {
            message.position = .init([position])
            message.toldAtMilliseconds = nowMilliseconds.load(ordering: .relaxed) - ageMilliseconds
        }
        change(&message)
        _ = state.withLock { $0.stream?.yield(message) }
    }

    func cut() { _ = state.withLock { $0.stream?.yield(nil) } }

    /// A token as identity makes them.
    func token(
        session: String,
        key: SigningKey? = nil,
        type: String = "at+jwt",
        changes: [String: JSONValue] = [:]
    ) throws -> String {
        let key = key ?? state.withLock { $0.keys[0] }
        let now = nowMilliseconds.load(ordering: .relaxed) / 1000
        var claims: JSONObject = [
            "iss": .string(Self.issuer), "aud": .string(Self.audience),
            "sub": "0190c2a5-7f00-7000-8000-000000000001", "sid": .string(session), "iat": .integer(now),
            "exp": .integer(now + 600), "auth_time": .integer(now - 100),
        ]
        for (name, value) in changes { claims[name] = value }
        return try key.signedToken(claims: claims, encodedHeader: key.encodedHeader(type: type))
    }

    /// A session's id.
    static func session(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "0190c2a5-7f00-7000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
    }
}

/// Runs a verifier while the body does.
func running(_ verifier: SessionVerifier, _ body: () async throws -> Void) async throws {
    let running = Task { await verifier.run() }
    let result: Result<Void, any Error>
    do {
        result = .success(try await body())
    } catch {
        result = .failure(error)
    }
    running.cancel()
    await running.value
    try result.get()
}

/// What a token is refused for; nil if it isn't.
func refusal(_ verifier: SessionVerifier, _ token: String) async -> String? {
    do throws(SessionRefusal) {
        _ = try await verifier.verify(token)
        return nil
    } catch {
        switch error {
        case .invalid: return "invalid"
        case .expired: return "expired"
        case .ended: return "ended"
        case .unavailable: return "unavailable"
        }
    }
}
