import API
import IdentityDomain
import Models
import RPC

/// A search of an operator's, as identity's own tables can answer it.
struct AccountSearch: Sendable, Hashable {
    /// The key; nil if it is known already that no account matches.
    let key: AccountKey?
    /// The term, for the audit log.
    let term: SearchTerm
    /// Whether another service has more accounts than it returned.
    var isCut = false
}

extension OperatorMethods {
    /// Texts that no provider, subject or old id has.
    func requireKeepable(_ texts: String...) throws(IdentityError) {
        let isKeepable = texts.allSatisfy { text in
            1...1024 ~= text.utf8.count && !text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
        }
        guard isKeepable else { throw .operation(.accountUnnamed) }
    }

    /// Reads the search of a request, and asks profile where profile has the data.
    func search(of request: OperatorV1.FindAccountRequest) async throws -> AccountSearch {
        switch request.by {
        case .userID(let text):
            let userID = try account(text)
            return AccountSearch(key: .userIDs([userID]), term: SearchTerm(kind: "user_id", text: userID.description))
        case .email(let text):
            guard let email = EmailAddress.accept(text) else { throw IdentityError.operation(.emailInvalid) }
            return AccountSearch(key: .email(email), term: SearchTerm(kind: "email", text: email.lowercased()))
        case .phoneNumber(let text):
            let holder = try await profile.holder(of: text)
            let key = holder.userID.isEmpty ? nil : AccountKey.userIDs([try account(holder.userID)])
            return AccountSearch(key: key, term: SearchTerm(kind: "phone_number", text: holder.phoneNumber))
        case .importedID(let text):
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw IdentityError.operation(.accountUnnamed) }
            try requireKeepable(text)
            let key = AccountKey.importedID(source: String(parts[0]), oldID: String(parts[1]))
            return AccountSearch(key: key, term: SearchTerm(kind: "imported_id", text: text))
        case .username(let text):
            guard !text.isEmpty else { throw IdentityError.operation(.accountUnnamed) }
            let term = SearchTerm(kind: "username", text: text.lowercased())
            return try await search(term, .username(text))
        case .namePrefix(let text):
            // As profile searches, so that equal searches have one hash.
            let name = (try? NamePrefix(text).value) ?? text
            return try await search(SearchTerm(kind: "name_prefix", text: name.lowercased()), .namePrefix(text))
        case .sessionID(let text):
            guard let session = SessionID(text) else { throw IdentityError.operation(.accountUnnamed) }
            return AccountSearch(
                key: .session(session),
                term: SearchTerm(kind: "session_id", text: session.description)
            )
        case .deviceName(let text):
            guard let device = DeviceName.accept(text) else { throw IdentityError.operation(.accountUnnamed) }
            return AccountSearch(
                key: .device(device),
                term: SearchTerm(kind: "device_name", text: device.lowercased())
            )
        case .providerIdentity(let identity):
            try requireKeepable(identity.provider, identity.subject)
            return AccountSearch(
                key: .identity(provider: identity.provider, subject: identity.subject),
                term: SearchTerm(kind: "provider_identity", text: "\(identity.provider):\(identity.subject)")
            )
        case nil:
            throw IdentityError.operation(.accountUnnamed)
        }
    }

    private func search(
        _ term: SearchTerm,
        _ by: ProfileV1.FindUsersRequest.OneOf_By
    ) async throws -> AccountSearch {
        let found = try await profile.users(by)
        let users = try found.userIds.map { text throws(IdentityError) in try account(text) }
        return AccountSearch(key: users.isEmpty ? nil : .userIDs(users), term: term, isCut: found.isIncomplete)
    }
}
