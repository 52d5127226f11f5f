import RPC
import SwiftProtobuf

extension RPCError {
    /// The messages that errors of ours carry as details.
    public static let detailTypes: [any SwiftProtobuf.Message.Type] = [
        GoogleRpc.ErrorInfo.self, GoogleRpc.BadRequest.self, GoogleRpc.RetryInfo.self,
    ]

    /// A domain error as callers see it.
    ///
    /// - Parameters:
    ///   - code: The status of the call.
    ///   - reason: A stable word in UPPER_SNAKE_CASE that programs decide by (`google.rpc.ErrorInfo.reason`, with the
    ///     domain "vestibule").
    ///   - message: For people, with nothing secret or personal in it.
    ///   - fields: The request's fields at fault. Of more than fit into the trailers the first are sent.
    ///   - retryAfter: The least time to wait before the next try; a negative one is sent as zero.
    ///   - metadata: More about this occurrence (`google.rpc.ErrorInfo.metadata`), by the names of ``ErrorFact``.
    ///   - cause: What is logged, and never sent.
    public static func domain(
        _ code: Status.Code,
        reason: String,
        message: String,
        fields: [FieldViolation] = [],
        retryAfter: Duration? = nil,
        metadata: [String: String] = [:],
        cause: (any Error)? = nil
    ) -> RPCError {
        let details = ErrorDetails(reason: reason, facts: metadata, fields: fields, retryAfter: retryAfter)
        return RPCError(
            code,
            message,
            statusDetails: details.encoded(code: code, message: message),
            cause: cause
        )
    }

    /// A domain error about one field of the request, which says the same of the field.
    public static func domain(
        _ code: Status.Code,
        reason: String,
        message: String,
        field: String,
        retryAfter: Duration? = nil,
        metadata: [String: String] = [:]
    ) -> RPCError {
        let violation = FieldViolation(field: field, description: message, reason: reason)
        return .domain(
            code,
            reason: reason,
            message: message,
            fields: [violation],
            retryAfter: retryAfter,
            metadata: metadata
        )
    }

    /// INVALID_ARGUMENT for fields that can't be what was given, at least one; the first says what the whole error says.
    public static func invalidFields(_ fields: [FieldViolation]) -> RPCError {
        .domain(
            .invalidArgument,
            reason: fields.first?.reason ?? "INVALID_ARGUMENT",
            message: fields.first?.description ?? "The request isn't valid.",
            fields: fields
        )
    }

    /// The stable word that says what happened; nil if the error carries none of ours.
    public var reason: String? { details.reason }

    /// More about this occurrence, by the names of ``ErrorFact``; empty if the error carries nothing of ours.
    public var reasonMetadata: [String: String] { details.facts }

    /// The request's fields at fault; empty if the error names none.
    public var fieldViolations: [FieldViolation] { details.fields }

    /// The least time to wait before the next try; nil if the error doesn't say.
    public var retryAfter: Duration? { details.retryAfter }

    private var details: ErrorDetails { ErrorDetails(decoding: statusDetails, code: code) }
}

/// What errors of ours tell beside their reason, by name.
public enum ErrorFact {
    /// Usernames that are free, with commas between.
    public static let suggestions = "suggestions"
    /// The revision that a profile has, in digits.
    public static let revision = "revision"
    /// Contexts of a sign-in that would be enough, the preferred first, with spaces between (RFC 9470 section 3).
    public static let acrValues = "acr_values"
    /// The greatest age of a sign-in that would be enough, in seconds and digits (RFC 9470 section 3).
    public static let maxAge = "max_age"
}
