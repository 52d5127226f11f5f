import Bytes
import Models
import ServiceKit

/// The payload of a page token of the audit log: the last event of the page before.
struct EventCursor: CursorPayload, Hashable {
    /// The last listed event.
    let last: EventID

    /// The bytes of a UUID.
    static let bytesMax = 16

    init(last: EventID) { self.last = last }

    init(from reader: inout ByteReader<CursorError>) throws(CursorError) {
        last = EventID(high: try reader.integer(), low: try reader.integer())
    }

    func write(to bytes: inout [UInt8]) {
        bytes.append(integer: last.high)
        bytes.append(integer: last.low)
    }
}
