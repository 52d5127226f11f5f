import JOSE

/// What Apple's endpoint `/auth/usermigrationinfo`, or its token endpoint when it was asked for the access token, answered about one
/// question ("Transferring your apps and users to another team" of Apple's documentation).
public enum UserMigrationAnswer<Value: Sendable & Hashable>: Sendable, Hashable {
    /// What was asked for.
    case told(Value)
    /// Apple has no answer for this person: it says `invalid_request` of a subject that it doesn't know, or not at this team.
    case refused(error: String)
    /// The access token is over.
    case unauthorized
    /// Apple doesn't take us: nobody's answer would be another.
    case notConfigured(error: String)
    /// It can't answer now, or its answer makes no sense.
    case unavailable

    /// Reads an answer. Pure.
    ///
    /// - Parameter value: what is looked for in the answer; nil if it isn't there.
    public init(status: Int, body: [UInt8], _ value: (JSONObject) -> Value?) {
        let object = try? JSONObject(parsing: body, limits: JSONLimits(bytesMax: UserMigration.answerBytesMax))
        switch status {
        case 200:
            self = object.flatMap(value).map { .told($0) } ?? .unavailable
        case 401:
            self = .unauthorized
        case 408, 425, 429, 500...599:
            self = .unavailable
        case 400..<500:
            let error = ProviderErrorWord(object).text
            switch error {
            case "invalid_request", "invalid_grant": self = .refused(error: error)
            default: self = .notConfigured(error: error.isEmpty ? "status \(status)" : error)
            }
        default:
            self = .unavailable
        }
    }
}

/// The words of Apple's user migration.
public enum UserMigration {
    /// The longest answer, in bytes.
    public static let answerBytesMax = 64 * 1024

    /// Somebody whom another team handed over.
    public struct Arrival: Sendable, Hashable {
        /// What today's team calls them.
        public let subject: String
        /// Their relay address for this team; nil where Apple tells none, since an address of their own stays the same.
        public let privateEmail: String?

        /// Somebody who arrived.
        public init(subject: String, privateEmail: String?) {
            self.subject = subject
            self.privateEmail = privateEmail
        }

        /// The person of an answer; nil if it names nobody.
        public init?(_ object: JSONObject) {
            guard let subject = object["sub"]?.string, ProviderPolicy.isSubject(subject) else { return nil }
            self.subject = subject
            let isPrivate = ProviderPolicy.looseBool(object["is_private_email"])
            privateEmail = isPrivate ? object["email"]?.string.flatMap(EmailAddress.accept) : nil
        }
    }

    /// The transfer identifier of an answer; nil if it has none.
    public static func transferSubject(_ object: JSONObject) -> String? {
        object["transfer_sub"]?.string.flatMap { ProviderPolicy.isSubject($0) ? $0 : nil }
    }

    /// The access token of an answer; nil if it has none that can be one.
    public static func accessToken(_ object: JSONObject) -> String? {
        object["access_token"]?.string.flatMap { AccessToken.isPlausible($0) ? $0 : nil }
    }

    /// Whether a text can be a developer team's id: ten capital letters and digits.
    public static func isTeamID(_ text: String) -> Bool {
        text.utf8.count == 10 && text.utf8.allSatisfy { 0x41...0x5a ~= $0 || 0x30...0x39 ~= $0 }
    }
}
