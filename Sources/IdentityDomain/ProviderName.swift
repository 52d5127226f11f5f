/// The name by which a provider is configured and called: "apple", "google", ….
public struct ProviderName: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The most characters.
    public static let charactersMax = 32
    /// Apple.
    public static let apple = ProviderName(unchecked: "apple")
    /// Google.
    public static let google = ProviderName(unchecked: "google")

    /// Facebook: its Limited Login's ID tokens and its access tokens name a person by the same app-scoped id.
    public static let facebook = ProviderName(unchecked: "facebook")

    /// What stands in the place of a provider for sessions of guests, whom no provider knows. No provider can have this name.
    public static let guest = ProviderName(unchecked: "guest")

    /// What stands in the place of a provider for an account's passkeys, of which there may be several. No provider can have this name.
    public static let passkey = ProviderName(unchecked: "passkey")

    /// Words that stand in the place of a name in the gateway's paths below `/auth/`: nobody could sign in at such a provider.
    public static let reserved: Set<String> = [
        "challenge", "guest", "identities", "introspect", "passkey", "passkeys", "recovery",
        "recovery-codes", "refresh", "sessions", "sign-out",
        "sign-out-everywhere",
        "v1",
    ]

    /// The name.
    public let value: String

    /// A name of lowercase letters, digits, `_` and `-` that begins with a letter; nil for anything else.
    public init?(_ text: String) {
        let isAllowed = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isAllowed, text.utf8.count <= Self.charactersMax, let first = text.utf8.first,
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= first
        else { return nil }
        value = text
    }

    private init(unchecked text: String) {
        value = text
    }

    /// The name.
    public var description: String { value }

    /// Orders names by their characters.
    public static func < (left: ProviderName, right: ProviderName) -> Bool {
        left.value < right.value
    }
}
