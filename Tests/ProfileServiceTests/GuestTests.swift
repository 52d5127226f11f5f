import API
import Foundation
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import SwiftProtobuf
import Testing

@testable import ProfileService

/// Guests have a profile without a number.
@Suite(.serialized) struct GuestTests {
    @Test func `A guest has a name and a username, is asked for no number, and claims none`() async throws {
        try await ProfileFixture.run { service in
            let guest = someone()
            let options = service.guestOptions(for: guest)
            let empty = try await service.client.getProfile(.init(), options: options).profile
            #expect(empty.missingFields == ["display_name"])
            let saved = try await service.client.updateProfile(
                .with { ($0.displayName, $0.username) = ("Maria", "maria_s") },
                options: options
            ).profile
            #expect(saved.missingFields.isEmpty && saved.username == "maria_s")
            let error = try await failure {
                try await service.client.updateProfile(
                    .with { ($0.displayName, $0.phoneNumber) = ("Other", phone(1)) },
                    options: options
                )
            }
            #expect(error.code == .permissionDenied && error.reason == "GUEST_NOT_ALLOWED")
            let profile = try await service.profile(guest)
            #expect(profile.displayName == "Maria" && profile.phoneNumber.isEmpty)
            #expect(try await service.count("SELECT count(*) FROM phones") == 0)
            // As soon as the account is a full one.
            #expect(profile.missingFields == ["phone_number"])
            try await service.update(guest, phone: phone(1))
        }
    }

    @Test func `A guest uploads no picture`() async throws {
        try await ProfileFixture.run { service in
            let guest = someone()
            let error = try await failure {
                try await service.client.setAvatar(
                    .with { $0.image = Data([0x89]) },
                    options: service.guestOptions(for: guest)
                )
            }
            #expect(error.code == .permissionDenied && error.reason == "GUEST_NOT_ALLOWED")
            #expect(try await service.count("SELECT count(*) FROM avatars") == 0)
        }
    }

    @Test func `A guest's username counts for nothing when another account absorbs theirs, and is free then`()
        async throws
    {
        try await ProfileFixture.run { service in
            let (guest, user) = (someone(), someone())
            try await service.update(guest, displayName: "Maria", username: "maria_s")
            #expect(try await service.closeIfEmpty(guest, isGuest: true))
            #expect(
                try await failure { try await service.update(guest, username: "other") }.reason == "SESSION_REVOKED"
            )
            try await service.update(user, username: "maria_s")
            // A number is none of a guest's.
            try await service.update(user, phone: phone(1))
            #expect(try await !service.closeIfEmpty(user, isGuest: true))
        }
    }
}

extension ProfileFixture {
    /// What a gateway calls the service with on behalf of a guest.
    fileprivate func guestOptions(for user: UserID) -> CallOptions {
        let minute = CallerProof.minute(madeAtMilliseconds: clock.clock.nowMilliseconds)
        let proof = CallerProof(userID: user, sessionID: nil, isGuest: true, minute: minute)
        var options = CallOptions()
        if let key = Self.proofKey {
            options.metadata.add(CallerProofKey.metadataName, proof.text(under: key, for: "profile"))
        }
        return options
    }

    fileprivate func closeIfEmpty(_ userID: UserID, isGuest: Bool) async throws -> Bool {
        try await client.closeIfEmpty(
            .with {
                ($0.userID, $0.absorptionID) = (userID.description, EventID(high: 7, low: userID.uuid.low).description)
                $0.isGuest = isGuest
            }
        ).isEmpty
    }
}
