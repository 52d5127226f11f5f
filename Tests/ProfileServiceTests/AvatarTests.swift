import API
import Foundation
import Images
import Models
import Postgres
import ProfileDomain
import RPC
import ServiceKit
import SwiftProtobuf
import Testing

@testable import ProfileService

/// Pictures: URLs, and uploaded images.
@Suite(.serialized) struct AvatarTests {
    /// A PNG of one pixel that contains a text.
    private static let chatty: [UInt8] = {
        let end: [UInt8] = [0, 0, 0, 0] + Array("IEND".utf8) + [0xAE, 0x42, 0x60, 0x82]
        let text: [UInt8] = [0, 0, 0, 8] + Array("tEXtA\0SECRET".utf8) + [0x04, 0xA5, 0xD1, 0x9F]
        return plain.dropLast(end.count) + text + end
    }()
    /// A PNG of one pixel.
    private static let plain: [UInt8] = Array(
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        ) ?? Data()
    )

    private func upload(
        _ service: ProfileFixture,
        _ user: UserID,
        _ image: [UInt8] = plain
    ) async throws(RPCError) -> ProfileV1.Profile {
        try await service.client.setAvatar(
            .with { $0.image = Data(image) },
            options: service.options(for: user)
        ).profile
    }

    private func image(_ service: ProfileFixture, _ avatar: String) async throws(RPCError)
        -> ProfileV1.GetAvatarResponse
    {
        try await service.client.getAvatar(.with { $0.avatarID = String(avatar.dropFirst("/avatars/".count)) })
    }

    private func save(_ service: ProfileFixture, _ user: UserID, _ avatar: String) async throws(RPCError)
        -> ProfileV1.Profile
    {
        try await service.client.updateProfile(
            .with { $0.avatar = avatar },
            options: service.options(for: user)
        ).profile
    }

    @Test func `An upload is cleaned, stored and returned to every caller with its id`() async throws {
        try await ProfileFixture.run { service in
            let user = someone()
            try await service.update(user, displayName: "Maria")
            let profile = try await upload(service, user, Self.chatty)
            #expect(profile.avatar.hasPrefix("/avatars/") && profile.avatar.utf8.count == 41)
            #expect(profile.displayName == "Maria" && profile.revision == 2)
            #expect(try await service.profile(user) == profile)
            let served = try await image(service, profile.avatar)
            #expect(served.contentType == "image/png" && served.image == Data(Self.plain))
            let known = try await service.client.getAvatar(
                .with { ($0.avatarID, $0.withoutImage) = (String(profile.avatar.dropFirst(9)), true) }
            )
            #expect(known.contentType == "image/png" && known.image.isEmpty)
        }
    }

    @Test func `A new user may begin with a picture`() async throws {
        try await ProfileFixture.run { service in
            let profile = try await upload(service, someone())
            #expect(profile.revision == 1 && profile.missingFields == ["display_name", "phone_number"])
        }
    }

    @Test(arguments: ["another", "a URL", "none"])
    func `A later picture or its removal deletes an upload`(successor: String) async throws {
        try await ProfileFixture.run { service in
            let user = someone()
            let first = try await upload(service, user).avatar
            let next =
                switch successor {
                case "another": try await upload(service, user).avatar
                case "a URL": try await save(service, user, "https://example.com/me.png").avatar
                default: try await save(service, user, "").avatar
                }
            #expect(next != first)
            let error = try await failure { try await image(service, first) }
            #expect(error.code == .notFound && error.reason == "AVATAR_UNKNOWN")
            #expect(try await service.count("SELECT count(*) FROM avatars") == (successor == "another" ? 1 : 0))
        }
    }

    @Test func `A save with the user's own upload keeps it, and another user's upload is refused`() async throws {
        try await ProfileFixture.run { service in
            let (user, other) = (someone(), someone())
            let profile = try await upload(service, user)
            #expect(try await save(service, user, profile.avatar) == profile)
            let theirs = try await upload(service, other).avatar
            for avatar in [
                theirs, "/avatars/" + String(repeating: "0", count: 32), "/avatars/x", "http://example.com/x",
            ] {
                let error = try await failure { try await save(service, user, avatar) }
                #expect(error.code == .invalidArgument && error.reason == "AVATAR_URL_INVALID")
                #expect(error.fieldViolations.map(\.field) == ["avatar_url"])
            }
            #expect(try await image(service, profile.avatar).image == Data(Self.plain))
        }
    }

    @Test func `An invalid avatar is refused with a message for users`() async throws {
        var limits = ProfileLimits()
        limits.avatarBytesMax = 80
        try await ProfileFixture.run(limits: limits) { service in
            let user = someone()
            let refused: [([UInt8], String, String)] = [
                ([], "AVATAR_INVALID", "PNG, JPEG or WebP"),
                (Array("GIF89a".utf8), "AVATAR_INVALID", "PNG, JPEG or WebP"),
                (Self.plain.dropLast(), "AVATAR_INVALID", "damaged"), (Self.chatty, "AVATAR_TOO_LARGE", "80 bytes"),
            ]
            for (file, reason, words) in refused {
                let error = try await failure { try await upload(service, user, Array(file)) }
                #expect(error.code == .invalidArgument && error.reason == reason && error.message.contains(words))
                #expect(error.fieldViolations.map(\.field) == ["image"])
            }
            #expect(try await service.count("SELECT count(*) FROM profiles") == 0)
        }
    }

    @Test func `Uploads are limited per day`() async throws {
        var limits = ProfileLimits()
        limits.avatarUploads = .daily(limits.avatarUploads.kind, countMax: 2)
        try await ProfileFixture.run(limits: limits) { service in
            let user = someone()
            _ = try await upload(service, user)
            let last = try await upload(service, user)
            let error = try await failure { try await upload(service, user) }
            #expect(error.code == .resourceExhausted && error.reason == "TOO_MANY_ATTEMPTS")
            #expect(error.retryAfter == .seconds(86_400))
            #expect(try await service.profile(user) == last, "the previous picture is still there")
            #expect(try await image(service, last.avatar).image == Data(Self.plain))
            // It is refused before the image is written: it doesn't wait for the stored one.
            let reason = try await service.database.withTransaction { transaction in
                try await transaction.query("SELECT FROM avatars FOR UPDATE")
                return try await failure { try await upload(service, user) }.reason
            }
            #expect(reason == "TOO_MANY_ATTEMPTS")
            _ = try await upload(service, someone())
            service.clock.advance(milliseconds: 86_400_000)
            _ = try await upload(service, user)
        }
    }

    @Test func `Concurrent uploads and saves leave one picture, or none`() async throws {
        try await ProfileFixture.run { service in
            let user = someone()
            await withTaskGroup(of: Void.self) { tasks in
                for number in 0..<16 {
                    tasks.addTask {
                        do throws(RPCError) {
                            switch number % 4 {
                            case 0: _ = try await save(service, user, "https://example.com/\(number)")
                            case 1: _ = try await save(service, user, "")
                            default: _ = try await upload(service, user)
                            }
                        } catch { Issue.record(error) }
                    }
                }
            }
            let avatar = try await service.profile(user).avatar
            let isUpload = avatar.hasPrefix("/avatars/")
            #expect(try await service.count("SELECT count(*) FROM avatars") == (isUpload ? 1 : 0))
            if isUpload { #expect(try await image(service, avatar).image == Data(Self.plain)) }
        }
    }

    @Test(arguments: [true, false])
    func `A closed account leaves no picture and no count`(isAbsorbed: Bool) async throws {
        try await ProfileFixture.run { service in
            let user = someone()
            let avatar = try await upload(service, user).avatar
            _ = try await service.client.checkUsername(
                .with { $0.username = "maria" },
                options: service.options(for: user)
            )
            let held = try await AccountData.trace(user, in: service.database).held
            #expect(held.filter { $0.count > 0 }.map(\.name) == ["profiles", "avatars", "quotas"])
            #expect(try await AccountData.export(user, in: service.database).contains("image/png"))
            if isAbsorbed {
                let answer = try await service.client.closeIfEmpty(
                    .with { ($0.userID, $0.absorptionID) = (user.description, someone().description) }
                )
                #expect(answer.isEmpty)
            } else {
                _ = try await service.client.closeAccount(.with { $0.userID = user.description })
            }
            let error = try await failure { try await image(service, avatar) }
            #expect(error.reason == "AVATAR_UNKNOWN")
            #expect(try await AccountData.trace(user, in: service.database).held.allSatisfy { $0.count == 0 })
            // A call that was authenticated before the closing restores nothing.
            #expect(try await failure { try await upload(service, user) }.reason == "SESSION_REVOKED")
            #expect(try await service.count("SELECT count(*) FROM avatars") == 0)
        }
    }

    @Test func `Other users see names and pictures, and no number`() async throws {
        try await ProfileFixture.run { service in
            let (maria, ana, nobody) = (someone(), someone(), someone())
            try await service.update(maria, displayName: "Maria", phone: phone(1), username: "maria")
            let avatar = try await upload(service, ana).avatar
            let answer = try await service.client.batchGetProfiles(
                .with { $0.userIds = [maria, ana, nobody, maria].map(\.description) },
                options: service.options(for: nobody)
            )
            let profiles = answer.profiles.sorted { $0.displayName < $1.displayName }
            #expect(
                profiles == [
                    .with { ($0.userID, $0.avatar) = (ana.description, avatar) },
                    .with { ($0.userID, $0.displayName, $0.username) = (maria.description, "Maria", "maria") },
                ]
            )
            let options = service.options(for: nobody)
            let many = try await failure {
                try await service.client.batchGetProfiles(
                    .with { $0.userIds = (0...100).map { _ in someone().description } },
                    options: options
                )
            }
            #expect(many.code == .invalidArgument && many.reason == "TOO_MANY_USERS")
            let none = try await failure {
                try await service.client.batchGetProfiles(.with { $0.userIds = ["me"] }, options: options)
            }
            #expect(none.reason == "USER_ID_INVALID")
        }
    }
}
