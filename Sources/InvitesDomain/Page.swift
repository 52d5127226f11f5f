import Models

/// The requested part of a list.
public struct Page: Sendable, Hashable {
    /// How many entries a page has if the request doesn't say.
    public static let sizeDefault = 50
    /// The most entries of a page; a larger size is reduced to it.
    public static let sizeMax = 100

    /// The number of entries requested, 1 to ``sizeMax``.
    public let size: Int
    /// The last entry of the page before: the high and low half of its UUID; nil for the first page.
    public let after: Cursor?

    /// The place of an entry in a list: the UUID that the list is sorted by.
    public struct Cursor: Sendable, Hashable {
        /// The first eight bytes of the UUID.
        public let high: UInt64
        /// The last eight bytes of the UUID.
        public let low: UInt64

        /// The place of the entry with this id.
        public init<Tag>(_ id: Identifier<Tag>) {
            self.high = id.high
            self.low = id.low
        }
    }

    /// A page.
    ///
    /// - Parameters:
    ///   - size: the number of entries requested; 0 means ``sizeDefault``, and more than ``sizeMax`` is reduced to it.
    ///   - after: the last entry of the page before; nil for the first page.
    public init(size: Int, after: Cursor?) throws(InvitesError) {
        guard size >= 0 else { throw .pageSizeInvalid }
        self.size = size == 0 ? Self.sizeDefault : min(size, Self.sizeMax)
        self.after = after
    }
}
