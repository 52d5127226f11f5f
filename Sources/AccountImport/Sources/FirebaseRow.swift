import JOSE

/// A Firebase user, in the format of `auth:export`, of the REST API, or of the Admin SDK's `listUsers`.
enum FirebaseRow {
    static func account(_ record: ImportRecord, _ plan: ImportPlan) -> RowOutcome {
        guard let oldID = record.text("localId") ?? record.text("uid"),
            let userID = ImportedID.userID(of: oldID, source: plan.sourceName)
        else { return .rejected(oldID: record.text("localId") ?? record.text("uid") ?? "", .idInvalid) }
        var account = ImportedAccount(oldID: oldID, userID: userID)
        let metadata = record.object("metadata")
        if let text = record.text("createdAt") ?? metadata?.text("creationTime") {
            guard let createdAt = ImportTime.milliseconds(text) else {
                return .rejected(oldID: oldID, .createdAtInvalid)
            }
            account.createdAtMilliseconds = createdAt
        }
        let lastSignIn = record.text("lastSignedInAt") ?? record.text("lastLoginAt") ?? metadata?.text("lastSignInTime")
        account.isBlocked = record.isTrue("disabled")
        account.phone = record.text("phoneNumber")
        let email = record.text("email")
        if record.text("passwordHash") != nil {
            account.otherWays.append("password")
        } else if email != nil {
            account.otherWays.append("email")
        }
        account.names = [record.text("displayName")].compactMap(\.self)
        for told in record.objects("providerUserInfo") ?? record.objects("providerData") ?? [] {
            guard let provider = told.text("providerId"),
                let subject = told.text("rawId") ?? told.text("federatedId") ?? told.text("uid")
            else { continue }
            var identity = ImportedIdentity(provider: provider, subject: subject)
            identity.email = told.text("email")
            // Firebase says this about the account's address only.
            identity.isEmailVerified = email != nil && identity.email == email && record.isTrue("emailVerified")
            identity.name = told.text("displayName")
            identity.createdAtMilliseconds = account.createdAtMilliseconds
            identity.lastSignInAtMilliseconds = lastSignIn.flatMap(ImportTime.milliseconds)
            account.identities.append(identity)
            account.names += [identity.name].compactMap(\.self)
        }
        return .account(account)
    }
}
