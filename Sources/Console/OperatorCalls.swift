import API
import IdentityDomain
import RPC
import SwiftProtobuf

/// Identity's methods for operators, called on behalf of one whom the calls name.
struct OperatorCalls: Sendable {
    /// How long identity may take.
    static let timeout: Duration = .seconds(10)

    let client: OperatorServiceClient
    /// The operator, for the audit log.
    let name: OperatorName

    /// What each call is made with.
    var options: CallOptions {
        var options = CallOptions(timeout: Self.timeout)
        options.metadata.add(OperatorName.metadataKey, name.value)
        return options
    }

    /// The accounts of a search.
    func find(
        _ key: OperatorV1.FindAccountRequest.OneOf_By,
        reason: String = ""
    ) async throws(RPCError) -> OperatorV1.FindAccountResponse {
        try await client.findAccount(.with { ($0.by, $0.reason) = (key, reason) }, options: options)
    }
}
