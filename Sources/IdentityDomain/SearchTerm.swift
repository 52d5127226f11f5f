import JOSE

/// What an operator looked for, as the audit log keeps it: a keyed hash of its kind and its normal form.
///
/// The log is append-only and outlives accounts, so nothing that a deletion would have to reach may stand in it. By the hash an auditor
/// who knows a number, a name or an address finds out who looked for it, and nobody learns one from the log without identity's keys.
public struct SearchTerm: Sendable, Hashable {
    /// The kind of the search, such as `phone_number`.
    public let kind: String
    /// The term in its normal form, in which two searches for the same are equal.
    public let text: String

    /// Bytes of a hash that are kept.
    private static let hashBytes = 16

    /// A term.
    public init(kind: String, text: String) {
        self.kind = kind
        self.text = text
    }

    /// The hash under a key, in hexadecimal.
    public func hash(key: [UInt8]) -> String {
        let code = SHA256.authenticationCode(of: Array("\(kind)\u{0}\(text)".utf8), key: key)
        return code.prefix(Self.hashBytes).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
