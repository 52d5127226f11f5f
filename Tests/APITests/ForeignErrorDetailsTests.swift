import RPC
import SwiftProtobuf
import Testing

@testable import API

/// Details come from the network: every input must end in an answer, never in a crash or in unbounded work.
struct ForeignErrorDetailsTests {
    private static let whole = RPCError.domain(
        .resourceExhausted,
        reason: "OVERLOADED",
        message: "Later.",
        fields: [FieldViolation(field: "a", description: "b", reason: "C")],
        retryAfter: .seconds(7),
        metadata: ["revision": "3"]
    )

    /// A duration as the wire may carry it.
    struct Wait: Sendable {
        let seconds: Int64
        let nanos: Int32
    }

    /// All of it at once, as every test here asks for all.
    private static func read(_ bytes: [UInt8], code: Status.Code = .resourceExhausted) -> ErrorDetails {
        let error = RPCError(code, "", statusDetails: bytes)
        return ErrorDetails(
            reason: error.reason,
            facts: error.reasonMetadata,
            fields: error.fieldViolations,
            retryAfter: error.retryAfter
        )
    }

    private static func status(
        code: Status.Code = .resourceExhausted,
        _ details: [any SwiftProtobuf.Message]
    ) throws -> [UInt8] {
        var status = GoogleRpc.Status()
        status.code = Int32(code.rawValue)
        status.details = try details.map { try Google_Protobuf_Any(message: $0) }
        return try status.serializedBytes()
    }

    private static func errorInfo(_ reason: String, domain: String) -> GoogleRpc.ErrorInfo {
        var info = GoogleRpc.ErrorInfo()
        info.reason = reason
        info.domain = domain
        return info
    }

    private static func retryInfo(seconds: Int64, nanos: Int32) -> GoogleRpc.RetryInfo {
        var info = GoogleRpc.RetryInfo()
        info.retryDelay.seconds = seconds
        info.retryDelay.nanos = nanos
        return info
    }

    @Test func `Cut at any offset they are read in part or not at all`() {
        let bytes = Self.whole.statusDetails
        let full = Self.read(bytes)
        for length in 0..<bytes.count {
            let part = Self.read(Array(bytes.prefix(length)))
            #expect(part.reason == nil || part.reason == full.reason)
            #expect(part.fields.isEmpty || part.fields == full.fields)
            #expect(part.retryAfter == nil || part.retryAfter == full.retryAfter)
            #expect(part != full, "cut at \(length)")
        }
    }

    @Test func `With any byte changed they are still read without a crash`() {
        let bytes = Self.whole.statusDetails
        for index in bytes.indices {
            for mask: UInt8 in [0x01, 0x80, 0xff] {
                var changed = bytes
                changed[index] ^= mask
                #expect(Self.read(changed).fields.count <= 1)
            }
        }
    }

    @Test func `Bytes that are no status tell nothing`() {
        for byte in UInt8.min...UInt8.max {
            #expect(Self.read([byte]) == ErrorDetails())
            #expect(Self.read(Array(repeating: byte, count: 64)) == ErrorDetails())
        }
    }

    @Test func `Details above the limit count as none, those at it are read`() throws {
        func padded(to size: Int) throws -> [UInt8] {
            var status = try GoogleRpc.Status(serializedBytes: Self.whole.statusDetails)
            let unpaddedCount = Self.whole.statusDetails.count
            status.message += String(repeating: "x", count: size - unpaddedCount - 1)
            return try status.serializedBytes()
        }
        // The message's length takes one byte more than before, so this is the limit exactly.
        let atLimit = try padded(to: ErrorDetails.receivedBytesMax)
        #expect(atLimit.count == ErrorDetails.receivedBytesMax)
        #expect(Self.read(atLimit).reason == "OVERLOADED")
        let aboveLimit = try padded(to: ErrorDetails.receivedBytesMax + 1)
        #expect(aboveLimit.count == ErrorDetails.receivedBytesMax + 1)
        #expect(Self.read(aboveLimit) == ErrorDetails())
    }

