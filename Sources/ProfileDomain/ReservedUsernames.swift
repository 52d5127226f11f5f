import Models

/// Usernames that no user may take, because others would mistake their owner for staff.
public struct ReservedUsernames: Sendable, Hashable {
    /// The usernames that are reserved everywhere.
    public static let common: Set<String> = [
        "abuse", "account", "accounts", "admin", "administrator", "anonymous", "api", "billing", "contact", "everyone",
        "feedback", "guest", "help", "helpdesk", "info", "legal", "mail", "me", "moderator", "nobody", "noreply",
        "null",
        "official", "owner", "payment", "payments", "postmaster", "privacy", "root", "security", "service", "signin",
        "staff", "superuser", "support", "sysadmin", "system", "team", "undefined", "unknown", "user", "verified",
        "webmaster",
    ]

    private let shapes: Set<String>

    /// The common ones and further ones, such as the product's name.
    public init(_ further: [String] = []) { shapes = Set(Self.common.union(further).map(Self.shape)) }

    /// Returns whether a username is reserved, or looks like a reserved one: `Adm1n` and `ad_min` do.
    public func contains(_ username: Username) -> Bool { shapes.contains(Self.shape(username.key)) }

    /// The shape of a name at a glance.
    private static func shape(_ name: String) -> String {
        String(
            name.lowercased().compactMap { character in
                switch character {
                case "_": nil
                case "0": "o"
                case "1", "l": "i"
                case "3": "e"
                case "5": "s"
                default: character
                }
            }
        )
    }
}
