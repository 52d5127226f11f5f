import Foundation
import Testing

@testable import VestibuleClient

struct EnvelopeTests {
    @Test func `Envelopes are read from pieces that are cut anywhere`() throws {
        let stream = [UInt8](
            Envelope.data(Data("{}".utf8)) + Envelope.data(Data()) + [2, 0, 0, 0, 3] + Data("end".utf8)
        )
        for size in 1...stream.count {
            var reader = EnvelopeReader()
            var read: [Envelope] = []
            for start in stride(from: 0, to: stream.count, by: size) {
                reader.add(stream[start..<min(start + size, stream.count)])
                while let envelope = try reader.next() { read.append(envelope) }
            }
            #expect(read.map { String(decoding: $0.message, as: UTF8.self) } == ["{}", "", "end"])
            #expect(read.map(\.isEnd) == [false, false, true])
        }
    }

    @Test func `A length that no message has is refused`() {
        var reader = EnvelopeReader()
        reader.add([0, 0xff, 0, 0, 0])
        #expect(throws: JSONFault.self) { try reader.next() }
    }
}
