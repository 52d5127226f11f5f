import JOSE
import Models

/// A row of Supabase's `auth.users`, with its rows of `auth.identities`; or a user as the admin API lists it.
enum SupabaseRow {
    static let requiredColumns = [
        ["id"], ["phone"], ["phone_confirmed_at"], ["created_at"], ["raw_user_meta_data"],
    ]
    static let requiredIdentityColumns = [["user_id"], ["provider"], ["provider_id", "identity_data"]]

    /// - Parameter identities: the identities in the second file; nil without one, and then the row itself may have them.
    static func account(
        _ record: ImportRecord,
        identities: [ImportRecord]?,
        _ plan: ImportPlan,
        nowMilliseconds: Int64
    ) -> RowOutcome {
        guard let oldID = record.text("id"), let userID = UserID(oldID), userID.high | userID.low != 0 else {
            return .rejected(oldID: record.text("id") ?? "", .idInvalid)
        }
        var account = ImportedAccount(oldID: oldID, userID: userID)
        if let text = record.text("created_at") {
            guard let createdAt = ImportTime.milliseconds(text) else {
                return .rejected(oldID: oldID, .createdAtInvalid)
            }
            account.createdAtMilliseconds = createdAt
        }
        account.isDeleted = record.text("deleted_at") != nil
        account.isBlocked =
            record.text("banned_until").map {
                // PostgreSQL's "infinity" can't be parsed as a time.
                ImportTime.milliseconds($0).map { $0 > nowMilliseconds } ?? true
            } ?? false
        // Supabase stores the number without its plus.
        if let phone = record.text("phone") {
            if record.text("phone_confirmed_at") != nil {
                account.phone = phone.hasPrefix("+") ? phone : "+" + phone
            } else {
                account.otherWays.append("phone")
            }
        }
        if record.text("email") != nil { account.otherWays.append("email") }
        if record.isTrue("is_anonymous") { account.otherWays.append("anonymous") }
        let metadata = record.object("raw_user_meta_data") ?? record.object("user_metadata")
        account.names = names(metadata)
        let rows = identities ?? record.objects("identities")?.map { ImportRecord($0) } ?? []
        for row in rows {
            guard let provider = row.text("provider"), let subject = subject(of: row) else { continue }
            account.identities.append(identity(row, provider, subject))
        }
        return .account(account)
    }

    /// Newer exports have the subject in its own column, older ones in the provider's data or as the row's id.
    private static func subject(of row: ImportRecord) -> String? {
        row.text("provider_id") ?? row.object("identity_data")?.text("sub") ?? row.text("id")
    }

    private static func identity(_ row: ImportRecord, _ provider: String, _ subject: String) -> ImportedIdentity {
        var identity = ImportedIdentity(provider: provider, subject: subject)
        let told = row.object("identity_data")
        identity.email = told?.text("email") ?? row.text("email")
        identity.isEmailVerified = told?.text("email_verified") == "true"
        identity.name = names(told).first
        identity.createdAtMilliseconds = row.text("created_at").flatMap(ImportTime.milliseconds)
        identity.lastSignInAtMilliseconds = row.text("last_sign_in_at").flatMap(ImportTime.milliseconds)
        return identity
    }

    private static func names(_ told: JSONObject?) -> [String] {
        ["full_name", "name", "display_name", "preferred_username"].compactMap { told?.text($0) }
    }
}
