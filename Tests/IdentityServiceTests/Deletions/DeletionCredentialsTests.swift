import API
import IdentityDomain
import JOSE
import Models
import OutgoingHTTP
import Postgres
import RPC
import SwiftProtobuf
import Testing

@testable import IdentityService

/// Credentials of a provider delete an account at once, by any session of it.
struct DeletionCredentialsTests {
    @Test(arguments: [false, true])
    func `A nonce deletes by a session that is too old or too weak`(isWeak: Bool) async throws {
        try await TestService.runWithAudiences { service in
            let session = try await isWeak ? service.signInBare() : service.signInAnew()
            service.clock.advance(seconds: 1_000)
            let accessToken = try await service.refresh(session.refreshToken).tokens.accessToken
            if !isWeak {
                await expectFailure(.permissionDenied, "RECENT_SIGN_IN_REQUIRED") {
                    _ = try await service.askForDeletion(accessToken)
                }
            }
            let token = try service.provider.appleToken(at: service.clock)
            for _ in 1...2 {
                // The second answer is of one that was lost.
                let answer = try await service.askForDeletion(accessToken) {
                    ($0.provider, $0.idToken, $0.nonce) = ("apple", token, TestProvider.rawNonce)
                }
                #expect(answer.deletesAtMs == 0 && answer.consentsLeft == ["apple"])
            }
            #expect(try await service.count("accounts") == 0)
            #expect(try await service.count("account_closings") == 1)
            // They are used up.
            await expectFailure(.unauthenticated, "TOKEN_REPLAYED") { _ = try await service.signIn(token: token) }
            #expect(try await service.count("accounts") == 0)
        }
    }

