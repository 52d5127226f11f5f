import API
import IdentityDomain
import JOSE
import Logging
import Models
import Postgres
import RPC
import ServiceKit
import Synchronization
import Testing

@testable import IdentityService

struct UnprovenSignInTests {
    private static let dialects: Set<String> = ["wordpress"]

    private func request(
        _ request: inout IdentityV1.SignInRequest,
        subject: String = "001.person",
        create: Bool,
        dialect: String = "wordpress",
        style: IdentityV1.TokenStyle = .singleForSession
    ) {
        request.unproven.dialect = dialect
        request.unproven.subject = subject
        request.create = create
        request.tokenStyle = style
    }

    /// Registers a person without proof.
    @discardableResult
    private func register(_ service: TestService, subject: String = "001.person") async throws
        -> IdentityV1.SignInResponse
    {
        try await service.signIn {
            request(&$0, subject: subject, create: true)
            ($0.fullName, $0.email) = ("Mallory", "mallory@example.com")
        }
    }

    private func login(_ service: TestService) async throws -> IdentityV1.SignInResponse {
        try await service.signIn { request(&$0, create: false) }
    }

    @Test func `A sign-in without proof is refused unless the operator allows it`() async throws {
        try await TestService.runWithAudiences { service in
            for create in [true, false] {
                await expectFailure(.unauthenticated, "PROOF_REQUIRED") {
                    try await service.signIn { request(&$0, create: create) }
                }
            }
            await expectFailure(.unauthenticated, "PROOF_REQUIRED") {
                _ = try await service.findAccount { request(&$0, create: false) }
            }
            let accounts = try await service.count("accounts")
            #expect(accounts == 0)
        }
    }

    @Test func `A dialect that isn't listed needs proof, and so do access tokens`() async throws {
        try await TestService.runWithAudiences(unprovenDialects: Self.dialects) { service in
            for dialect in ["", "supabase", "Wordpress"] {
                await expectFailure(.unauthenticated, "PROOF_REQUIRED") {
                    try await service.signIn { request(&$0, create: true, dialect: dialect) }
                }
            }
            await expectFailure(.unauthenticated, "PROOF_REQUIRED") {
                try await service.signIn { request(&$0, create: true, style: .unspecified) }
            }
            for subject in ["", String(repeating: "a", count: 256), "\u{7}", "é"] {
                await expectFailure(.unauthenticated, "TOKEN_SUBJECT") {
                    try await service.signIn { request(&$0, subject: subject, create: true) }
                }
            }
            let accounts = try await service.count("accounts")
            #expect(accounts == 0)
        }
    }

    @Test func `A registration without proof opens sessions that are valid in its dialect only`() async throws {
        try await TestService.runWithAudiences(unprovenDialects: Self.dialects) { service in
            let registered = try await register(service)
            #expect(registered.isNewUser)
            #expect(registered.proof == .unproven)
            #expect(registered.tokens.accountNumber > 0)
            #expect(registered.tokens.accessToken.isEmpty && registered.tokens.refreshToken.isEmpty)
            #expect(registered.tokens.idToken.isEmpty)
            let again = try await login(service)
            #expect(!again.isNewUser)
            #expect(again.tokens.userID == registered.tokens.userID)
            #expect(again.tokens.sessionID != registered.tokens.sessionID)
            #expect(again.tokens.accountNumber == registered.tokens.accountNumber)
            #expect(again.suggestedDisplayName == "Mallory")
            for tokens in [registered.tokens, again.tokens] {
                #expect(try await service.check(tokens.singleToken, dialect: "wordpress").proof == .unproven)
                await expectFailure(.unauthenticated, "SESSION_UNPROVEN") {
                    _ = try await service.check(tokens.singleToken)
                }
            }
        }
    }

