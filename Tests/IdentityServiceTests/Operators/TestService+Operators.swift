import API
import Models
import Postgres
import RPC
import ServiceKit
import SwiftProtobuf
import Testing

@testable import IdentityService

extension TestService {
    /// What operators call, with these names in the caller's certificate.
    func operators(names: [String] = [operatorName], claimed: String? = nil) -> CallsByOperators {
        CallsByOperators(methods: parts.operatorMethods, names: names, claimed: claimed)
    }

    /// Blocks an account as an operator does.
    @discardableResult
    func block(_ userID: String, reason: String = "abuse") async throws -> OperatorV1.BlockAccountResponse {
        try await operators().block(userID, reason: reason)
    }

    @discardableResult
    func unblock(_ userID: String) async throws -> OperatorV1.UnblockAccountResponse {
        try await operators().unblock(userID)
    }

    /// Events of these kinds, oldest first, each as its kind and details, without the hash of what was looked for.
    func events(_ kinds: String...) async throws -> [String] {
        let rows = try await database.query(
            """
            SELECT kind || ' ' || (details - 'term')::text FROM security_events WHERE kind = ANY (\(kinds)) ORDER BY event_id
            """
        )
        return try rows.map { try $0.decode(0, as: String.self) }
    }
}

/// Calls of an operator's, without sockets.
struct CallsByOperators {
    let methods: OperatorMethods
    let names: [String]
    /// The operator's name, as a console says it.
    var claimed: String?

    private func context(_ method: MethodDescriptor) -> ServerContext {
        let peer = PeerInfo(address: "10.0.0.1:4242", isEncrypted: true, certificateNames: names)
        var metadata = Metadata()
        if let claimed { metadata.add("vestibule-operator", claimed) }
        return ServerContext(ServerCall(method: method, metadata: metadata, deadline: nil, peer: peer))
    }

    func list(
        _ make: (inout OperatorV1.ListAccountsRequest) -> Void = { _ in }
    ) async throws -> OperatorV1.ListAccountsResponse {
        var request = OperatorV1.ListAccountsRequest()
        make(&request)
        return try await methods.listAccounts(request, context: context(OperatorServiceMethods.listAccounts))
    }

    func sessions(_ userID: String) async throws -> OperatorV1.ListSessionsResponse {
        let request = OperatorV1.ListSessionsRequest.with { $0.userID = userID }
        return try await methods.listSessions(request, context: context(OperatorServiceMethods.listSessions))
    }

    func groups(_ userID: String) async throws -> OperatorV1.ListGroupsResponse {
        let request = OperatorV1.ListGroupsRequest.with { $0.userID = userID }
        return try await methods.listGroups(request, context: context(OperatorServiceMethods.listGroups))
    }

    func find(
        _ by: OperatorV1.FindAccountRequest.OneOf_By?,
        reason: String = ""
    ) async throws -> OperatorV1.FindAccountResponse {
        let request = OperatorV1.FindAccountRequest.with { ($0.by, $0.reason) = (by, reason) }
        return try await methods.findAccount(request, context: context(OperatorServiceMethods.findAccount))
    }

    func block(_ userID: String, reason: String = "abuse") async throws -> OperatorV1.BlockAccountResponse {
        let request = OperatorV1.BlockAccountRequest.with { ($0.userID, $0.reason) = (userID, reason) }
        return try await methods.blockAccount(request, context: context(OperatorServiceMethods.blockAccount))
    }

    func delete(_ userID: String) async throws -> OperatorV1.DeleteAccountResponse {
        let request = OperatorV1.DeleteAccountRequest.with { $0.userID = userID }
        return try await methods.deleteAccount(request, context: context(OperatorServiceMethods.deleteAccount))
    }

    func unblock(_ userID: String) async throws -> OperatorV1.UnblockAccountResponse {
        let request = OperatorV1.UnblockAccountRequest.with { $0.userID = userID }
        return try await methods.unblockAccount(request, context: context(OperatorServiceMethods.unblockAccount))
    }

    func open(
        _ userID: String,
        for claimant: String,
        validateOnly: Bool = false
    ) async throws -> OperatorV1.OpenAccountResponse {
        let request = OperatorV1.OpenAccountRequest.with {
            ($0.userID, $0.forUserID, $0.validateOnly) = (userID, claimant, validateOnly)
        }
        return try await methods.openAccount(request, context: context(OperatorServiceMethods.openAccount))
    }

    func endSessions(_ userID: String) async throws -> OperatorV1.EndSessionsResponse {
        let request = OperatorV1.EndSessionsRequest.with { $0.userID = userID }
        return try await methods.endSessions(request, context: context(OperatorServiceMethods.endSessions))
    }

    func release(_ by: OperatorV1.ReleasePhoneRequest.OneOf_By?) async throws -> OperatorV1.ReleasePhoneResponse {
        let request = OperatorV1.ReleasePhoneRequest.with { $0.by = by }
        return try await methods.releasePhone(request, context: context(OperatorServiceMethods.releasePhone))
    }

    func disputes(size: Int32 = 0) async throws -> [OperatorV1.PhoneDispute] {
        let request = OperatorV1.ListPhoneDisputesRequest.with { $0.pageSize = size }
        return try await methods.listPhoneDisputes(
            request,
            context: context(OperatorServiceMethods.listPhoneDisputes)
        ).disputes
    }

    func events(
        _ userID: String,
        size: Int32 = 0,
        token: String = ""
    ) async throws -> OperatorV1.ListSecurityEventsResponse {
        let request = OperatorV1.ListSecurityEventsRequest.with {
            ($0.userID, $0.pageSize, $0.pageToken) = (userID, size, token)
        }
        return try await methods.listSecurityEvents(
            request,
            context: context(OperatorServiceMethods.listSecurityEvents)
        )
    }
}
