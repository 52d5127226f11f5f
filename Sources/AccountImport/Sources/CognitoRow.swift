import JOSE

/// A user of an Amazon Cognito pool: a row of its CSV, or a user as `ListUsers` returns it.
enum CognitoRow {
    static let requiredColumns = [
        ["cognito:username", "username", "sub"], ["phone_number"], ["phone_number_verified"],
    ]

    static func account(_ record: ImportRecord, _ plan: ImportPlan) -> RowOutcome {
        let user = CognitoUser(record)
        let username = user.text("Username") ?? user.text("cognito:username") ?? user.text("username")
        guard let oldID = user.text("sub") ?? username,
            let userID = ImportedID.userID(of: oldID, source: plan.sourceName)
        else { return .rejected(oldID: user.text("sub") ?? username ?? "", .idInvalid) }
        var account = ImportedAccount(oldID: oldID, userID: userID)
        if let text = user.text("UserCreateDate") ?? user.text("created_at") {
            guard let createdAt = ImportTime.milliseconds(text) else {
                return .rejected(oldID: oldID, .createdAtInvalid)
            }
            account.createdAtMilliseconds = createdAt
        }
        let isEnabled = (user.text("Enabled") ?? user.text("enabled"))?.lowercased()
        account.isBlocked = isEnabled == "false" || isEnabled == "f"
        if let phone = user.text("phone_number") {
            if user.isTrue("phone_number_verified") { account.phone = phone } else { account.otherWays.append("phone") }
        }
        let parts = [user.text("given_name"), user.text("family_name")].compactMap(\.self)
        account.names = [user.text("name"), parts.isEmpty ? nil : parts.joined(separator: " "), user.text("nickname")]
            .compactMap(\.self)
        let federated = user.identities
        if federated.isEmpty { account.otherWays.append("password") }
        for told in federated {
            guard let provider = told.text("providerName"), let subject = told.text("userId") else { continue }
            var identity = ImportedIdentity(provider: provider, subject: subject)
            // The pool stores this for the user, not for each identity.
            identity.email = user.text("email")
            identity.isEmailVerified = user.isTrue("email_verified")
            identity.name = account.names.first
            identity.createdAtMilliseconds = told.text("dateCreated").flatMap(ImportTime.milliseconds)
            account.identities.append(identity)
        }
        return .account(account)
    }
}

/// A user's values by name, from columns or from a list of attributes.
private struct CognitoUser {
    private let record: ImportRecord
    private var attributes: [String: String] = [:]

    init(_ record: ImportRecord) {
        self.record = record
        for attribute in record.objects("Attributes") ?? record.objects("UserAttributes") ?? [] {
            guard let name = attribute.text("Name"), let value = attribute.text("Value") else { continue }
            attributes[name] = value
        }
    }

    func text(_ name: String) -> String? { attributes[name] ?? record.text(name) }

    func isTrue(_ name: String) -> Bool { text(name)?.lowercased() == "true" }

    /// The user's identities at providers, from JSON in a text.
    var identities: [JSONObject] {
        guard let text = text("identities"),
            case .array(let values)? = try? JSONValue(parsing: Array(text.utf8))
        else { return [] }
        return values.compactMap(\.object)
    }
}
