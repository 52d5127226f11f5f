import API
import HTTPJSON
import HTTPTypes
import RPC

extension RPCError {
    /// The error that callers of an RPC get for any error that a method threw: the same as a route's problem, with the problem's
    /// code as the reason, under the corresponding code of gRPC.
    init(answering error: any Error) {
        let problem = Problem(answering: error)
        self = .domain(
            Self.code(of: error, problem.status),
            reason: problem.code,
            message: problem.detail,
            fields: problem.fields.map { FieldViolation(field: $0.name, description: $0.detail, reason: $0.code) },
            retryAfter: problem.headers[.retryAfter].flatMap(Int.init).map { .seconds($0) },
            metadata: (error as? RPCError)?.reasonMetadata ?? [:],
            cause: problem.cause
        )
    }

    private static func code(of error: any Error, _ status: HTTPResponse.Status) -> Status.Code {
        // A service's refusal keeps its code: several codes map to one status.
        if let error = error as? RPCError, !error.isAboutCallerProof {
            switch error.code {
            case .ok, .unknown, .internalError, .dataLoss: return .internalError
            case .cancelled, .invalidArgument, .deadlineExceeded, .notFound, .alreadyExists, .permissionDenied,
                .resourceExhausted, .failedPrecondition, .aborted, .outOfRange, .unimplemented, .unavailable,
                .unauthenticated:
                return error.code
            }
        }
        return switch status.code {
        case 400, 413, 415, 422: .invalidArgument
        case 401: .unauthenticated
        case 403: .permissionDenied
        case 404: .notFound
        case 409: .aborted
        case 429: .resourceExhausted
        case 499: .cancelled
        case 501: .unimplemented
        case 503: .unavailable
        case 504: .deadlineExceeded
        default: .internalError
        }
    }
}
