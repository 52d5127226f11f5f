import IdentityDomain
import JOSE
import Models
import OutgoingHTTP

/// Apple's `/auth/usermigrationinfo`, called for one team with one app's client id.
struct UserMigrationEndpoint: Sendable {
    /// How long Apple may take to respond.
    static let timeout: Duration = .seconds(10)

    /// The developer team.
    let teamID: String
    /// The client id of the calling app.
    let clientID: String
    private let tokenURL: String
    private let url: String
    private let proof: ClientProof
    private let http: any OutgoingClient

    /// The endpoint of a provider's app.
    ///
    /// - Parameter clientID: the app; nil for the first one with a key, native apps before websites.
    /// - Throws: ``AppleTransferError`` if there is no such app, or the choice is ambiguous.
    init(
        _ providers: [ProviderName: ProviderConfiguration],
        clientID: String?,
        http: any OutgoingClient,
        clock: WallClock
    ) throws(AppleTransferError) {
        guard let apple = providers[.apple], let tokenURL = apple.endpoints.tokenURL,
            let url = apple.endpoints.userMigrationURL
        else { throw .notConfigured("Apple isn't set up") }
        var teams: [String: String] = [:]
        for (id, credential) in apple.credentials {
            if case .apple(let teamID, _, _) = credential { teams[id] = teamID }
        }
        if let clientID {
            guard let teamID = teams[clientID] else {
                throw .notConfigured("the app of --client-id has no key in the configuration")
            }
            (self.clientID, self.teamID) = (clientID, teamID)
        } else {
            guard Set(teams.values).count <= 1 else {
                throw .notConfigured("the configuration has apps of several teams: say with --client-id which one asks")
            }
            let apps = teams.keys.sorted { first, second in
                let isNative = [first, second].map { apple.policy.audiences[$0]?.kind == .native }
                return isNative[0] != isNative[1] ? isNative[0] : first < second
            }
            guard let app = apps.first, let teamID = teams[app] else {
                throw .notConfigured("no app of Apple's has a key in the configuration")
            }
            (self.clientID, self.teamID) = (app, teamID)
        }
        self.tokenURL = tokenURL
        self.url = url
        proof = ClientProof(apple, clock: clock)
        self.http = http
    }

    /// An access token, which lives for an hour.
    func accessToken() async -> UserMigrationAnswer<String> {
        await ask(
            [("grant_type", "client_credentials"), ("scope", "user.migration")],
            at: tokenURL,
            UserMigration.accessToken
        )
    }

    /// Gets the transfer identifier by which a user is handed over to a team.
    func transferSubject(of subject: String, to team: String, token: String) async -> UserMigrationAnswer<String> {
        await ask([("sub", subject), ("target", team)], at: url, token: token, UserMigration.transferSubject)
    }

    /// Gets the new subject of a user who was handed over to this team.
    func arrival(_ transferSubject: String, token: String) async -> UserMigrationAnswer<UserMigration.Arrival> {
        await ask([("transfer_sub", transferSubject)], at: url, token: token, UserMigration.Arrival.init)
    }

    private func ask<Value: Sendable & Hashable>(
        _ form: [OutgoingRequest.Field],
        at url: String,
        token: String? = nil,
        _ value: (JSONObject) -> Value?
    ) async -> UserMigrationAnswer<Value> {
        guard let secret = proof.fields(clientID) else { return .notConfigured(error: "no client secret") }
        let request = OutgoingRequest(
            .postForm(form + [("client_id", clientID)] + secret),
            url,
            headers: [("accept", "application/json")] + (token.map { [("authorization", "Bearer \($0)")] } ?? []),
            timeout: Self.timeout,
            bodyBytesMax: UserMigration.answerBytesMax
        )
        do throws(OutgoingHTTPError) {
            let response = try await http.send(request)
            return UserMigrationAnswer(status: response.status, body: response.body, value)
        } catch {
            return error.cause == .url ? .notConfigured(error: "url") : .unavailable
        }
    }
}
