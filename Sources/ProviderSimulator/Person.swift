import HTTPJSON
import JOSE

/// The simulated person who signs in.
struct Person: Sendable, Hashable {
    /// The provider's subject.
    var subject: String
    /// The real address; nil if the provider sends none.
    var email: String?
    /// Whether the provider says that the address is verified.
    var isEmailVerified: Bool
    /// Whether Apple sends a relay address instead of the real one.
    var hidesEmail: Bool
    var givenName: String?
    var familyName: String?

    /// The longest address and name, in bytes.
    static let textMax = 2048

    /// Reads the request's `person`. Without a `sub` it is derived from the e-mail, so that the same person gets the same subject
    /// again; one of the two is required.
    init(_ input: inout JSONInput, provider: Provider) {
        email = input.optionalString("email").flatMap { $0.isEmpty ? nil : $0 }
        isEmailVerified = input.optionalBool("email_verified") ?? true
        hidesEmail = input.optionalBool("hide_email") ?? false
        givenName = input.optionalString("given_name").flatMap { $0.isEmpty ? nil : $0 }
        familyName = input.optionalString("family_name").flatMap { $0.isEmpty ? nil : $0 }
        let given = input.optionalString("sub") ?? ""
        if !given.isEmpty {
            subject = given
        } else if let email {
            subject = Self.subject(provider, email: email)
        } else {
            subject = ""
            input.addError("sub", code: "REQUIRED", detail: "A person needs a sub or an email.")
        }
        for (name, text) in [("email", email), ("given_name", givenName), ("family_name", familyName)]
        where text?.utf8.count ?? 0 > Self.textMax {
            input.addError(name, code: "INVALID", detail: "At most \(Self.textMax) bytes.")
        }
        // OpenID Connect Core section 2: at most 255 ASCII characters.
        if subject.utf8.count > 255 || !subject.utf8.allSatisfy({ 0x20...0x7e ~= $0 }) {
            input.addError("sub", code: "INVALID", detail: "A sub is at most 255 ASCII characters.")
        }
    }

    /// A person with only these remembered values.
    init(subject: String, email: String?, isEmailVerified: Bool) {
        self.subject = subject
        self.email = email
        self.isEmailVerified = isEmailVerified
        hidesEmail = false
    }

    /// The address in the token.
    var toldEmail: String? {
        guard hidesEmail, let email else { return email }
        return Self.relay(subject: subject, email: email)
    }

    /// The full name; nil if there is none.
    var fullName: String? {
        let parts = [givenName, familyName].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }

    /// A subject in the provider's format: Apple's `000123.<32 hex digits>.4567`, Google's 21 digits, Facebook's 16.
    static func subject(_ provider: Provider, email: String) -> String {
        let digest = SHA256.hash("\(provider.rawValue)\n\(email.lowercased())")
        switch provider {
        case .apple:
            return
                "\(decimal(digest[16..<20], width: 6)).\(Hex.encode(digest[..<16])).\(decimal(digest[20..<24], width: 4))"
        case .google:
            // Google's subjects begin with 1 and have 21 digits.
            return "1" + decimal(digest[..<8], width: 10) + decimal(digest[8..<16], width: 10)
        case .facebook:
            // Facebook's ids are app-scoped; they have been seen with 15 to 17 digits.
            return "1" + decimal(digest[..<8], width: 15)
        }
    }

    /// The private relay address of a person; the same each time, and different for different persons.
    static func relay(subject: String, email: String) -> String {
        let digest = SHA256.hash("relay\n\(subject)\n\(email.lowercased())")
        return "\(Hex.encode(digest[..<5]))@privaterelay.appleid.com"
    }

    private static func decimal(_ bytes: ArraySlice<UInt8>, width: Int) -> String {
        let number = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let digits = String(String(number).suffix(width))
        return String(repeating: "0", count: width - digits.count) + digits
    }
}
