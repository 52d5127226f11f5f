import API
import APIDoubles
import Foundation
import HTTPClients
import HTTPJSON
import HTTPTypes
import JOSE
import RPC
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// `/me/avatar`, `/avatars/{id}`, and the URLs of pictures in profiles.
struct AvatarRouteTests {
    private static let id = "0123456789abcdef000000000000000f"
    private static let image: [UInt8] = [0x89, 0x50, 0, 0xFF]

    private func send(
        _ gateway: TestGateway,
        _ method: HTTPRequest.Method,
        _ path: String,
        headers: HTTPFields = [:],
        body: [UInt8] = []
    ) async throws -> HandlerClient.Answer {
        try await HandlerClient(gateway.handler).send(method, path, headers: headers, body: body)
    }

    private func upload(_ gateway: TestGateway, _ type: String, _ body: [UInt8]) async throws -> HandlerClient.Answer {
        let headers: HTTPFields = [.authorization: "Bearer \(StubServices.accessToken)", .contentType: type]
        return try await send(gateway, .put, "/me/avatar", headers: headers, body: body)
    }

    private func accept(_ gateway: TestGateway) {
        gateway.stubs.profile.set {
            $0.setAvatar = { request, _ in
                .with {
                    $0.profile.userID = StubServices.userID
                    $0.profile.avatar = "/avatars/\(Self.id)"
                    $0.profile.revision = Int64(request.image.count)
                }
            }
        }
    }

    @Test func `An image is passed on unchanged, up to its own size limit`() async throws {
        let gateway = TestGateway(avatars: AvatarAddress(publicURL: "https://api.example.com/", bytesMax: 200_000))
        accept(gateway)
        for type in ["image/png", "image/jpeg", "image/webp", "IMAGE/PNG; x=1"] {
            // Larger than any other body may be.
            let answer = try await upload(gateway, type, Array(repeating: 7, count: 200_000))
            #expect(answer.status == 200)
            #expect(answer.text.contains(#""revision":200000"#))
            #expect(answer.text.contains(#""avatar_url":"https://api.example.com/avatars/\#(Self.id)""#))
        }
        let large = try await upload(gateway, "image/png", Array(repeating: 7, count: 200_001))
        #expect(large.status == 413 && large.text.contains("BODY_TOO_LARGE") && large.closesConnection)
        let other = try await upload(gateway, "image/gif", Self.image)
        #expect(
            other.status == 415
                && other.headers[.accept] == "image/png, image/jpeg, image/webp, application/octet-stream"
        )
        let nobody = try await send(gateway, .put, "/me/avatar", headers: [.contentType: "image/png"], body: Self.image)
        #expect(nobody.status == 401)
    }

    @Test func `Other routes' bodies keep their limit`() async throws {
        let gateway = TestGateway(avatars: AvatarAddress(bytesMax: 200_000))
        let name = String(repeating: "a", count: 100_000)
        let answer = try await gateway.sendAsUser(.patch, "/me", #"{"display_name":"\#(name)"}"#)
        #expect(answer.status == 413)
    }

    @Test func `An image that profile refuses is reported as an invalid field`() async throws {
        let gateway = TestGateway()
        gateway.stubs.profile.set {
            $0.setAvatar = { _, _ in
                throw RPCError.domain(.invalidArgument, reason: "AVATAR_INVALID", message: "It moves.", field: "image")
            }
        }
        let answer = try await upload(gateway, "image/webp", Self.image)
        #expect(answer.status == 422 && answer.text.contains("AVATAR_INVALID") && answer.text.contains("It moves."))
    }

    @Test func `An image is served as immutable, with its type and nothing else`() async throws {
        let gateway = TestGateway()
        let seen = Mutex<[ProfileV1.GetAvatarRequest]>([])
        gateway.stubs.profile.set {
            $0.getAvatar = { request, _ in
                seen.withLock { $0.append(request) }
                return .with {
                    $0.contentType = "image/png"
                    if !request.withoutImage { $0.image = Data(Self.image) }
                }
            }
        }
        let path = "/avatars/\(Self.id)"
        let answer = try await send(gateway, .get, path)
        #expect(answer.status == 200 && answer.body == Self.image)
        let wanted: HTTPFields = [
            .contentType: "image/png", .eTag: "\"\(Self.id)\"", .cacheControl: "public, max-age=31536000, immutable",
            .xContentTypeOptions: "nosniff", .contentSecurityPolicy: "default-src 'none'; sandbox",
            .contentDisposition: "inline",
        ]
        for field in wanted { #expect(answer.headers[values: field.name] == [field.value], "\(field.name)") }
        for tag in ["\"\(Self.id)\"", "W/\"\(Self.id)\"", "\"other\", \"\(Self.id)\"", "*"] {
            let known = try await send(gateway, .get, path, headers: [.ifNoneMatch: tag])
            #expect(known.status == 304 && known.body.isEmpty && known.headers[.eTag] == "\"\(Self.id)\"")
        }
        for tag in ["\"other\"", Self.id, "\"\(Self.id)x\""] {
            #expect(try await send(gateway, .get, path, headers: [.ifNoneMatch: tag]).status == 200)
        }
        #expect(try await send(gateway, .head, path).status == 200)
        let hasImage = seen.withLock { $0.map { !$0.withoutImage } }
        #expect(hasImage == [true, false, false, false, false, true, true, true, true])
        #expect(seen.withLock { $0.allSatisfy { $0.avatarID == Self.id } })
        // It needs no session, and calls identity for none.
        #expect(Set(gateway.stubs.calls) == ["GetAvatar"])
    }

    @Test func `A deleted image is gone also for clients that have cached it`() async throws {
        let gateway = TestGateway()
        gateway.stubs.profile.set {
            $0.getAvatar = { _, _ in
                throw RPCError.domain(.notFound, reason: "AVATAR_UNKNOWN", message: "There is no such picture.")
            }
        }
        for headers: HTTPFields in [[:], [.ifNoneMatch: "\"\(Self.id)\""]] {
            let answer = try await send(gateway, .get, "/avatars/\(Self.id)", headers: headers)
            #expect(answer.status == 404 && answer.headers[.cacheControl] == "no-store")
        }
    }

    @Test(arguments: ["", "https://api.example.com"])
    func `A client that sends back the URL it got changes nothing`(base: String) async throws {
        let gateway = TestGateway(avatars: AvatarAddress(publicURL: base))
        let seen = Mutex<[String?]>([])
        gateway.stubs.profile.set { answers in
            answers.updateProfile = { request, _ in
                seen.withLock { $0.append(request.hasAvatar ? request.avatar : nil) }
                return .with { $0.profile.avatar = "/avatars/\(Self.id)" }
            }
        }
        let told = "\(base)/avatars/\(Self.id)"
        for body in [
            #"{"avatar_url":"\#(told)"}"#, #"{"avatar_url":"https://example.com/x.png"}"#, #"{"avatar_url":null}"#,
            #"{"avatar_url":""}"#, "{}",
        ] {
            let answer = try await gateway.sendAsUser(.patch, "/me", body)
            #expect(answer.status == 200 && answer.body["avatar_url"]?.string == told)
        }
        #expect(try await gateway.sendAsUser(.delete, "/me/avatar").status == 200)
        #expect(seen.withLock { $0 } == ["/avatars/\(Self.id)", "https://example.com/x.png", "", "", nil, ""])
    }
}
