import API
import IdentityDomain
import Logging
import Models
import RPC
import SwiftProtobuf

/// Asks profile for operators.
struct OperatorProfiles: Sendable {
    /// How long profile may take.
    static let timeout = Duration.seconds(5)

    let client: ProfileServiceClient
    let logger: Logger

    /// The user of a phone number, in the stored format; an empty id for none.
    ///
    /// - Throws: profile's refusal of a text that is no number, or `profileUnavailable`.
    func holder(of phoneNumber: String) async throws -> ProfileV1.FindPhoneHolderResponse {
        try await ask { options throws(RPCError) in
            var request = ProfileV1.FindPhoneHolderRequest()
            request.phoneNumber = phoneNumber
            return try await client.findPhoneHolder(request, options: options)
        }
    }

    /// The users with a username, or whose display names begin with a text.
    ///
    /// - Throws: profile's refusal of a text that no name begins with, or `profileUnavailable`.
    func users(_ by: ProfileV1.FindUsersRequest.OneOf_By) async throws -> ProfileV1.FindUsersResponse {
        try await ask { options throws(RPCError) in
            try await client.findUsers(.with { $0.by = by }, options: options)
        }
    }

    /// Takes a number from an account; empty for whichever it has.
    ///
    /// - Returns: the number that was taken; empty if none was.
    /// - Throws: `profileUnavailable`.
    func release(_ phoneNumber: String, of userID: UserID) async throws -> String {
        try await ask { options throws(RPCError) in
            var request = ProfileV1.ReleasePhoneRequest()
            (request.userID, request.phoneNumber) = (userID.description, phoneNumber)
            return try await client.releasePhone(request, options: options).phoneNumber
        }
    }

    /// Numbers that two accounts have proven.
    ///
    /// - Throws: profile's refusal of the page's size, or `profileUnavailable`.
    func disputes(limit: Int32) async throws -> [ProfileV1.PhoneDispute] {
        try await ask { options throws(RPCError) in
            var request = ProfileV1.ListPhoneDisputesRequest()
            request.pageSize = limit
            return try await client.listPhoneDisputes(request, options: options).disputes
        }
    }

    /// What a person told of themselves; nil if profile can't be asked now, which keeps nobody from being found and blocked.
    func profile(of userID: UserID) async -> OperatorV1.OperatorProfile? {
        let told = try? await ask { options throws(RPCError) in
            var request = ProfileV1.LookUpProfileRequest()
            request.userID = userID.description
            return try await client.lookUpProfile(request, options: options).profile
        }
        return told.map { OperatorV1.OperatorProfile($0) }
    }

    private func ask<Answer>(
        _ question: (CallOptions) async throws(RPCError) -> Answer
    ) async throws -> Answer {
        do {
            return try await question(CallOptions(timeout: Self.timeout))
        } catch {
            if error.code == .invalidArgument { throw error }
            logger.warning("profile cannot be asked for an operator", metadata: ["rpc_code": "\(error.code)"])
            throw IdentityError.operation(.profileUnavailable)
        }
    }
}
