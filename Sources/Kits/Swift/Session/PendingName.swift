import Foundation

extension SessionRecord {
    /// What a provider says of a user once, such as Apple at the first sign-in, until the server has it.
    struct PendingName: Sendable, Equatable {
        private static let lifetimeMilliseconds: Int64 = 7 * 86_400_000

        var provider: String
        /// The provider's id of the user; nil if the credentials don't show it.
        var subject: String?
        /// The SHA-256 of the token or code that it came with, in hexadecimal.
        var credential: String?
        var fullName: String?
        var email: String?
        /// By the wall clock, in milliseconds since 1970.
        var keptAt: Int64

        var isEmpty: Bool { fullName == nil && email == nil }

        func hasExpired(_ now: Int64) -> Bool { now - keptAt > Self.lifetimeMilliseconds }

        /// Whether both are of one user, as far as it shows: by the provider's id, or where there is none by the same credentials.
        func isSameUser(as other: PendingName) -> Bool {
            guard provider == other.provider else { return false }
            if let subject, let otherSubject = other.subject { return subject == otherSubject }
            return credential != nil && credential == other.credential
        }

        /// What is said now, with what was said before of the same user in its gaps.
        func merged(with earlier: PendingName?) -> PendingName {
            guard let earlier, isSameUser(as: earlier) else { return self }
            var merged = self
            merged.subject = subject ?? earlier.subject
            merged.fullName = fullName ?? earlier.fullName
            merged.email = email ?? earlier.email
            return merged
        }
    }
}

extension SessionRecord.PendingName {
    /// What credentials say.
    init(_ credentials: Credentials, keptAt: Int64) {
        let credential = credentials.idToken ?? credentials.authorizationCode ?? credentials.accessToken
        self.init(
            provider: credentials.provider,
            subject: credentials.idToken.flatMap(JWTClaims.init)?.subject,
            credential: credential.map { SHA256Digest.of(Array($0.utf8)).hexadecimal },
            fullName: credentials.fullName,
            email: credentials.email,
            keptAt: keptAt
        )
    }

    init?(json: JSONObject) {
        self.init(
            provider: json.value("provider"),
            subject: json.text("subject"),
            credential: json.text("credential"),
            fullName: json.text("fullName"),
            email: json.text("email"),
            keptAt: json.value("keptAt")
        )
        if provider.isEmpty { return nil }
    }

    var json: JSONObject {
        var json = JSONObject(["provider": .text(provider), "keptAt": .integer(keptAt)])
        json.set("subject", subject)
        json.set("credential", credential)
        json.set("fullName", fullName)
        json.set("email", email)
        return json
    }
}