    @Test func `A login finds only accounts of the same dialect`() async throws {
        try await TestService.runWithAudiences(unprovenDialects: ["wordpress", "other"]) { service in
            await expectFailure(.notFound, "ACCOUNT_NOT_FOUND") { _ = try await login(service) }
            try await register(service)
            await expectFailure(.notFound, "ACCOUNT_NOT_FOUND") {
                try await service.signIn { request(&$0, create: false, dialect: "other") }
            }
            await expectFailure(.alreadyExists, "ACCOUNT_EXISTS") {
                try await service.signIn { request(&$0, create: true, dialect: "other") }
            }
            await expectFailure(.alreadyExists, "ACCOUNT_EXISTS") { try await register(service) }
            #expect(try await service.count("sessions") == 1)
            #expect(try await service.count("accounts") == 1)
        }
    }

    @Test func `A proven account is never opened without proof`() async throws {
        try await TestService.runWithAudiences(unprovenDialects: Self.dialects) { service in
            _ = try await service.signIn()
            await expectFailure(.notFound, "ACCOUNT_NOT_FOUND") { _ = try await login(service) }
            await expectFailure(.alreadyExists, "ACCOUNT_EXISTS") { try await register(service) }
            #expect(try await service.count("sessions") == 1)
        }
    }

    /// Somebody registers with another person's id, before that person does.
    @Test func `The first proof ends all sessions without proof, for good`() async throws {
        try await TestService.runWithAudiences(unprovenDialects: Self.dialects) { service in
            let registered = try await register(service)
            let later = try await login(service)
            let other = try await register(service, subject: "002.other")
            service.clock.advance(seconds: 1)
            let token = try service.provider.appleToken(at: service.clock, ["email": nil as JSONValue?])
            let proven = try await service.signIn(token: token)
            #expect(proven.tokens.userID == registered.tokens.userID)
            #expect(proven.suggestedDisplayName.isEmpty, "what nobody proved is nobody's name")
            let identity = try #require(try await service.account(proven.tokens.userID).identities.first)
            #expect(identity.email.isEmpty)
            for tokens in [registered.tokens, later.tokens] {
                await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                    _ = try await service.check(tokens.singleToken, dialect: "wordpress")
                }
                await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                    _ = try await service.renew(tokens.singleToken)
                }
            }
            let reasons: Int64 = try await service.value(
                "SELECT count(*) FROM sessions WHERE revoke_reason = 'proven' AND expires_at = revoked_at"
            )
            #expect(reasons == 2)
            await expectFailure(.notFound, "ACCOUNT_NOT_FOUND") { _ = try await login(service) }
            await expectFailure(.alreadyExists, "ACCOUNT_EXISTS") { try await register(service) }
            _ = try await service.check(other.tokens.singleToken, dialect: "wordpress")
            _ = try await service.check(proven.tokens.accessToken)
        }
    }

    /// Sessions that are committed while the first proof waits for the identity's row are not in its snapshot.
    @Test func `No session without proof outlives the first proof, in any order`() async throws {
        try await TestService.runWithAudiences(unprovenDialects: Self.dialects) { service in
            for round in 0..<15 {
                let subject = "race-\(round)"
                if round % 2 == 0 { try await register(service, subject: subject) }
                let token = try service.provider.appleToken(subject: subject, at: service.clock)
                let opened = try await gather(8) { number -> String? in
                    do {
                        if number == 3 {
                            _ = try await service.signIn(token: token)
                            return nil
                        }
                        return try await service.signIn {
                            request(&$0, subject: subject, create: number == 5)
                        }.tokens.singleToken
                    } catch let error as RPCError {
                        #expect(["ACCOUNT_NOT_FOUND", "ACCOUNT_EXISTS"].contains(error.reason), "\(error)")
                        return nil
                    }
                }
                for token in opened.compactMap({ $0 }) {
                    await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                        _ = try await service.check(token, dialect: "wordpress")
                    }
                }
            }
            #expect(try await service.count("accounts") == 15)
            let alive: Int64 = try await service.value(
                "SELECT count(*) FROM sessions WHERE proof = 'unproven' AND revoked_at IS NULL"
            )
            #expect(alive == 0)
        }
    }

    @Test func `Sessions without proof can begin after the end of all sessions`() async throws {
        try await TestService.runWithAudiences(unprovenDialects: Self.dialects) { service in
            let old = try await register(service)
            service.clock.advance(seconds: 1)
            try await service.endAllSessions()
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.check(old.tokens.singleToken, dialect: "wordpress")
            }
            let new = try await login(service)
            _ = try await service.check(new.tokens.singleToken, dialect: "wordpress")
        }
    }

    @Test func `A client that is named must be one of the provider`() async throws {
        try await TestService.runWithAudiences(unprovenDialects: Self.dialects) { service in
            await expectFailure(.invalidArgument, "CLIENT_UNKNOWN") {
                try await service.signIn {
                    request(&$0, create: true)
                    $0.clientID = "com.other.app"
                }
            }
            await expectFailure(.unauthenticated, "TOKEN_SUBJECT") {
                try await service.signIn {
                    request(&$0, create: true)
                    $0.expectedSubject = "002.other"
                }
            }
            try await service.signIn {
                request(&$0, create: true)
                ($0.clientID, $0.expectedSubject) = ("com.example.app", "001.person")
            }
        }
    }

    @Test func `The setting names dialects, and is empty by default`() throws {
        let pem = Array(try SigningKey.generateP256().pem().utf8)
        func settings(_ value: String?) throws -> IdentitySettings {
            var environment = [
                "VESTIBULE_IDENTITY_SIGNING_KEY_FILE": "signing", "VESTIBULE_IDENTITY_REFRESH_KEY_FILE": "refresh",
                "VESTIBULE_IDENTITY_KEYS_FOLDER": try SettingsFixture.keysFolder.get(),
                "VESTIBULE_DATABASE_HOST": "/tmp",
                "VESTIBULE_IDENTITY_ISSUER": "https://id.example",
                "VESTIBULE_IDENTITY_APPLE_AUDIENCES": "com.bookreaders.app",
            ]
            environment["VESTIBULE_IDENTITY_UNPROVEN_LOGINS"] = value
            let configuration = try Configuration(
                keys: IdentityServer.configurationKeys,
                program: "identity",
                environment: environment,
                readFile: { (path, _) throws(FileError) in
                    path == "signing" ? pem : [UInt8](repeating: 1, count: 32)
                }
            )
            return try IdentitySettings(configuration)
        }
        #expect(try settings(nil).unprovenDialects.isEmpty)
        #expect(try settings("").unprovenDialects.isEmpty)
        #expect(try settings("wordpress").unprovenDialects == ["wordpress"])
        // A misspelled dialect would never match, and its operator wouldn't learn why sign-ins fail.
        for text in ["WordPress", "wordpress, supabase", "other"] {
            let refused = try #require(throws: ConfigurationErrors.self) { _ = try settings(text) }
            #expect(refused.faults.map(\.key) == ["VESTIBULE_IDENTITY_UNPROVEN_LOGINS"])
        }
    }

    @Test func `Each start logs a warning`() async throws {
        let lines = Mutex<[String]>([])
        let logger = Logger(label: "test") { _ in RecordingLog { line in lines.withLock { $0.append(line) } } }
        try await TestService.runWithAudiences(unprovenDialects: ["wordpress"]) { service in
            _ = IdentityParts(
                settings: service.settings,
                database: service.database,
                group: service.group,
                fetcher: service.provider,
                http: TestHTTP(),
                profile: OtherServices.profile,
                invites: OtherServices.invites,
                logger: logger
            )
        }
        let warning = try #require(lines.withLock { $0 }.first)
        #expect(warning.hasPrefix("warning") && warning.contains("wordpress"))
        #expect(warning.contains("VESTIBULE_IDENTITY_UNPROVEN_LOGINS"))
    }
}

private struct RecordingLog: LogHandler {
    let record: @Sendable (String) -> Void
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .info

    init(record: @escaping @Sendable (String) -> Void) { self.record = record }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        record("\(event.level) \(event.message) \(event.metadata ?? [:])")
    }
}
