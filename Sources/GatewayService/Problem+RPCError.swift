import API
import HTTPJSON
import HTTPTypes
import JOSE
import RPC

/// Maps errors of services to responses for clients; no other place decides this.
///
/// A domain error's reason is the problem's code, and its message, which is written for people, the detail. For failures
/// on our side clients get status and code alone. Source of the statuses: google.rpc.Code's mapping to HTTP.
extension Problem {
    /// How long to wait where a service does not say.
    private static let defaultWait = Duration.seconds(1)

    /// The problem that clients get for any error that a route threw.
    init(answering error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let error as RPCError: self.init(answering: error, mayBeRepeated: true)
        case is CancellationError: self.init(answering: RPCError(.cancelled, "the request was cancelled"))
        default: self = .internalError(cause: error)
        }
    }

    /// The problem that clients get for a failed call.
    ///
    /// - Parameter mayBeRepeated: whether the call is idempotent. If it isn't, and the service doesn't say that nothing was
    ///   done, the outcome is unknown, and the response doesn't ask the client to retry.
    init(answering error: RPCError, mayBeRepeated: Bool) {
        self = mayBeRepeated || Self.isOutcomeKnown(error) ? Self.problem(error) : Self.outcomeUnknown(error)
    }

    /// What to throw for a failed call that is not idempotent: the error if the call certainly did nothing, else a problem that
    /// says that the outcome is unknown.
    static func unlessRepeatable(_ error: RPCError) -> any Error {
        isOutcomeKnown(error) ? error : outcomeUnknown(error)
    }

    /// Whether a failed call certainly did nothing.
    private static func isOutcomeKnown(_ error: RPCError) -> Bool {
        switch error.code {
        case .unavailable, .deadlineExceeded: error.retryAfter != nil || error.cause is CallNotSent
        case .unknown, .internalError, .dataLoss, .cancelled: false
        case .ok, .invalidArgument, .notFound, .alreadyExists, .permissionDenied, .resourceExhausted,
            .failedPrecondition, .aborted, .outOfRange, .unimplemented, .unauthenticated:
            true
        }
    }

    /// The problem for the services' OUTCOME_UNKNOWN and for a call that broke off. Without `Retry-After`.
    private static func outcomeUnknown(_ error: RPCError) -> Problem {
        Problem(
            error.code == .deadlineExceeded ? .gatewayTimeout : .internalServerError,
            code: outcomeUnknownReason,
            detail: "It is not known whether this was done. Please look before you try again.",
            cause: CallFailure(error)
        )
    }

    private static let outcomeUnknownReason = "OUTCOME_UNKNOWN"

    private static func problem(_ error: RPCError) -> Problem {
        if error.reason == outcomeUnknownReason { return outcomeUnknown(error) }
        // A service rejected identity's proof of the user: our keys or clocks are wrong, and no app may take it for the end of
        // its session.
        if error.isAboutCallerProof {
            return internalFault(error, .serviceUnavailable, "This is not available right now. Please try again.")
                .retryingAfter(defaultWait)
        }
        switch error.code {
        case .invalidArgument, .failedPrecondition, .outOfRange:
            let usual: HTTPResponse.Status = error.fieldViolations.isEmpty ? .badRequest : .unprocessableContent
            // A reason's own status, such as 409 of LAST_PROVIDER: not the request is at fault, but the account.
            let own = error.reason.flatMap { ErrorCode.named($0) }.map { HTTPResponse.Status(code: $0.http) }
            return domain(error, own ?? usual, "The request was refused.")
        case .unauthenticated:
            var problem = domain(error, .unauthorized, "The credentials were refused.")
            problem.headers[.wwwAuthenticate] = challenge(error.reason)
            return problem
        case .permissionDenied:
            var problem = domain(error, .forbidden, "This is not allowed.")
            problem.headers[.wwwAuthenticate] = stepUpChallenge(error.reasonMetadata)
            return error.retryAfter.map { problem.retryingAfter($0) } ?? problem
        case .notFound:
            return domain(error, .notFound, "There is no such thing.")
        case .alreadyExists, .aborted:
            return domain(error, .conflict, "This conflicts with something that exists.")
        case .resourceExhausted:
            return domain(error, .tooManyRequests, "There were too many requests. Please try again later.")
                .retryingAfter(error.retryAfter ?? defaultWait)
        case .cancelled:
            return internalFault(
                error,
                .init(code: 499, reasonPhrase: "Client Closed Request"),
                "The request was cancelled."
            )
        case .unimplemented:
            return internalFault(error, .notImplemented, "This is not available here.")
        case .unavailable:
            return internalFault(error, .serviceUnavailable, "This is not available right now. Please try again.")
                .retryingAfter(error.retryAfter ?? defaultWait)
        case .deadlineExceeded:
            return internalFault(error, .gatewayTimeout, "This took too long. Please try again.")
                .retryingAfter(error.retryAfter ?? defaultWait)
        case .ok, .unknown, .internalError, .dataLoss:
            return .internalError(cause: CallFailure(error))
        }
    }

    /// The client's request is at fault: reason, message and fields are for the client.
    private static func domain(_ error: RPCError, _ status: HTTPResponse.Status, _ detail: String) -> Problem {
        let reason = error.reason
        let fields = error.fieldViolations.map { field in
            Problem.Field(
                field.field,
                code: field.reason.isEmpty ? reason ?? error.code.description : field.reason,
                detail: field.description
            )
        }
        // Without a reason the message is for developers and is not shown.
        var problem = Problem(
            status,
            code: reason ?? error.code.description,
            detail: reason == nil ? detail : error.message,
            fields: fields,
            cause: CallFailure(error)
        )
        let facts = error.reasonMetadata
        if let suggestions = facts[ErrorFact.suggestions] {
            problem.members["suggestions"] = .array(suggestions.split(separator: ",").map { .string(String($0)) })
        }
        if let revision = facts[ErrorFact.revision].flatMap(Int64.init) {
            problem.members["revision"] = .integer(revision)
        }
        if let contexts = facts[ErrorFact.acrValues] {
            problem.members["acr_values"] = .array(contexts.split(separator: " ").map { .string(String($0)) })
            problem.members["max_age"] = facts[ErrorFact.maxAge].flatMap(Int64.init).map { .integer($0) }
        }
        return problem
    }

    /// A failure on our side: clients get the code, but not the message.
    private static func internalFault(_ error: RPCError, _ status: HTTPResponse.Status, _ detail: String) -> Problem {
        Problem(status, code: error.reason ?? error.code.description, detail: detail, cause: CallFailure(error))
    }

    /// The challenge of RFC 9470 section 3, where another sign-in would be enough. The status stays 403: apps take 401 for the end of a
    /// session.
    private static func stepUpChallenge(_ facts: [String: String]) -> String? {
        guard let contexts = facts[ErrorFact.acrValues] else { return nil }
        let age = facts[ErrorFact.maxAge].map { ", max_age=\"\($0)\"" } ?? ""
        return Authentication.challenge
            + ", error=\"insufficient_user_authentication\", acr_values=\"\(contexts)\"\(age)"
    }

    /// RFC 6750 section 3.1: `invalid_token` where an access token was presented, not where signing in failed.
    private static func challenge(_ reason: String?) -> String {
        if reason == KeyProofs.required.code { return KeyProofs.challenge("invalid_dpop_proof") }
        // It concerns the provider's access token, which is no bearer token of ours.
        if reason == "ACCESS_TOKEN_FOREIGN" { return Authentication.challenge }
        let isAboutSession = reason.map { $0.hasPrefix("ACCESS_TOKEN_") || $0.hasPrefix("SESSION_") } ?? true
        return isAboutSession ? Authentication.invalidTokenChallenge : Authentication.challenge
    }
}

extension RPCError {
    /// Whether a service rejected identity's proof of the user for whom this gateway called.
    var isAboutCallerProof: Bool { code == .unauthenticated && reason?.hasPrefix("CALLER_PROOF_") == true }
}

/// A failed call for the log: with the message, and with the cause if it failed on this side.
private struct CallFailure: Error, CustomStringConvertible {
    let description: String

    init(_ error: RPCError) {
        description = error.cause.map { "\(error) (\($0))" } ?? error.description
    }
}