    @Test func `Any linked provider's credentials will do`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            try await service.linkGoogle(session.accessToken, token: service.googleToken())
            _ = try await service.askForDeletion(session.accessToken) {
                ($0.provider, $0.idToken, $0.nonce) = ("google", try service.googleToken(), TestProvider.rawNonce)
            }
            #expect(try await service.count("accounts") == 0)
        }
    }

    @Test func `A code alone deletes`() async throws {
        try await TestService.runWithAudiences { service in
            let session = try await service.signInBare()
            let exchanged = try service.provider.bareToken("com.example.plain", at: service.clock)
            try service.exchange.answer(exchanged, for: "c0de", service: service)
            _ = try await service.askForDeletion(session.accessToken) {
                ($0.provider, $0.authorizationCode, $0.clientID) = ("apple", "c0de", "com.example.plain")
            }
            #expect(try await service.count("accounts") == 0)
        }
    }

    @Test func `A code beside a token without nonce deletes, where for a sign-in the token would do`() async throws {
        try await TestService.runWithAudiences { service in
            let session = try await service.signInBare()
            let exchanged = try service.provider.bareToken(at: service.clock, ["jti": "exchanged"])
            try service.exchange.answer(exchanged, for: "c0de", service: service)
            _ = try await service.askForDeletion(session.accessToken) {
                ($0.provider, $0.authorizationCode) = ("apple", "c0de")
                $0.idToken = try service.provider.bareToken(at: service.clock, ["jti": "bare"])
            }
            #expect(try await service.count("accounts") == 0)
        }
    }

    @Test func `Another user's credentials delete nobody, and stay good`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            let other = try await service.signInAnew(subject: "002.person")
            for subject in ["002.person", "003.person"] {
                let token = try service.provider.appleToken(subject: subject, at: service.clock)
                await expectFailure(.permissionDenied, "CREDENTIALS_FOREIGN") {
                    _ = try await service.askForDeletion(session.accessToken) {
                        ($0.provider, $0.idToken, $0.nonce) = ("apple", token, TestProvider.rawNonce)
                    }
                }
                let opened = try await service.signIn(token: token)
                #expect(opened.isNewUser == (subject == "003.person"))
            }
            #expect(try await service.count("account_closings") == 0)
            _ = try await service.check(session.accessToken)
            _ = try await service.check(other.accessToken)
        }
    }

    @Test func `Credentials that prove too little are refused, and schedule nothing`() async throws {
        try await TestService.runWithAudiences { service in
            let session = try await service.signInAnew()
            let bare = try service.provider.bareToken(at: service.clock)
            await expectFailure(.permissionDenied, "PROOF_REQUIRED") {
                _ = try await service.askForDeletion(session.accessToken) {
                    ($0.provider, $0.idToken) = ("apple", bare)
                }
            }
            #expect(try await service.count("accounts") == 1)
            #expect(try await service.count("scheduled_deletions") == 0)
            #expect(try await service.signIn { $0.idToken = bare }.tokens.userID == session.userID, "it stays good")
        }
    }

    @Test func `A provider's access token proves too little`() async throws {
        try await TestService.run { service in
            let session = try await service.signInByGoogle()
            try service.exchange.answer(
                service.googleToken(),
                for: "leaked",
                service: service,
                provider: try #require(ProviderName("google"))
            )
            await expectFailure(.permissionDenied, "PROOF_REQUIRED") {
                _ = try await service.askForDeletion(session.accessToken) {
                    ($0.provider, $0.accessToken) = ("google", "leaked")
                    $0.clientID = "example.apps.googleusercontent.com"
                }
            }
            _ = try await service.check(session.accessToken)
        }
    }

    @Test func `A token that was issued long ago is no recent sign-in`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            let token = try service.provider.appleToken(at: service.clock, ["jti": "old"])
            service.clock.advance(seconds: 601)
            let accessToken = try await service.refresh(session.refreshToken).tokens.accessToken
            await expectFailure(.permissionDenied, "RECENT_SIGN_IN_REQUIRED") {
                _ = try await service.askForDeletion(accessToken) {
                    ($0.provider, $0.idToken, $0.nonce) = ("apple", token, TestProvider.rawNonce)
                }
            }
            #expect(try await service.count("accounts") == 1)
        }
    }

    @Test func `Credentials that opened a session or were made before something ended delete nothing`() async throws {
        try await TestService.run { service in
            let used = try service.provider.appleToken(at: service.clock)
            let session = try await service.signIn(token: used).tokens
            func refused(_ reason: String, token: String, nonce: String = TestProvider.rawNonce) async {
                await expectFailure(.unauthenticated, reason) {
                    _ = try await service.askForDeletion(session.accessToken) {
                        ($0.provider, $0.idToken, $0.nonce) = ("apple", token, nonce)
                    }
                }
            }
            await refused("TOKEN_REPLAYED", token: used)
            let fresh = try service.provider.appleToken(at: service.clock, ["jti": "fresh"])
            await refused("TOKEN_NONCE_MISMATCH", token: fresh, nonce: "another")
            try await service.database.execute(
                "UPDATE provider_identities SET tokens_from = \(PostgresTimestamp(secondsSince1970: service.clock.nowSeconds + 1))"
            )
            await refused("TOKEN_EXPIRED", token: fresh)
            try await service.database.execute(
                "UPDATE provider_identities SET tokens_from = NULL, disabled_at = now()"
            )
            await refused("PROVIDER_ACCOUNT_DISABLED", token: fresh)
            await expectFailure(.notFound, "PROVIDER_UNKNOWN") {
                _ = try await service.askForDeletion(session.accessToken) { $0.provider = "nobody" }
            }
            #expect(try await service.count("accounts") == 1)
        }
    }

    @Test func `Without a session that lives no credentials delete`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            try await service.signOut(accessToken: session.accessToken)
            let token = try service.provider.appleToken(at: service.clock)
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.askForDeletion(session.accessToken) {
                    ($0.provider, $0.idToken, $0.nonce) = ("apple", token, TestProvider.rawNonce)
                }
            }
            #expect(try await service.signIn(token: token).tokens.userID == session.userID)
        }
    }

    @Test func `A deletion that breaks off leaves the credentials good for the next try`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            let token = try service.provider.appleToken(at: service.clock)
            func delete() async throws {
                _ = try await service.askForDeletion(session.accessToken) {
                    ($0.provider, $0.idToken, $0.nonce) = ("apple", token, TestProvider.rawNonce)
                }
            }
            try await service.database.execute("ALTER TABLE work ADD CONSTRAINT broken CHECK (false) NOT VALID")
            await #expect(throws: RPCError.self) { try await delete() }
            #expect(try await service.count("accounts") == 1)
            try await service.database.execute("ALTER TABLE work DROP CONSTRAINT broken")
            try await delete()
            #expect(try await service.count("accounts") == 0)
        }
    }

    @Test(arguments: 1...3)
    func `Repetitions at one moment get one answer`(seed: Int) async throws {
        try await TestService.run { service in
            for round in 0..<5 {
                let session = try await service.signInAnew()
                let token = try service.provider.appleToken(at: service.clock, ["jti": .string("\(seed) \(round)")])
                try await withThrowingTaskGroup { tasks in
                    for _ in 0..<4 {
                        tasks.addTask {
                            let answer = try await service.askForDeletion(session.accessToken) {
                                ($0.provider, $0.idToken, $0.nonce) = ("apple", token, TestProvider.rawNonce)
                            }
                            #expect(answer.consentsLeft == ["apple"])
                        }
                    }
                    try await tasks.waitForAll()
                }
                #expect(try await service.count("accounts") == 0)
                service.pass(seconds: 1)
            }
        }
    }
}

/// What Apple grants for a code that comes with a deletion is revoked by it.
struct DeletionCodeTests {
    private func delete(
        _ bench: GrantBench,
        _ accessToken: String,
        _ make: (inout IdentityV1.SignInRequest) throws -> Void
    ) async throws -> IdentityV1.DeleteAccountResponse {
        var request = IdentityV1.DeleteAccountRequest()
        request.accessToken = accessToken
        request.credentials.provider = "apple"
        try make(&request.credentials)
        return try await bench.bench.methods.deleteAccount(request, context: ExchangeBench.context("DeleteAccount"))
    }

    /// Signs somebody in without a code, so that no token of theirs is kept.
    private func signIn(_ bench: GrantBench) async throws -> IdentityV1.SessionTokens {
        var request = IdentityV1.SignInRequest()
        request.provider = "apple"
        request.idToken = try token(bench, "sign-in")
        request.nonce = TestProvider.rawNonce
        return try await bench.bench.methods.signIn(request, context: ExchangeBench.context("SignIn")).tokens
    }

