/// What an operator of the console may do. Each role may do all that the ones before it may.
public enum ConsoleRole: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Finds and lists, and sees numbers and addresses masked.
    case read
    /// Opens them with a reason, ends sessions, releases numbers, blocks and unblocks.
    case support
    /// Deletes accounts.
    case owner

    private var rank: Int {
        switch self {
        case .read: 0
        case .support: 1
        case .owner: 2
        }
    }

    /// The one that may do less first.
    public static func < (left: ConsoleRole, right: ConsoleRole) -> Bool { left.rank < right.rank }
}
