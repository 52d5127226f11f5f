import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension OperatorMethods {
    /// How many accounts a page has where nobody says.
    private static let accountsUsual = 50

    /// Lists accounts, newest first.
    func listAccounts(
        _ request: OperatorV1.ListAccountsRequest,
        context: ServerContext
    ) async throws -> OperatorV1.ListAccountsResponse {
        try await answer(context) { name in
            let size = request.pageSize == 0 ? Self.accountsUsual : Int(request.pageSize)
            guard 1...IdentityStore.accountsPageMax ~= size else { throw IdentityError.operation(.pageSizeInvalid) }
            let cursors = ownKeys.current.cursors
            let scope = CursorScope(method: "ListAccounts")
            var last: AccountCursor?
            if !request.pageToken.isEmpty {
                do throws(CursorError) {
                    last = try cursors.open(text: request.pageToken, for: scope)
                } catch {
                    throw IdentityError.operation(.cursorInvalid)
                }
            }
            if !request.provider.isEmpty { try requireKeepable(request.provider) }
            try await record(nil, by: "list", name, context)
            let page = try await store.accounts(
                AccountFilter(request),
                after: last,
                limit: size,
                deadline: context.deadline
            )
            var response = OperatorV1.ListAccountsResponse()
            response.accounts = page.accounts.map { OperatorV1.ListedAccount($0) }
            response.nextPageToken = page.next.map { cursors.text($0, for: scope) } ?? ""
            return response
        }
    }

    /// Lists the sessions of an account that are kept.
    func listSessions(
        _ request: OperatorV1.ListSessionsRequest,
        context: ServerContext
    ) async throws -> OperatorV1.ListSessionsResponse {
        try await answer(context) { name in
            let userID = try account(request.userID)
            guard try await record(userID, by: "sessions", name, context) else { throw IdentityError.accountNotFound }
            let (sessions, hasMore) = try await store.keptSessions(
                of: userID,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            var response = OperatorV1.ListSessionsResponse()
            response.sessions = sessions.map { OperatorV1.OperatorSession($0) }
            response.isIncomplete = hasMore
            return response
        }
    }

    /// Lists the groups of an account.
    func listGroups(
        _ request: OperatorV1.ListGroupsRequest,
        context: ServerContext
    ) async throws -> OperatorV1.ListGroupsResponse {
        try await answer(context) { name in
            let userID = try account(request.userID)
            guard try await record(userID, by: "groups", name, context) else { throw IdentityError.accountNotFound }
            return try await groups.groups(of: userID)
        }
    }

    /// Writes into the audit log that an operator looked at an account, or at no particular one.
    ///
    /// - Returns: whether the account is there.
    @discardableResult
    func record(_ userID: UserID?, by word: String, _ name: String?, _ context: ServerContext) async throws -> Bool {
        let (found, _) = try await store.findAccounts(
            userID.map { .userIDs([$0]) },
            by: word,
            name,
            nowMilliseconds: clock.nowMilliseconds,
            deadline: context.deadline
        )
        return !found.isEmpty
    }
}

extension AccountFilter {
    /// The filter of a request.
    fileprivate init(_ request: OperatorV1.ListAccountsRequest) {
        self.init()
        if !request.provider.isEmpty { provider = request.provider }
        if request.hasIsBlocked { isBlocked = request.isBlocked }
        if request.hasIsImported { isImported = request.isImported }
        if request.hasIsGuest { isGuest = request.isGuest }
        if request.createdFromMs != 0 { createdFromMilliseconds = request.createdFromMs }
        if request.createdBeforeMs != 0 { createdBeforeMilliseconds = request.createdBeforeMs }
    }
}
