import JOSE

/// What a file has entries of.
struct EntryKind: Sendable {
    /// The member of the file that has the entries, in an array.
    let list: String
    /// The member of an entry that names it.
    let id: String
    /// What an entry is, in words.
    let noun: String
    /// The limits of the file.
    let limits: JSONLimits

    /// Apps that sign users in by OpenID Connect.
    static let clients = EntryKind(list: "clients", id: "id", noun: "client", limits: ClientsFile.limits)
    /// Providers.
    static let providers = EntryKind(list: "providers", id: "name", noun: "provider", limits: ProvidersFile.limits)
}
