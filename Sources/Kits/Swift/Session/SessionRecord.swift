import Foundation

/// What is kept of a session, as one value: the form is the same in the kits of all languages.
package struct SessionRecord: Sendable, Equatable {
    static let version: Int64 = 1
    /// Sessions whose end the server has not confirmed; the oldest is dropped, and ends by inactivity.
    static let signOutsMax = 8
    /// Sign-ins by the page that may be under way; the oldest is forgotten.
    static let hostedMax = 4

    /// A session's tokens.
    package struct Session: Sendable, Equatable {
        package var accessToken: String
        package var refreshToken: String
        var idToken: String?
        package var userID: String
        package var sessionID: String
        /// The client of OpenID Connect that it was opened for; nil for a session of a provider's credentials.
        var clientID: String?
        var lifetimeSeconds: Int64
        /// By the wall clock, in milliseconds since 1970.
        var receivedAt: Int64
        /// Whether it is a guest's, whose account no provider opens: who loses the tokens has lost it.
        var isGuest = false

        /// Whether another one is the same session, maybe with other tokens.
        func isSame(as other: Session) -> Bool {
            refreshToken == other.refreshToken || (!sessionID.isEmpty && sessionID == other.sessionID)
        }
    }

    /// A session to end at the server.
    struct SignOut: Sendable, Equatable {
        var refreshToken: String
        var clientID: String?
    }

    /// A guest who has signed in to an account, until the app has decided what becomes of the guest's.
    struct Guest: Sendable, Equatable {
        var refreshToken: String
        var userID: String
    }

    /// A sign-in by the server's page that is under way in a browser, maybe longer than the app is.
    struct Hosted: Sendable, Equatable {
        private static let lifetimeMilliseconds: Int64 = 3_600_000

        var state: String
        var nonce: String
        var verifier: String
        var redirectURI: String
        /// By the wall clock, in milliseconds since 1970.
        var begunAt: Int64

        func hasExpired(_ now: Int64) -> Bool { now - begunAt > Self.lifetimeMilliseconds }
    }

    /// Grows by one with each write.
    var generation: Int64 = 0
    package var session: Session?
    /// Why the session has ended, until the app has got it.
    var ended: VestibuleError.Code?
    var signOuts: [SignOut] = []
    var guest: Guest?
    var pendingName: PendingName?
    var hosted: [Hosted] = []
    /// What another version of the kit keeps beside.
    private var others = JSONObject()

    package init() {}

    /// Moves the session to those that are to be ended at the server.
    mutating func leaveSession() {
        guard let session else { return }
        end(SignOut(refreshToken: session.refreshToken, clientID: session.clientID))
        self.session = nil
    }

    /// Moves the guest that is kept to those that are to be ended at the server: the user has left.
    mutating func leaveGuest() {
        guard let guest else { return }
        end(SignOut(refreshToken: guest.refreshToken))
        self.guest = nil
    }

    /// Has a session ended at the server.
    mutating func end(_ signOut: SignOut) { signOuts = (signOuts + [signOut]).suffix(Self.signOutsMax) }

    /// Takes a new session in the place of the one there was. The same credentials open the same session within a minute: that one goes on,
    /// even if it was to be ended. A guest replaces nobody, and is ended.
    mutating func begin(_ new: Session) {
        if let session, !session.isSame(as: new) {
            guard !new.isGuest else { return end(SignOut(refreshToken: new.refreshToken)) }
            if session.isGuest, session.userID != new.userID {
                // Only by its token can the account absorb it. A guest that was kept before goes unused.
                guest = Guest(refreshToken: session.refreshToken, userID: session.userID)
            } else {
                leaveSession()
            }
        }
        signOuts.removeAll { $0.refreshToken == new.refreshToken }
        session = new
        ended = nil
    }

    /// Forgets what nobody comes back for.
    mutating func dropExpired(_ now: Int64) {
        hosted.removeAll { $0.hasExpired(now) }
        if let pendingName, pendingName.hasExpired(now) { self.pendingName = nil }
    }
}

extension SessionRecord {
    /// A record of a version that this one doesn't know: it stays as it is.
    static let newer = JSONFault(place: "a newer version")

