import Synchronization

/// How many statements and transactions the server has undone because it takes no writes. Any thread.
public final class RefusedWrites: Sendable {
    private let diskFullCount = Atomic(0)
    private let readOnlyCount = Atomic(0)

    /// Those for which its disk had no room (53100).
    public var diskFull: Int { diskFullCount.load(ordering: .relaxed) }
    /// Those that it only reads for: it is a standby, or was set so (25006).
    public var readOnly: Int { readOnlyCount.load(ordering: .relaxed) }
    /// All of them.
    public var total: Int { diskFull + readOnly }

    func count(_ state: SQLState) {
        switch state {
        case .diskFull: diskFullCount.add(1, ordering: .relaxed)
        case .readOnlyTransaction: readOnlyCount.add(1, ordering: .relaxed)
        default: break
        }
    }
}
