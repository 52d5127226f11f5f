import Bytes
import Models
import Postgres
import ServiceKit

/// The payload of a page token of the list of accounts: the last account that the page before looked at.
struct AccountCursor: CursorPayload, Hashable {
    /// When that account was created, in microseconds since 1970.
    let createdAtMicroseconds: Int64
    /// Its id.
    let userID: UserID

    /// A time and the bytes of a UUID.
    static let bytesMax = 24

    init(createdAtMicroseconds: Int64, userID: UserID) {
        self.createdAtMicroseconds = createdAtMicroseconds
        self.userID = userID
    }

    init(from reader: inout ByteReader<CursorError>) throws(CursorError) {
        createdAtMicroseconds = Int64(bitPattern: try reader.integer())
        userID = UserID(high: try reader.integer(), low: try reader.integer())
    }

    func write(to bytes: inout [UInt8]) {
        bytes.append(integer: UInt64(bitPattern: createdAtMicroseconds))
        bytes.append(integer: userID.high)
        bytes.append(integer: userID.low)
    }
}
