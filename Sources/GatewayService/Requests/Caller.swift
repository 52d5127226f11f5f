import API
import HTTPJSON
import HTTPTypes
import Logging
import RPC
import ServiceKit

/// Who calls a method, and what is done on their behalf.
enum Caller: Sendable {
    /// By a route.
    case route(Request, RouteContext)
    /// By a page of ours for the user of the browser's session: the fields have an access token of it in the place of the cookie.
    case page(RequestFields, RouteContext)
    /// By an RPC.
    case rpc(AppCall)

    /// When the answer must be there; calls to services are given what is left of it.
    var deadline: Deadline {
        switch self {
        case .route(_, let context), .page(_, let context): context.deadline
        case .rpc(let call): call.deadline
        }
    }

    /// A logger whose lines have the request's id and trace.
    var logger: Logger {
        switch self {
        case .route(_, let context), .page(_, let context): context.logger
        case .rpc(let call): call.logger
        }
    }

    /// The header fields of a request, the metadata of an RPC.
    var headers: RequestFields {
        switch self {
        case .route(let request, _): request.headers
        case .page(let fields, _): fields
        case .rpc(let call): call.headers
        }
    }

    /// The other end of the connection.
    var peer: PeerInfo {
        switch self {
        case .route(_, let context), .page(_, let context): context.peer
        case .rpc(let call): call.peer
        }
    }

    /// The method and the path of the request as they were sent, which a proof of possession names; nil for a page's own call.
    var target: (method: String, path: String)? {
        switch self {
        case .route(let request, _): (request.method.rawValue, request.uri.path)
        case .page: nil
        case .rpc(let call): (call.httpMethod, call.path)
        }
    }

    /// What every call on behalf of this request is made with: the rest of its time, its id for the log, and its place in
    /// the client's trace.
    ///
    /// - Parameter limit: ends the call sooner than the request.
    func callOptions(limit: Duration? = nil) -> CallOptions {
        switch self {
        case .route(_, let context), .page(_, let context): context.callOptions(limit: limit)
        case .rpc(let call): call.callOptions(limit: limit)
        }
    }
}

/// A caller whose live session ``Authentication`` has seen, and who has not asked for too much.
struct SignedInUser: Sendable {
    let caller: Caller
    /// The access token that the user presented.
    let token: PresentedToken
    /// Whether the request changes something.
    let isChange: Bool
    /// The account's id, a UUID.
    let userID: String
    /// Whether the user is a guest.
    let isGuest: Bool
    /// Proof of that to the services that are called for them.
    let proofs: IdentityV1.CallerProofs
    /// The answer that the user was let in by while identity didn't respond; nil otherwise.
    let outage: OutageAnswer?

    /// What identity is called with where it judges the access token itself.
    var identityOptions: CallOptions { caller.callOptions().naming(token.key) }
}

extension CallOptions {
    /// The same for a call on behalf of a person, by identity's proof of them to the service that is called. Without one,
    /// which an identity that doesn't know this gateway gives, the service refuses the call.
    func proving(_ proof: String) -> CallOptions {
        var options = self
        if !proof.isEmpty { options.metadata.add(CallerProofKey.metadataName, proof) }
        return options
    }
}
