import RPC
import SwiftProtobuf

/// What an error tells programs beyond its code, as `google.rpc.Status` carries it in `grpc-status-details-bin`.
///
/// Source: the richer error model of gRPC (https://grpc.io/docs/guides/error/), with `google.rpc.ErrorInfo`,
/// `google.rpc.BadRequest` and `google.rpc.RetryInfo` as details.
struct ErrorDetails: Equatable {
    /// Whose words our reasons are: `google.rpc.ErrorInfo.domain`.
    static let domain = "vestibule"

    /// The most that is sent. In base64 it stays well below the 8 KiB of metadata that clients take by default.
    static let sentBytesMax = 4096
    /// The most that is read; larger details count as none.
    static let receivedBytesMax = 16_384
    /// How many details are looked at.
    static let receivedDetailsMax = 16
    /// How many field violations are read.
    static let receivedFieldsMax = 64
    /// How many facts are read, and how long the texts of one may be.
    static let receivedFactsMax = 16
    static let receivedFactBytesMax = 1_024
    /// How deep received messages may be nested; ours are at most three deep.
    private static let nestingMax = 8

    /// A stable word such as `PHONE_TAKEN`; nil if the error has none, or one of another domain.
    var reason: String?
    /// More about this occurrence, by names of ours (``ErrorFact``).
    var facts: [String: String] = [:]
    /// The fields at fault.
    var fields: [FieldViolation] = []
    /// The least time to wait before the next try.
    var retryAfter: Duration?
}

// MARK: - Writing

extension ErrorDetails {
    /// The serialized `google.rpc.Status`, at most `sentBytesMax` long.
    ///
    /// If that is too long, the last field violations are left out first, then the copy of the message. A client that
    /// corrects the listed fields gets the others in the next response.
    func encoded(code: Status.Code, message: String) -> [UInt8] {
        var fieldCount = fields.count
        while true {
            let bytes = encoded(code: code, message: message, fieldCount: fieldCount)
            if bytes.count <= Self.sentBytesMax { return bytes }
            if fieldCount == 0 { break }
            fieldCount /= 2
        }
        let bytes = encoded(code: code, message: "", fieldCount: 0)
        return bytes.count <= Self.sentBytesMax ? bytes : []
    }

    private func encoded(code: Status.Code, message: String, fieldCount: Int) -> [UInt8] {
        var status = GoogleRpc.Status()
        status.code = Int32(code.rawValue)
        status.message = message
        do {
            if let reason {
                status.details.append(try Google_Protobuf_Any(message: errorInfo(reason)))
            }
            if fieldCount > 0 {
                status.details.append(try Google_Protobuf_Any(message: Self.badRequest(fields.prefix(fieldCount))))
            }
            if let retryAfter {
                status.details.append(try Google_Protobuf_Any(message: Self.retryInfo(retryAfter)))
            }
            return try status.serializedBytes()
        } catch {
            // SwiftProtobuf refuses only messages without a required field, which proto3 doesn't know, and those over
            // 2 GiB; of the latter the code and the message still reach the caller.
            return []
        }
    }

    private func errorInfo(_ reason: String) -> GoogleRpc.ErrorInfo {
        var info = GoogleRpc.ErrorInfo()
        info.reason = reason
        info.domain = Self.domain
        info.metadata = facts
        return info
    }

    private static func badRequest(_ fields: ArraySlice<FieldViolation>) -> GoogleRpc.BadRequest {
        var badRequest = GoogleRpc.BadRequest()
        badRequest.fieldViolations = fields.map { field in
            var violation = GoogleRpc.BadRequest.FieldViolation()
            violation.field = field.field
            violation.description_p = field.description
            violation.reason = field.reason
            return violation
        }
        return badRequest
    }

    private static func retryInfo(_ wait: Duration) -> GoogleRpc.RetryInfo {
        let (seconds, attoseconds) = max(wait, .zero).components
        var info = GoogleRpc.RetryInfo()
        info.retryDelay.seconds = min(seconds, retrySecondsMax)
        info.retryDelay.nanos = Int32(attoseconds / attosecondsPerNanosecond)
        return info
    }

    private static let attosecondsPerNanosecond: Int64 = 1_000_000_000
    /// The largest `google.protobuf.Duration`, about 10,000 years.
    private static let retrySecondsMax: Int64 = 315_576_000_000
}

// MARK: - Reading

extension ErrorDetails {
    /// Reads what another process sent, which may be anything.
    ///
    /// Bytes that are too many or no `google.rpc.Status` tell nothing, and so does one whose code is not the call's
    /// (something on the way changed the status). A detail of a kind that we don't know, or that is malformed, is
    /// passed over; of one kind the first counts.
    init(decoding bytes: [UInt8], code: Status.Code) {
        self.init()
        guard !bytes.isEmpty, bytes.count <= Self.receivedBytesMax else { return }
        var options = BinaryDecodingOptions()
        options.messageDepthLimit = Self.nestingMax
        guard let status = try? GoogleRpc.Status(serializedBytes: bytes, options: options),
            status.code == Int32(code.rawValue)
        else { return }
        for detail in status.details.prefix(Self.receivedDetailsMax) {
            read(detail, options: options)
        }
    }

    private mutating func read(_ detail: Google_Protobuf_Any, options: BinaryDecodingOptions) {
        if reason == nil, let info = Self.unpack(GoogleRpc.ErrorInfo.self, from: detail, options: options) {
            guard info.domain == Self.domain, !info.reason.isEmpty else { return }
            reason = info.reason
            let isShort = { (fact: (key: String, value: String)) in
                fact.key.utf8.count <= Self.receivedFactBytesMax && fact.value.utf8.count <= Self.receivedFactBytesMax
            }
            if info.metadata.count <= Self.receivedFactsMax, info.metadata.allSatisfy(isShort) { facts = info.metadata }
        } else if fields.isEmpty, let bad = Self.unpack(GoogleRpc.BadRequest.self, from: detail, options: options) {
            fields = bad.fieldViolations.prefix(Self.receivedFieldsMax).map {
                FieldViolation(field: $0.field, description: $0.description_p, reason: $0.reason)
            }
        } else if retryAfter == nil, let info = Self.unpack(GoogleRpc.RetryInfo.self, from: detail, options: options) {
            retryAfter = Self.wait(info)
        }
    }

    private static func unpack<Detail: SwiftProtobuf.Message>(
        _ type: Detail.Type,
        from any: Google_Protobuf_Any,
        options: BinaryDecodingOptions
    ) -> Detail? {
        guard any.isA(type) else { return nil }
        return try? Detail(unpackingAny: any, options: options)
    }

    /// Nil for a delay that `google.protobuf.Duration` doesn't allow, and for a negative one.
    private static func wait(_ info: GoogleRpc.RetryInfo) -> Duration? {
        let delay = info.retryDelay
        guard info.hasRetryDelay, 0...retrySecondsMax ~= delay.seconds, 0..<1_000_000_000 ~= delay.nanos else {
            return nil
        }
        return .seconds(delay.seconds) + .nanoseconds(delay.nanos)
    }
}
