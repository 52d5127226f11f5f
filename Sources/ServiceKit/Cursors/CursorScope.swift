import Bytes

/// What a cursor is good for: one method, for one account, in one group. A cursor of another scope doesn't open.
public struct CursorScope: Sendable, Hashable {
    /// The method that makes and takes it, such as `ListGroups`.
    public let method: String
    /// The account that it was made for, as its id is written; empty if the method has none.
    public let account: String
    /// The group that it was made in, as its id is written; empty if the method has none.
    public let group: String

    /// A scope.
    public init(method: String, account: String = "", group: String = "") {
        self.method = method
        self.account = account
        self.group = group
    }

    /// The scope in bytes: each text after its length, so that no two scopes have the same.
    var label: [UInt8] {
        var label = Array("vestibule cursor 1".utf8)
        for text in [method, account, group] {
            label.append(integer: UInt64(text.utf8.count))
            label += text.utf8
        }
        return label
    }
}
