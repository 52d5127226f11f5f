import HTTPJSON
import HTTPTypes
import JOSE

/// An Apple app that was moved from team to team.
struct AppMove: Sendable, Hashable {
    /// The maximum of moves of an app, and of moved apps.
    static let teamsMax = 16
    static let appsMax = 100

    /// The teams that it was moved to, the current one last.
    var teams: [String]
    /// Whether the 60 days are over in which Apple's tokens name the last move.
    var isOver = false

    /// A person as the app's current team knows them, and the transfer identifier between it and the team before.
    func moved(_ person: Person) -> (person: Person, transferSubject: String?) {
        var person = person
        var transferSubject: String?
        for team in teams {
            transferSubject = Self.transferSubject(of: person.subject, to: team)
            let told = person.toldEmail
            person.subject = Self.subject(of: person.subject, in: team)
            // With the subject, a relay address changes; other addresses don't.
            if person.hidesEmail { person.email = told }
        }
        return (person, isOver ? nil : transferSubject)
    }

    /// Another team's subject for the user whom a team calls `subject`.
    static func subject(of subject: String, in team: String) -> String {
        Person.subject(.apple, email: "in \(team) \(subject)")
    }

    /// The transfer identifier that one team hands to the other.
    static func transferSubject(of subject: String, to team: String) -> String {
        Person.subject(.apple, email: "to \(team) \(subject)")
    }
}

/// An access token with which a team moves its users.
struct MigrationToken: Sendable, Hashable {
    /// How long one lives, in seconds.
    static let lifetimeSeconds: Int64 = 3600

    var clientID: String
    var teamID: String
    var expiresAtSeconds: Int64
}

/// A person on the way to another team.
struct UserTransfer: Sendable, Hashable {
    /// The subject in the team before.
    var subject: String
    /// The team that the user is moved to.
    var target: String
    /// The address as the team before sees it.
    var email: String?
    var isPrivateEmail: Bool
}

/// Users who are moved to another team ("Transferring your apps and users to another team", "Bringing new apps and users into your
/// team" of Apple's documentation).
extension SimulatorStore {
    /// The order as the current team of its app sees it.
    func moved(_ order: SignInOrder) -> SignInOrder {
        guard let move = state.moves[order.clientID] else { return order }
        var order = order
        (order.person, order.transferSubject) = move.moved(order.person)
        return order
    }

    /// Moves an app to a team, or ends the time in which its tokens name its last move.
    ///
    /// - Returns: its moves; nil if there is none to end, or no room for more.
    func moveApp(_ clientID: String, to teamID: String?, isOver: Bool) throws -> AppMove? {
        var move = state.moves[clientID] ?? AppMove(teams: [])
        if let teamID { move.teams.append(teamID) }
        move.isOver = isOver
        guard 1...AppMove.teamsMax ~= move.teams.count,
            state.moves[clientID] != nil || state.moves.count < AppMove.appsMax
        else { return nil }
        let random = environment.randomBytes
        try change { $0.setMove(move, of: clientID) { Hex.encode(random(16)) } }
        return move
    }

    /// An access token for ``userMigrationInfo(_:token:)``.
    func migrationToken(_ form: FormFields, clientID: String, teamID: String) throws(OAuthError) -> JSONObject {
        guard form["scope"] == "user.migration" else { throw OAuthError(word: "invalid_scope") }
        let token = "m\(Hex.encode(environment.randomBytes(16))).0.\(Base64URL.encode(environment.randomBytes(20)))"
        migrationTokens.keep(
            MigrationToken(
                clientID: clientID,
                teamID: teamID,
                expiresAtSeconds: environment.nowSeconds() + MigrationToken.lifetimeSeconds
            ),
            as: token
        )
        return [
            "access_token": .string(token), "token_type": "Bearer",
            "expires_in": .integer(MigrationToken.lifetimeSeconds),
        ]
    }

    /// Returns a user's transfer identifier to the team that the app leaves, and the user's new subject to the team that it goes
    /// to.
    func userMigrationInfo(_ form: FormFields, token: String?) throws(OAuthError) -> JSONObject {
        let (clientID, teamID) = try authenticateWithApple(form)
        guard let token, let access = migrationTokens[token], access.clientID == clientID, access.teamID == teamID,
            environment.nowSeconds() < access.expiresAtSeconds
        else { throw OAuthError(status: .unauthorized, word: "invalid_token") }
        if let transferSubject = form["transfer_sub"] {
            return try arrival(of: transferSubject, clientID: clientID, teamID: teamID)
        }
        guard let subject = form["sub"], let target = form["target"], !target.isEmpty, target != teamID,
            let grant = state.grant(of: SimulatorState.Acquaintance(clientID: clientID, subject: subject))
        else { throw .invalidRequest }
        let transferSubject = AppMove.transferSubject(of: subject, to: target)
        transfers.keep(
            UserTransfer(
                subject: subject,
                target: target,
                email: grant.email,
                isPrivateEmail: grant.isPrivateEmail
            ),
            as: transferSubject
        )
        return ["transfer_sub": .string(transferSubject)]
    }

    private func arrival(of transferSubject: String, clientID: String, teamID: String) throws(OAuthError) -> JSONObject
    {
        guard let transfer = transfers[transferSubject], transfer.target == teamID,
            let move = state.moves[clientID], move.teams.last == teamID, !move.isOver
        else { throw .invalidRequest }
        let subject = AppMove.subject(of: transfer.subject, in: teamID)
        var body: JSONObject = ["sub": .string(subject)]
        if transfer.isPrivateEmail, let email = transfer.email {
            body["email"] = .string(Person.relay(subject: subject, email: email))
            body["is_private_email"] = true
        }
        return body
    }
}
