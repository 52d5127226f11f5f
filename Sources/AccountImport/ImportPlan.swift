/// What is imported, and how it is read.
public struct ImportPlan: Sendable, Hashable {
    /// The columns of a table of phone-code accounts.
    public struct Columns: Sendable, Hashable {
        /// What the backend calls the account.
        public var id = "id"
        /// The number, as people write it where the policy's default region is, or with the country code.
        public var phone = "phone"
        /// The display name; nil to take none.
        public var name: String? = "name"
        /// When the account was made; nil to take none.
        public var createdAt: String? = "created_at"
        /// The username; nil to take none.
        public var username: String?

        /// The columns of our own template.
        public init() {}

        var required: [[String]] { [id, phone, name, createdAt, username].compactMap { $0.map { [$0] } } }
    }

    /// Whose export it is.
    public var source: ImportSource
    /// The word under which old ids are kept.
    public var sourceName: String
    /// The columns, for phone-code accounts.
    public var columns: Columns
    /// What the backend's providers are called here, where that isn't known.
    public var providers: [String: String]
    /// Whether accounts come in that nobody can open.
    public var keepsUnreachable: Bool

    /// A plan.
    public init(_ source: ImportSource) {
        self.source = source
        sourceName = source.rawValue
        columns = Columns()
        providers = [:]
        keepsUnreachable = false
    }

    /// The columns that the source's first file must have where it is CSV.
    var requiredColumns: [[String]] {
        switch source {
        case .phoneCodes: columns.required
        case .supabase: SupabaseRow.requiredColumns
        case .firebase: []
        case .cognito: CognitoRow.requiredColumns
        }
    }

    /// The member that has the objects where it is JSON.
    var member: String? {
        switch source {
        case .phoneCodes: nil
        case .supabase, .firebase: "users"
        case .cognito: "Users"
        }
    }

    /// All of it in one text, by which an import that goes on knows that it is the same.
    var fingerprint: String {
        let mapping = providers.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let names = [columns.id, columns.phone, columns.name ?? "", columns.createdAt ?? "", columns.username ?? ""]
        return (["1", source.rawValue, sourceName, "\(keepsUnreachable)"] + names + mapping).joined(separator: "\u{1f}")
    }
}
