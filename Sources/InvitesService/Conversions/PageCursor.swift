import Bytes
import InvitesDomain
import Models
import ServiceKit

/// The payload of a page token: the UUID that the list is sorted by.
extension Page.Cursor: CursorPayload {
    /// Bytes of a UUID.
    public static let bytesMax = 16

    /// Reads the UUID.
    public init(from reader: inout ByteReader<CursorError>) throws(CursorError) {
        self.init(Identifier<Never>(high: try reader.integer(), low: try reader.integer()))
    }

    /// Appends the UUID.
    public func write(to bytes: inout [UInt8]) {
        bytes.append(integer: high)
        bytes.append(integer: low)
    }
}

/// A list's page tokens for one account, and in one group where the list is a group's.
struct PageTokens {
    private let seal: CursorSeal
    private let scope: CursorScope

    /// The tokens of a list.
    init(_ list: PageList, of userID: UserID, in groupID: GroupID? = nil, sealedBy seal: CursorSeal) {
        self.seal = seal
        scope = CursorScope(
            method: list.rawValue,
            account: userID.description,
            group: groupID.map { $0.description } ?? ""
        )
    }

    /// Returns the requested page.
    ///
    /// - Parameters:
    ///   - size: the number of entries requested; 0 means ``InvitesDomain/Page/sizeDefault``.
    ///   - token: the result of ``token(after:)`` for the page before; empty for the first page.
    /// - Throws: `InvitesError.cursorInvalid` for any other token.
    func page(size: Int32, token: String) throws(InvitesError) -> Page {
        guard !token.isEmpty else { return try Page(size: Int(clamping: size), after: nil) }
        let cursor: Page.Cursor
        do throws(CursorError) {
            cursor = try seal.open(text: token, for: scope)
        } catch {
            throw .cursorInvalid
        }
        return try Page(size: Int(clamping: size), after: cursor)
    }

    /// Returns the token of the page that begins after an entry.
    func token<Tag>(after id: Identifier<Tag>) -> String { seal.text(Page.Cursor(id), for: scope) }
}

/// The lists that have pages, by the names of their methods.
enum PageList: String, Sendable, CaseIterable {
    case groups = "ListGroups"
    case members = "ListMembers"
    case invitations = "ListMyInvitations"
    case pending = "ListPending"
    case blockedInviters = "ListBlockedInviters"
}