    private func token(_ bench: GrantBench, _ identifier: String) throws -> String {
        let own: [String: JSONValue?] = ["c_hash": nil as JSONValue?, "jti": .string(identifier)]
        return try bench.bench.provider.appleToken(at: bench.bench.clock, own)
    }

    @Test(arguments: [false, true])
    func `The code's token is revoked once, and no consent is left`(isAlone: Bool) async throws {
        try await GrantBench.run { bench in
            let session = try await signIn(bench)
            try bench.giveToken("001.person", code: "c0de", refreshToken: "r.deletion")
            for _ in 1...2 {
                let answer = try await delete(bench, session.accessToken) {
                    $0.authorizationCode = "c0de"
                    if isAlone {
                        $0.clientID = "com.example.app"
                    } else {
                        ($0.idToken, $0.nonce) = (try token(bench, "deletion"), TestProvider.rawNonce)
                    }
                }
                #expect(answer.consentsLeft.isEmpty && answer.deletesAtMs == 0)
            }
            #expect(try await bench.rows("revoking") == 1)
            await bench.grants.revoker.round()
            await bench.grants.revoker.round()
            #expect(bench.apple.revoked == ["r.deletion"])
            #expect(try await bench.rows("revoking") == 0)
        }
    }

    @Test(arguments: [true, false])
    func `A repetition whose account goes while it asks the provider gets the same answer`(buys: Bool) async throws {
        try await GrantBench.run { bench in
            let session = try await signIn(bench)
            try bench.giveToken("001.person", code: "c0de", refreshToken: "r.deletion")
            let apple = bench.apple
            apple.setTrouble { request throws(OutgoingHTTPError) in
                apple.setTrouble(nil)
                do {
                    _ = try await delete(bench, session.accessToken) {
                        ($0.idToken, $0.nonce) = (try token(bench, "deletion"), TestProvider.rawNonce)
                    }
                } catch {
                    Issue.record(error)
                }
                return buys
                    ? apple.work(request)
                    : OutgoingResponse(status: 400, body: Array(#"{"error":"invalid_grant"}"#.utf8))
            }
            let answer = try await delete(bench, session.accessToken) {
                ($0.authorizationCode, $0.clientID) = ("c0de", "com.example.app")
            }
            #expect(answer.consentsLeft == ["apple"] && answer.deletesAtMs == 0)
            #expect(try await bench.store.database.query("SELECT FROM account_closings").count == 1)
        }
    }

    @Test func `A code that buys nothing keeps nobody from being deleted`() async throws {
        try await GrantBench.run { bench in
            let session = try await signIn(bench)
            let answer = try await delete(bench, session.accessToken) {
                ($0.idToken, $0.nonce) = (try token(bench, "deletion"), TestProvider.rawNonce)
                $0.authorizationCode = "spent"
            }
            #expect(answer.consentsLeft == ["apple"] && answer.deletesAtMs == 0)
            #expect(bench.apple.revoked.isEmpty)
        }
    }

    @Test func `Another user's code revokes none of their tokens`() async throws {
        try await GrantBench.run { bench in
            let session = try await signIn(bench)
            try bench.giveToken("002.person", code: "theirs", refreshToken: "r.theirs")
            await expectFailure(.permissionDenied, "CREDENTIALS_FOREIGN") {
                _ = try await delete(bench, session.accessToken) {
                    ($0.authorizationCode, $0.clientID) = ("theirs", "com.example.app")
                }
            }
            // Beside a token of this account it is no part of what proves anything.
            let answer = try await delete(bench, session.accessToken) {
                ($0.idToken, $0.nonce) = (try token(bench, "deletion"), TestProvider.rawNonce)
                $0.authorizationCode = "theirs"
            }
            #expect(answer.consentsLeft == ["apple"])
            await bench.grants.revoker.round()
            #expect(bench.apple.revoked.isEmpty)
            #expect(try await bench.rows("kept") == 0)
            #expect(try await bench.rows("revoking") == 0)
        }
    }

    @Test func `A token that is kept before a deletion breaks off is revoked by the next try`() async throws {
        try await GrantBench.run { bench in
            let session = try await signIn(bench)
            try bench.giveToken("001.person", code: "c0de", refreshToken: "r.deletion")
            func delete() async throws -> [String] {
                try await self.delete(bench, session.accessToken) {
                    ($0.authorizationCode, $0.clientID) = ("c0de", "com.example.app")
                }.consentsLeft
            }
            let database = bench.store.database
            try await database.execute("ALTER TABLE work ADD CONSTRAINT broken CHECK (false) NOT VALID")
            await #expect(throws: (any Error).self) { _ = try await delete() }
            #expect(try await bench.rows("kept") == 1)
            try await database.execute("ALTER TABLE work DROP CONSTRAINT broken")
            #expect(try await delete().isEmpty)
            await bench.grants.revoker.round()
            #expect(bench.apple.revoked == ["r.deletion"])
        }
    }
}
