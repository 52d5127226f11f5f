import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceKit
import SwiftProtobuf
import Testing

@testable import IdentityService

extension GuestPolicy {
    /// Guests on, for little work.
    static func on(_ change: (inout GuestPolicy) -> Void = { _ in }) -> GuestPolicy {
        var policy = GuestPolicy()
        (policy.areOn, policy.workBits) = (true, 4)
        change(&policy)
        return policy
    }
}

/// Does the work of a challenge.
func solution(of challenge: String, bits: Int) throws -> String {
    try #require((0...).lazy.map { "\(challenge).\($0)" }.first { GuestChallenges.zeroBits(SHA256.hash($0)) >= bits })
}

extension TestService {
    /// Runs with guests, and with services that answer about absorptions.
    static func runWithGuests(
        limits: SessionLimits = SessionLimits(),
        _ policy: GuestPolicy = .on(),
        _ body: (TestService) async throws -> Void
    ) async throws {
        try await run(limits: limits, guests: policy) { service in
            _ = service.others.absorptions()
            try await body(service)
        }
    }

    /// A proof of work that was not used.
    func proofOfWork() async throws -> String {
        let made = try await client.createGuestChallenge(.init())
        return try solution(of: made.challenge, bits: Int(made.workBits))
    }

    /// A new guest, or the one of a proof of work.
    func guest(proof: String? = nil, address: String? = nil, deviceName: String = "") async throws
        -> IdentityV1.SessionTokens
    {
        var request = IdentityV1.SignInAsGuestRequest()
        request.proofOfWork = if let proof { proof } else { try await proofOfWork() }
        request.deviceName = deviceName
        var options = CallOptions()
        if let address { options.metadata.add("vestibule-client-address", address) }
        return try await client.signInAsGuest(request, options: options).tokens
    }

    func absorb(_ guestToken: String, _ outcome: IdentityV1.GuestOutcome, by accessToken: String) async throws {
        _ = try await client.absorbGuest(
            .with { ($0.accessToken, $0.guestToken, $0.guest) = (accessToken, guestToken, outcome) }
        )
    }

    /// How many guests came to this outcome.
    func guests(_ outcome: String) throws -> Int {
        var text = MetricsText()
        parts.methods.guests.write(to: &text)
        let name = "vestibule_identity_guests_total{outcome=\"\(outcome)\"} "
        let line = try #require(text.text.split(separator: "\n").first { $0.hasPrefix(name) })
        return try #require(Int(line.dropFirst(name.count)))
    }
}