    /// Reads a record.
    ///
    /// - Throws: ``newer``, or another fault if it is none.
    package init(parsing data: Data) throws(JSONFault) {
        let json = try JSONObject(parsing: data)
        guard let version: Int64 = json.optional("version") else { throw JSONFault(place: "version") }
        guard version <= Self.version else { throw Self.newer }
        guard version == Self.version else { throw JSONFault(place: "version") }
        guard let number: Int64 = json.optional("generation") else { throw JSONFault(place: "generation") }
        generation = number
        if let object = json.object("session") {
            session = Session(json: object)
            guard session != nil else { throw JSONFault(place: "session") }
        }
        ended = json.object("ended")?.text("code").map(VestibuleError.Code.init(rawValue:))
        signOuts = json.objects("signOuts").compactMap { each in
            each.text("refreshToken").map { SignOut(refreshToken: $0, clientID: each.text("clientId")) }
        }
        guest = json.object("guest").flatMap(Guest.init(json:))
        pendingName = json.object("pendingName").flatMap(PendingName.init(json:))
        hosted = json.objects("hosted").compactMap(Hosted.init)
        let own: Set = ["version", "generation", "session", "ended", "signOuts", "guest", "pendingName", "hosted"]
        others.members = json.members.filter { name, _ in !own.contains(name) }
    }

    package var serialized: Data {
        var json = others
        json.members["version"] = .integer(Self.version)
        json.members["generation"] = .integer(generation)
        json.members["session"] = session.map { .object($0.json) } ?? .null
        json.members["ended"] = ended.map { .object(JSONObject(["code": .text($0.rawValue)])) } ?? .null
        json.members["signOuts"] = .list(
            signOuts.map { each in
                var json = JSONObject(["refreshToken": .text(each.refreshToken)])
                json.set("clientId", each.clientID)
                return .object(json)
            }
        )
        if let guest { json.members["guest"] = .object(guest.json) }
        json.members["pendingName"] = pendingName.map { .object($0.json) } ?? .null
        json.members["hosted"] = .list(hosted.map { .object($0.json) })
        return json.serialized
    }
}

extension SessionRecord.Guest {
    fileprivate init?(json: JSONObject) {
        guard let refreshToken = json.text("refreshToken"), let userID = json.text("userId") else { return nil }
        self.init(refreshToken: refreshToken, userID: userID)
    }

    fileprivate var json: JSONObject {
        JSONObject(["refreshToken": .text(refreshToken), "userId": .text(userID)])
    }
}

extension SessionRecord.Hosted {
    fileprivate init?(json: JSONObject) {
        guard let state = json.text("state"), let nonce = json.text("nonce"), let verifier = json.text("verifier"),
            let redirectURI = json.text("redirectUri"), let begunAt: Int64 = json.optional("begunAt")
        else { return nil }
        self.init(state: state, nonce: nonce, verifier: verifier, redirectURI: redirectURI, begunAt: begunAt)
    }

    fileprivate var json: JSONObject {
        JSONObject([
            "state": .text(state), "nonce": .text(nonce), "verifier": .text(verifier),
            "redirectUri": .text(redirectURI), "begunAt": .integer(begunAt),
        ])
    }
}

extension SessionRecord.Session {
    fileprivate init?(json: JSONObject) {
        accessToken = json.value("accessToken")
        refreshToken = json.value("refreshToken")
        idToken = json.optional("idToken")
        userID = json.value("userId")
        sessionID = json.value("sessionId")
        clientID = json.optional("clientId")
        lifetimeSeconds = json.value("lifetimeSeconds")
        receivedAt = json.value("receivedAt")
        isGuest = json.value("isGuest")
        if accessToken.isEmpty || refreshToken.isEmpty { return nil }
    }

    fileprivate var json: JSONObject {
        var json = JSONObject()
        json.set("accessToken", accessToken)
        json.set("refreshToken", refreshToken)
        json.set("idToken", idToken)
        json.set("userId", userID)
        json.set("sessionId", sessionID)
        json.set("clientId", clientID)
        json.members["lifetimeSeconds"] = .integer(lifetimeSeconds)
        json.members["receivedAt"] = .integer(receivedAt)
        json.set("isGuest", isGuest)
        return json
    }
}
