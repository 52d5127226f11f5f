import RPC
import SwiftProtobuf
import Testing

@testable import API

struct ErrorDetailsTests {
    private static let fields = [
        FieldViolation(field: "phone_number", description: "Not a phone number.", reason: "PHONE_INVALID"),
        FieldViolation(field: "display_name", description: "Zu kurz: é."),
    ]

    @Test func `A service's error details reach the caller`() {
        let error = RPCError.domain(
            .invalidArgument,
            reason: "PHONE_INVALID",
            message: "Not a phone number.",
            fields: Self.fields,
            retryAfter: .milliseconds(1500)
        )
        #expect(error.code == .invalidArgument)
        #expect(error.message == "Not a phone number.")
        #expect(error.reason == "PHONE_INVALID")
        #expect(error.fieldViolations == Self.fields)
        #expect(error.retryAfter == .milliseconds(1500))
    }

    @Test func `A plain error has no details`() {
        let error = RPCError(.notFound, "no such group")
        #expect(error.statusDetails.isEmpty)
        #expect(error.reason == nil)
        #expect(error.fieldViolations.isEmpty)
        #expect(error.retryAfter == nil)
    }

    @Test func `Only what is given is sent`() throws {
        let error = RPCError.domain(.alreadyExists, reason: "PHONE_TAKEN", message: "Taken.")
        let status = try GoogleRpc.Status(serializedBytes: error.statusDetails)
        #expect(status.code == 6)
        #expect(status.message == "Taken.")
        #expect(status.details.map(\.typeURL) == ["type.googleapis.com/google.rpc.ErrorInfo"])
        #expect(error.reason == "PHONE_TAKEN")
        #expect(error.retryAfter == nil)
    }

    /// Written by hand after the protobuf encoding, so that an error in the writing and reading alike is seen.
    @Test func `The bytes are those of the standard`() {
        let error = RPCError.domain(.alreadyExists, reason: "PHONE_TAKEN", message: "Taken.")
        let info: [UInt8] = [0x0a, 11] + "PHONE_TAKEN".utf8 + [0x12, 9] + "vestibule".utf8
        let typeURL = Array("type.googleapis.com/google.rpc.ErrorInfo".utf8)
        let any: [UInt8] = [0x0a, UInt8(typeURL.count)] + typeURL + [0x12, UInt8(info.count)] + info
        #expect(error.statusDetails == [0x08, 6, 0x12, 6] + "Taken.".utf8 + [0x1a, UInt8(any.count)] + any)
    }

    @Test func `A negative wait is sent as zero`() {
        let error = RPCError.domain(.unavailable, reason: "OVERLOADED", message: "", retryAfter: .seconds(-3))
        #expect(error.retryAfter == .zero)
    }

    @Test func `Details stay within what trailers may carry: fields are dropped before the reason`() {
        let many = (0..<500).map {
            FieldViolation(field: "field_\($0)", description: String(repeating: "x", count: 40))
        }
        let error = RPCError.domain(.invalidArgument, reason: "MANY", message: "Many.", fields: many)
        #expect(error.statusDetails.count <= ErrorDetails.sentBytesMax)
        #expect(error.reason == "MANY")
        let kept = error.fieldViolations
        #expect(kept.count >= 16)
        #expect(kept == Array(many.prefix(kept.count)))
    }

    @Test func `A message that is too long is not repeated in the details`() throws {
        let message = String(repeating: "m", count: ErrorDetails.sentBytesMax)
        let error = RPCError.domain(.internalError, reason: "LONG", message: message, fields: Self.fields)
        #expect(error.message == message)
        #expect(error.statusDetails.count <= ErrorDetails.sentBytesMax)
        #expect(error.reason == "LONG")
        #expect(try GoogleRpc.Status(serializedBytes: error.statusDetails).message.isEmpty)
    }
}
