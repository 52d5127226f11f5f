import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceModels
import Testing

@testable import IdentityService

struct UserMetadataMethodTests {
    @Test func `An account is returned with its number, its metadata and its identities' times`() async throws {
        try await TestService.run { service in
            let first = try await service.signIn(fullName: "Maria Clara")
            let start = service.clock.nowMilliseconds
            service.clock.advance(seconds: 100)
            _ = try await service.signIn()
            let account = try await service.account(first.tokens.userID)
            #expect(account.metadataJson == "{}")
            #expect(account.accountNumber > 0)
            let identity = try #require(account.identities.first)
            #expect(identity.createdAtMs == start)
            #expect(identity.lastSignInAtMs == start + 100_000)
            #expect(identity.toldName == "Maria Clara")
            let other = try await service.signIn(subject: "002.person")
            #expect(try await service.account(other.tokens.userID).accountNumber != account.accountNumber)
            #expect(try await service.account(first.tokens.userID).accountNumber == account.accountNumber)
        }
    }

    @Test func `Metadata of an account with several identities is returned once and complete`() async throws {
        try await TestService.run { service in
            let userID = try await service.signIn().tokens.userID
            _ = try await service.change(userID, #"{"a":1}"#)
            let id = try #require(UserID(userID)).uuid
            try await service.database.execute(
                """
                INSERT INTO provider_identities (provider, subject, user_id, is_email_verified, is_private_email,
                    created_at, last_sign_in_at)
                VALUES ('google', 'g', \(id), false, false, 'epoch', 'epoch')
                """
            )
            let account = try await service.account(userID)
            #expect(account.identities.map(\.provider) == ["google", "apple"])
            #expect(account.metadataJson == #"{"a":1}"#)
        }
    }

    @Test func `Changes are stored and returned`() async throws {
        try await TestService.run { service in
            let userID = try await service.signIn().tokens.userID
            #expect(try await service.change(userID, #"{"theme":"dark","size":2}"#) == #"{"theme":"dark","size":2}"#)
            #expect(try await service.change(userID, #"{"size":null,"x":[1]}"#) == #"{"theme":"dark","x":[1]}"#)
            for _ in 0..<2 { #expect(try await service.change(userID, "{}") == #"{"theme":"dark","x":[1]}"#) }
            #expect(try await service.account(userID).metadataJson == #"{"theme":"dark","x":[1]}"#)
            let other = try await service.signIn(subject: "002.person").tokens.userID
            #expect(try await service.account(other).metadataJson == "{}")
        }
    }

    @Test func `Any text is stored`() async throws {
        try await TestService.run { service in
            let userID = try await service.signIn().tokens.userID
            let text = #"{"a":"\u0000 \" \\ 👩‍👩‍👧 é","b":-0.0e1,"c":9007199254740993}"#
            #expect(try await service.change(userID, text) == text)
            #expect(try await service.account(userID).metadataJson == text)
        }
    }

    @Test func `A change that can't be stored is refused and changes nothing`() async throws {
        try await TestService.run { service in
            let userID = try await service.signIn().tokens.userID
            _ = try await service.change(userID, #"{"a":1}"#)
            let long = String(repeating: "x", count: UserMetadata.bytesMax - 40)
            for text in ["", "[]", "nonsense"] {
                await expectFailure(.invalidArgument, "METADATA_INVALID") { _ = try await service.change(userID, text) }
            }
            await expectFailure(.invalidArgument, "METADATA_TOO_LARGE") {
                _ = try await service.change(
                    userID,
                    "{\"b\":\"\(long)xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\",\"full_name\":\"No Body\"}"
                )
            }
            #expect(try await service.account(userID).metadataJson == #"{"a":1}"#)
            #expect(try await service.account(userID).suggestedDisplayName.isEmpty)
            await expectFailure(.notFound, "ACCOUNT_NOT_FOUND") {
                _ = try await service.change("00000000-0000-7000-8000-000000000000", #"{"a":1}"#)
            }
        }
    }

    @Test func `A name that Apple gave the app once is stored as given`() async throws {
        try await TestService.run { service in
            let first = try await service.signIn()
            let userID = first.tokens.userID
            _ = try await service.change(userID, #"{"full_name":"Maria Clara","given_name":"Maria"}"#)
            #expect(try await service.account(userID).suggestedDisplayName == "Maria Clara")
            #expect(try await service.refresh(first.tokens.refreshToken).suggestedDisplayName == "Maria Clara")
            // Only the first one counts: a later one is the app's own.
            _ = try await service.change(userID, #"{"full_name":"Somebody Else"}"#)
            let account = try await service.account(userID)
            #expect(account.suggestedDisplayName == "Maria Clara")
            #expect(account.metadataJson == #"{"full_name":"Somebody Else","given_name":"Maria"}"#)
        }
    }

    @Test func `A name from a provider stays, whatever the app changes`() async throws {
        try await TestService.run { service in
            let userID = try await service.signIn(fullName: "Maria Clara").tokens.userID
            _ = try await service.change(userID, #"{"full_name":"Somebody Else"}"#)
            #expect(try await service.account(userID).suggestedDisplayName == "Maria Clara")
        }
    }

    @Test func `Concurrent changes lose no members, and keep one name`() async throws {
        try await TestService.run { service in
            let userID = try await service.signIn().tokens.userID
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<8 {
                    group.addTask {
                        _ = try await service.change(userID, "{\"m\(index)\":\(index),\"full_name\":\"Name \(index)\"}")
                    }
                    if index % 2 == 0 { group.addTask { _ = try await service.signInAnew() } }
                }
                try await group.waitForAll()
            }
            let account = try await service.account(userID)
            let metadata = try JSONObject(parsing: account.metadataJson.utf8)
            for index in 0..<8 { #expect(metadata["m\(index)"] == .integer(Int64(index))) }
            #expect(metadata.members.count == 9)
            #expect(account.suggestedDisplayName.hasPrefix("Name "))
        }
    }
}

extension TestService {
    /// Changes an account's metadata, and returns it.
    fileprivate func change(_ userID: String, _ changes: String) async throws -> String {
        var request = IdentityV1.UpdateUserMetadataRequest()
        request.changesJson = changes
        return try await client.updateUserMetadata(request, options: options(for: userID)).metadataJson
    }
}
