import API
import APIDoubles
import RPC
import ServiceKit
import SwiftProtobuf
import Synchronization

@testable import GatewayService

extension TestGateway {
    /// A gateway that speaks these dialects, over services that know one person: Maria, who has signed in by Apple before.
    static func speaking(
        _ dialects: Dialect...,
        serviceKey: String? = nil,
        rateLimit: RateLimit.Policy = .init()
    ) -> TestGateway {
        let settings = DialectSettings(dialects: Set(dialects), supabaseServiceKey: serviceKey.map { Secret($0) })
        let gateway = TestGateway(rateLimit: rateLimit, dialects: settings)
        gateway.stubs.identity.set { $0.knowMaria() }
        gateway.stubs.profile.set { $0.knowMaria() }
        return gateway
    }
}

/// Whom the services behind ``TestGateway/speaking(_:serviceKey:rateLimit:)`` know.
enum Maria {
    static let subject = "001234.abcdef.0001"
    static let email = "maria@example.com"
    static let number: Int64 = 4711
    static let singleToken = "single.token.one"

    static let account = IdentityV1.Account.with {
        $0.userID = StubServices.userID
        $0.createdAtMs = 1_769_900_000_000
        $0.suggestedDisplayName = "Maria Santos"
        $0.accountNumber = number
        $0.metadataJson = #"{"full_name":"Maria S.","theme":{"dark":true}}"#
        $0.identities = [
            .with {
                $0.provider = "apple"
                $0.subject = subject
                $0.email = email
                $0.emailVerified = true
                $0.createdAtMs = 1_769_900_000_000
                $0.lastSignInAtMs = 1_769_903_600_000
                $0.toldName = "Maria Santos"
            }
        ]
    }

    static let profile = ProfileV1.Profile.with {
        $0.userID = StubServices.userID
        $0.displayName = "Maria"
        $0.username = "Maria_1"
        $0.phoneNumber = "+639171234567"
        $0.updatedAtMs = 1_769_903_999_123
    }
}

extension IdentityServiceDouble.Answers {
    mutating func knowMaria() {
        let usual = signIn
        signIn = { request, context in
            var answer = try await usual(request, context)
            answer.tokens.accountNumber = Maria.number
            if request.tokenStyle != .unspecified { answer.tokens.singleToken = Maria.singleToken }
            return answer
        }
        findAccount = { _, _ in
            .with {
                $0.userID = StubServices.userID
                $0.accountNumber = Maria.number
                $0.callerProofs = StubServices.proofs
            }
        }
        getAccount = { _, _ in .with { $0.account = Maria.account } }
        lookUpAccount = { _, _ in .with { $0.account = Maria.account } }
        renewSingleToken = { request, _ in
            guard request.singleToken == Maria.singleToken else {
                throw RPCError.refusal("SESSION_EXPIRED", "The session has expired. Sign in again.")
            }
            return .with { $0.tokens.singleToken = "single.token.two" }
        }
        updateUserMetadata = { request, _ in .with { $0.metadataJson = request.changesJson } }
    }
}

extension ProfileServiceDouble.Answers {
    mutating func knowMaria() {
        getProfile = { _, _ in .with { $0.profile = Maria.profile } }
        lookUpProfile = { _, _ in .with { $0.profile = Maria.profile } }
        checkUsername = { _, _ in .with { $0.isFree = true } }
        updateProfile = { request, _ in
            .with {
                $0.profile = Maria.profile
                if request.hasUsername { $0.profile.username = request.username }
                if request.hasDisplayName { $0.profile.displayName = request.displayName }
            }
        }
    }
}

extension RPCError {
    /// As identity refuses credentials.
    static func refusal(_ reason: String, _ message: String = "It was refused.") -> RPCError {
        .domain(.unauthenticated, reason: reason, message: message)
    }
}

/// The requests of one method, in their order. Any thread.
final class Asked<Request: Sendable>: Sendable {
    private let requests = Mutex<[Request]>([])

    func add(_ request: Request) { requests.withLock { $0.append(request) } }

    var all: [Request] { requests.withLock { $0 } }
}
