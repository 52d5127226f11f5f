import JOSE

/// The text of Apple's refresh and access tokens. Each names its grant and is authenticated, so tokens needn't be stored: a token
/// is invalid once its grant has ended.
enum GrantToken {
    enum Kind: String {
        case refresh = "r"
        case access = "a"
    }

    /// A new token of a grant: `r<grant id>.0.<random and code>`.
    static func make(_ kind: Kind, grantID: String, key: [UInt8], random: [UInt8]) -> String {
        let code = code(kind, grantID: grantID, key: key, random: random)
        return "\(kind.rawValue)\(grantID).0.\(Base64URL.encode(random + code))"
    }

    /// The grant of a token; nil if the token isn't ours or of another kind.
    static func grantID(_ token: String, _ kind: Kind, key: [UInt8]) -> String? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].hasPrefix(kind.rawValue), parts[1] == "0",
            let bytes = Base64URL.decode(parts[2]), bytes.count == randomCount + codeCount
        else { return nil }
        let grantID = String(parts[0].dropFirst())
        let expected = code(kind, grantID: grantID, key: key, random: Array(bytes.prefix(randomCount)))
        return ConstantTime.areEqual(bytes.dropFirst(randomCount), expected) ? grantID : nil
    }

    /// The number of random bytes in a token.
    static let randomCount = 8
    private static let codeCount = 16

    private static func code(_ kind: Kind, grantID: String, key: [UInt8], random: [UInt8]) -> [UInt8] {
        let message = Array("\(kind.rawValue) \(grantID) ".utf8) + random
        return Array(SHA256.authenticationCode(of: message, key: key).prefix(codeCount))
    }
}
