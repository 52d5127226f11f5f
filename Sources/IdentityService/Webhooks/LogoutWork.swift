import IdentityDomain
import JOSE
import Models
import OutgoingHTTP
import Postgres
import RPC
import ServiceKit
import ServiceModels
import ServiceStore

/// A session of an OAuth client that has ended.
struct Logout: Sendable {
    let sessionID: SessionID
    let userID: UserID
    let clientID: String
}

/// Notifies OAuth clients of ended sessions (OpenID Connect Back-Channel Logout 1.0), in no order. Each is tried for a day, then parked.
struct LogoutWork: WorkKind {
    static let queueName = "logouts"
    /// How long a client may take to respond.
    static let timeout: Duration = .seconds(5)
    /// The maximum of concurrent requests from a replica.
    static let atOnceMax = 16
    /// How long a notification is tried.
    static let triedFor: Duration = .seconds(86_400)
    /// The bound of the first pause between two tries, which doubles, and its maximum.
    static let pauses = Backoff(first: .seconds(2), max: .seconds(3_600))
    /// How many bytes of a response's body are read and dropped.
    private static let answerBytesMax = 16_384

    static let columns = ["w.event_id", "w.user_id", "w.data ->> 'client_id'"]

    let clients: ReplaceableValue<OAuthClients>
    let keys: CurrentKeys
    let http: any OutgoingClient
    let clock: WallClock
    let randomBytes: @Sendable (Int) -> [UInt8]
    var silent = SilentClients()

    var queue: String { Self.queueName }

    var rules: WorkRules {
        var rules = WorkRules()
        rules.atOnce = Self.atOnceMax
        rules.timeout = Self.timeout
        rules.retry = Self.pauses
        rules.triedFor = Self.triedFor
        return rules
    }

    func item(_ row: Row, from first: Int) throws -> Logout? {
        Logout(
            sessionID: SessionID(try row.decode(first, as: PostgresUUID.self)),
            userID: UserID(try row.decode(first + 1, as: PostgresUUID.self)),
            clientID: try row.decode(first + 2)
        )
    }

    func perform(_ items: [Logout], deadline: Deadline) async throws {
        for item in items {
            // A client that doesn't want to know any more, or is gone, gets nothing.
            guard let client = clients.current.byID[item.clientID], let target = client.logoutURI else { continue }
            try await notify(client, of: item, at: target, deadline: deadline)
        }
    }

    private func notify(
        _ client: OAuthClient,
        of logout: Logout,
        at target: LogoutURI,
        deadline: Deadline
    ) async throws {
        if let pause = silent.begin(client.id) { throw setback("other requests to it wait", pause: pause) }
        defer { silent.end(client.id) }
        let token = try keys.current.mint.issuer.logoutToken(
            clientID: client.id,
            userID: logout.userID,
            sessionID: logout.sessionID,
            tokenID: Base64URL.encode(randomBytes(16)),
            algorithm: client.idTokenAlgorithm,
            nowSeconds: clock.nowSeconds
        )
        let request = OutgoingRequest(
            .postForm([("logout_token", token)]),
            target.url,
            timeout: deadline.remaining,
            bodyBytesMax: Self.answerBytesMax,
            body: .dropped,
            reach: target.mayBePrivate ? .anywhere : .publicAddresses
        )
        let answer: WebhookAnswer
        do throws(OutgoingHTTPError) {
            answer = WebhookAnswer(try await http.send(request))
        } catch {
            if error.cause == .cancelled { throw error }
            silent.add(client.id)
            throw setback(error.description, pause: .zero)
        }
        switch answer {
        case .taken: break
        case .gone: throw WorkRejection(reason: "status 410")
        case .failed(let reason, let wish):
            silent.add(client.id)
            throw setback(reason, pause: wish)
        }
    }

    private func setback(_ reason: String, pause: Duration) -> WorkSetback {
        WorkSetback(reason: reason, cause: WebhookFailure(reason: reason), pause: pause)
    }
}