    @Test func `Details of another status than the call's tell nothing`() {
        #expect(Self.read(Self.whole.statusDetails, code: .internalError) == ErrorDetails())
    }

    @Test func `Another domain's reason is not ours`() throws {
        let bytes = try Self.status([Self.errorInfo("API_DISABLED", domain: "googleapis.com")])
        #expect(Self.read(bytes).reason == nil)
    }

    @Test func `Ours is found behind details of other kinds and domains`() throws {
        let bytes = try Self.status([
            Google_Protobuf_Duration(seconds: 1, nanos: 0),
            Self.errorInfo("API_DISABLED", domain: "googleapis.com"),
            Self.errorInfo("OVERLOADED", domain: "vestibule"),
            Self.errorInfo("SECOND", domain: "vestibule"),
        ])
        #expect(Self.read(bytes).reason == "OVERLOADED")
    }

    @Test func `A malformed detail is passed over`() throws {
        var status = GoogleRpc.Status()
        status.code = Int32(Status.Code.resourceExhausted.rawValue)
        var broken = Google_Protobuf_Any()
        broken.typeURL = "type.googleapis.com/google.rpc.BadRequest"
        broken.value.append(contentsOf: [0x0a, 0xff])
        status.details = [broken, try Google_Protobuf_Any(message: Self.retryInfo(seconds: 2, nanos: 5))]
        let details = Self.read(try status.serializedBytes())
        #expect(details.fields.isEmpty)
        #expect(details.retryAfter == .seconds(2) + .nanoseconds(5))
    }

    @Test(arguments: [
        Wait(seconds: -1, nanos: 0), Wait(seconds: 0, nanos: -1), Wait(seconds: 0, nanos: 1_000_000_000),
        Wait(seconds: 315_576_000_001, nanos: 0), Wait(seconds: .max, nanos: 0), Wait(seconds: .min, nanos: 0),
    ]
    )
    func `A wait that no duration can have is none`(_ wait: Wait) throws {
        let bytes = try Self.status([Self.retryInfo(seconds: wait.seconds, nanos: wait.nanos)])
        #expect(Self.read(bytes).retryAfter == nil)
    }

    @Test func `No more details and fields are read than their limits allow`() throws {
        var bad = GoogleRpc.BadRequest()
        bad.fieldViolations = Array(
            repeating: GoogleRpc.BadRequest.FieldViolation(),
            count: ErrorDetails.receivedFieldsMax + 1
        )
        #expect(Self.read(try Self.status([bad])).fields.count == ErrorDetails.receivedFieldsMax)

        let unknown = Array(
            repeating: Google_Protobuf_Duration() as any SwiftProtobuf.Message,
            count: ErrorDetails.receivedDetailsMax - 1
        )
        let ours = Self.errorInfo("OVERLOADED", domain: "vestibule")
        #expect(Self.read(try Self.status(unknown + [ours])).reason == "OVERLOADED")
        let oneMore = unknown + [Google_Protobuf_Duration(), ours]
        #expect(Self.read(try Self.status(oneMore)).reason == nil)
    }

    @Test func `Facts are read with a reason of ours, and no more and no longer ones than ours are`() throws {
        func read(_ facts: [String: String], domain: String = ErrorDetails.domain) throws -> [String: String] {
            var info = Self.errorInfo("X", domain: domain)
            info.metadata = facts
            return Self.read(try Self.status([info])).facts
        }
        let most = Dictionary(uniqueKeysWithValues: (0..<ErrorDetails.receivedFactsMax).map { ("\($0)", "a") })
        let long = String(repeating: "a", count: ErrorDetails.receivedFactBytesMax)
        #expect(try read(most) == most)
        #expect(try read(["revision": long]) == ["revision": long])
        #expect(try read(most.merging(["more": "a"]) { first, _ in first }).isEmpty)
        #expect(try read(["revision": long + "a"]).isEmpty)
        #expect(try read([long + "a": "3"]).isEmpty)
        #expect(try read(["revision": "3"], domain: "example.com").isEmpty)
    }
}
