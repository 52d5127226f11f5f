import API
import JOSE

extension AppMethods {
    /// Begins a subscription to the changes in the user's groups.
    ///
    /// - Parameter expiresAtSeconds: when it ends, in Unix seconds; by default with the access token.
    /// - Throws: as `Authentication.user`, and as `GroupWatches.open`.
    func watchGroups(
        _ request: AppV1.WatchGroupsRequest,
        _ caller: Caller,
        expiresAtSeconds: Int64? = nil
    ) async throws -> GroupWatch {
        var (session, proofs) = try await authentication.watching(caller)
        if let expiresAtSeconds { session.expiresAtSeconds = expiresAtSeconds }
        return try await watches.open(
            session,
            proof: proofs.invites,
            from: Self.position(request.position),
            deadline: caller.deadline
        )
    }

    /// The longest text of a position; no position of ours is longer.
    private static let positionTextMax = 1024

    /// The bytes of a position. For one that can't be read, an unknown position: the app begins anew.
    private static func position(_ text: String) -> [UInt8]? {
        guard !text.isEmpty else { return nil }
        guard text.utf8.count <= positionTextMax, let bytes = Base64URL.decode(text) else { return [0] }
        return bytes
    }
}

extension AppV1.WatchGroupsResponse {
    /// A message to an app.
    init(_ news: WatchUpdate) {
        self.init()
        position = Base64URL.encode(news.position)
        isReset = news.isReset
        changes = news.changes
        accountChanges = news.accountChanges.map { AppV1.AccountChange($0) }
    }
}
