/// The source of an import, and how it is read.
public struct ImportPlan: Sendable, Hashable {
    /// The columns of a table of phone-code accounts.
    public struct Columns: Sendable, Hashable {
        /// The account's id at the backend.
        public var id = "id"
        /// The phone number, in the national format of the policy's default region, or with the country code.
        public var phone = "phone"
        /// The display name; nil for none.
        public var name: String? = "name"
        /// When the account was created; nil for none.
        public var createdAt: String? = "created_at"
        /// The username; nil for none.
        public var username: String?

        /// The columns of our own template.
        public init() {}

        var required: [[String]] { [id, phone, name, createdAt, username].compactMap { $0.map { [$0] } } }
    }

    /// The system that exported the files.
    public var source: ImportSource
    /// The name under which old ids are stored.
    public var sourceName: String
    /// The columns, for phone-code accounts.
    public var columns: Columns
    /// Our names of the backend's providers, where these aren't built in.
    public var providers: [String: String]
    /// Whether to import accounts that no user can sign in to.
    public var keepsUnreachable: Bool

    /// A plan.
    public init(_ source: ImportSource) {
        self.source = source
        sourceName = source.rawValue
        columns = Columns()
        providers = [:]
        keepsUnreachable = false
    }

    /// The columns that the source's first file must have if it is CSV.
    var requiredColumns: [[String]] {
        switch source {
        case .phoneCodes: columns.required
        case .supabase: SupabaseRow.requiredColumns
        case .firebase: []
        case .cognito: CognitoRow.requiredColumns
        }
    }

    /// The member that contains the objects if the file is JSON.
    var member: String? {
        switch source {
        case .phoneCodes: nil
        case .supabase, .firebase: "users"
        case .cognito: "Users"
        }
    }

    /// The whole plan in one text, by which a resumed import recognizes it.
    var fingerprint: String {
        let mapping = providers.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let names = [columns.id, columns.phone, columns.name ?? "", columns.createdAt ?? "", columns.username ?? ""]
        return (["1", source.rawValue, sourceName, "\(keepsUnreachable)"] + names + mapping).joined(separator: "\u{1f}")
    }
}
