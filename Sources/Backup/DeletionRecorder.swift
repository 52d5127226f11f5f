/// Keeps the log of deleted accounts up to date. The log is read once, however often the database is asked.
actor DeletionRecorder {
    private let settings: BackupSettings
    private var log: DeletedAccountsLog?

    init(_ settings: BackupSettings) { self.settings = settings }

    /// Adds the accounts that were deleted since the newest known one.
    func record() async throws {
        let newest = try known().newest
        let deleted = try await BackupStore(settings).deletedAccounts(since: newest)
        // Another call may have added some meanwhile.
        var current = try known()
        try current.add(deleted)
        log = current
    }

    private func known() throws -> DeletedAccountsLog {
        if let log { return log }
        let read = try DeletedAccountsLog(path: settings.folder.deletedAccounts)
        log = read
        return read
    }
}
