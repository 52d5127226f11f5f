import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceModels
import SwiftProtobuf
import Testing

@testable import IdentityService

/// How operators find and list accounts, and see what belongs to one.
struct OperatorSearchTests {
    private static let nobody = "00000000-0000-4000-8000-000000000000"

    private func person(_ service: TestService, _ number: Int, device: String = "") async throws -> String {
        service.clock.advance(seconds: 1)
        return try await service.signIn {
            $0.idToken = try service.provider.appleToken(
                subject: "00\(number).person",
                at: service.clock,
                ["email": .string("p\(number)@example.com"), "is_private_email": "false", "jti": .string("\(number)")]
            )
            ($0.nonce, $0.deviceName) = (TestProvider.rawNonce, device)
        }.tokens.userID
    }

    private func ids(_ response: OperatorV1.FindAccountResponse) -> [String] { response.accounts.map(\.userID) }

    @Test func `An account is found by username and by the beginning of its name`() async throws {
        try await TestService.run { service in
            let users = [try await person(service, 1), try await person(service, 2), try await person(service, 3)]
            for (user, name) in zip(users, ["Maria", "Mario", "MARTA"]) {
                service.others.tell(user, name: name, phoneNumber: "", username: "\(name.lowercased())_1")
            }
            let operators = service.operators()
            #expect(ids(try await operators.find(.username("MARIO_1"))) == [users[1]])
            #expect(ids(try await operators.find(.username("mario"))).isEmpty)
            #expect(Set(ids(try await operators.find(.namePrefix("mari")))) == Set(users.prefix(2)))
            let cut = try await operators.find(.namePrefix("mar"))
            #expect(cut.accounts.count == 2 && cut.isIncomplete)
            service.others.fail("profile", .unavailable)
            for key in [OperatorV1.FindAccountRequest.OneOf_By.username("mario_1"), .namePrefix("mar")] {
                await expectFailure(.unavailable, "PROFILE_UNAVAILABLE") { _ = try await operators.find(key) }
            }
        }
    }

    @Test func `An account is found by a session, a device's name, and a provider's identity`() async throws {
        try await TestService.run { service in
            let maria = try await person(service, 1, device: "Maria's iPhone")
            let jose = try await person(service, 2, device: "iPhone")
            let ana = try await person(service, 3, device: "iPhone")
            let operators = service.operators()
            let session = try #require(try await operators.sessions(maria).sessions.first)
            #expect(ids(try await operators.find(.sessionID(session.sessionID))) == [maria])
            #expect(ids(try await operators.find(.sessionID(Self.nobody))).isEmpty)
            #expect(ids(try await operators.find(.deviceName("maria's IPHONE"))) == [maria])
            #expect(
                ids(try await operators.find(.deviceName("iphone"))) == [jose, ana],
                "the whole name, oldest first"
            )
            #expect(ids(try await operators.find(.deviceName("maria"))).isEmpty)
            let apple = OperatorV1.ProviderIdentity.with { ($0.provider, $0.subject) = ("apple", "002.person") }
            #expect(ids(try await operators.find(.providerIdentity(apple))) == [jose])
            let other = OperatorV1.ProviderIdentity.with { ($0.provider, $0.subject) = ("google", "002.person") }
            #expect(ids(try await operators.find(.providerIdentity(other))).isEmpty)
            for bad in [OperatorV1.FindAccountRequest.OneOf_By.sessionID("x"), .deviceName(""), .username("")] {
                await expectFailure(.invalidArgument, "ACCOUNT_UNNAMED") { _ = try await operators.find(bad) }
            }
        }
    }

    @Test
    func `Of a device's name that many sessions have, the newest count, and the answer says that there may be more`()
        async throws
    {
        try await TestService.run { service in
            let (old, busy) = (
                try await person(service, 1, device: "iPad"), try await person(service, 2, device: "iPhone")
            )
            try await service.database.execute(
                """
                INSERT INTO sessions (session_id, user_id, provider, client_id, device_name, opened_account, nonce, created_at,
                    last_used_at, expires_at, proof)
                SELECT gen_random_uuid(), \(UserID(busy)?.uuid), 'apple', 'app', 'IPAD', false, '\\x00000000000000000000000000000000',
                    now(), now(), now(), 'nonce' FROM generate_series(1, 300)
                """
            )
            let found = try await service.operators().find(.deviceName("ipad"))
            #expect(found.isIncomplete && ids(found).contains(busy))
            #expect(Set(ids(found)).isSubset(of: [old, busy]))
        }
    }

    @Test func `The audit log has a search's term as a keyed hash, and its reason`() async throws {
        try await TestService.run { service in
            let maria = try await person(service, 1)
            let operators = service.operators()
            let found = try await operators.find(.email("P1@example.com"), reason: "ticket")
            let again = try await operators.find(.email("p1@EXAMPLE.com"))
            let other = try await operators.find(.email("nobody@example.com"))
            let name = try await operators.find(.namePrefix("p1@example.com"))
            let term = try #require(found.auditTerms.first)
            #expect(term.count == 32 && again.auditTerms == found.auditTerms)
            #expect(other.auditTerms != found.auditTerms && name.auditTerms != found.auditTerms)
            let text =
                "SELECT (details - 'operator')::text FROM security_events WHERE details->>'term' = '\(term)' ORDER BY event_id"
            #expect(
                Set(try await service.words(text))
                    == [
                        #"{"by": "email", "term": "\#(term)"}"#,
                        #"{"by": "email", "term": "\#(term)", "reason": "ticket"}"#,
                    ]
            )
            await expectFailure(.invalidArgument, "BLOCK_REASON_INVALID") {
                _ = try await operators.find(.userID(maria), reason: "Ticket 7")
            }
        }
    }

    @Test func `Accounts are listed in pages, newest first, by each filter`() async throws {
        try await TestService.run { service in
            var users: [String] = []
            for number in 1...5 { users.append(try await person(service, number)) }
            let operators = service.operators()
            var (listed, token): ([OperatorV1.ListedAccount], String) = ([], "")
            repeat {
                let page = try await operators.list { ($0.pageSize, $0.pageToken) = (2, token) }
                #expect(page.accounts.count == 2 || page.nextPageToken.isEmpty)
                listed += page.accounts
                token = page.nextPageToken
            } while !token.isEmpty
            #expect(listed.map(\.userID) == users.reversed())
            #expect(listed.allSatisfy { $0.providers == ["apple"] && $0.accountNumber > 0 && !$0.isGuest })
            func list(_ make: (inout OperatorV1.ListAccountsRequest) -> Void) async throws -> [String] {
                try await operators.list(make).accounts.map(\.userID)
            }
            try await service.block(users[1], reason: "abuse")
            try await service.database.execute(
                "UPDATE accounts SET imported_at = now() WHERE user_id = \(UserID(users[0])?.uuid)"
            )
            try await service.database.execute(
                "UPDATE accounts SET guest_until = now() WHERE user_id = \(UserID(users[2])?.uuid)"
            )
            #expect(try await list { $0.isBlocked = true } == [users[1]])
            #expect(try await list { $0.isBlocked = false } == [users[4], users[3], users[2], users[0]])
            #expect(try await list { $0.isImported = true } == [users[0]])
            #expect(try await list { $0.isGuest = true } == [users[2]])
            #expect(try await list { $0.isGuest = false }.count == 4)
            #expect(try await list { $0.provider = "apple" }.count == 5)
            #expect(try await list { $0.provider = "google" }.isEmpty)
            let times = listed.map(\.createdAtMs)
            let between = try await list { ($0.createdFromMs, $0.createdBeforeMs) = (times[3], times[1]) }
            #expect(between == [users[2], users[1]])
            let events = try await service.events("account_found")
            #expect(Set(events) == [#"account_found {"by": "list", "operator": "spiffe://vestibule/operator"}"#])
        }
    }

    @Test func `A page token that is none, and a page of a wrong size, are refused`() async throws {
        try await TestService.run { service in
            for number in 1...2 { _ = try await person(service, number) }
            let operators = service.operators()
            let token = try await operators.list { $0.pageSize = 1 }.nextPageToken
            #expect(try await operators.list { $0.pageToken = token }.accounts.count == 1)
            for bad in ["next", String(token.dropLast()), "_" + token.dropFirst()] {
                await expectFailure(.invalidArgument, "INVALID_CURSOR") {
                    _ = try await operators.list { $0.pageToken = bad }
                }
            }
            for size: Int32 in [-1, 201] {
                await expectFailure(.invalidArgument, "PAGE_SIZE_INVALID") {
                    _ = try await operators.list { $0.pageSize = size }
                }
            }
        }
    }

    @Test func `Sessions are listed with those that ended, the one used last first`() async throws {
        try await TestService.run { service in
            let maria = try await person(service, 1, device: "iPhone")
            #expect(try await service.operators().endSessions(maria).endedSessions == 1)
            service.clock.advance(seconds: 60)
            _ = try await service.signInAnew(subject: "001.person")
            let answer = try await service.operators().sessions(maria)
            #expect(answer.sessions.map(\.isLive) == [true, false] && !answer.isIncomplete)
            let ended = try #require(answer.sessions.last)
            #expect(ended.deviceName == "iPhone" && ended.provider == "apple" && ended.proof == "nonce")
            #expect(ended.endReason == "operator" && ended.createdAtMs <= ended.lastUsedAtMs)
            #expect(answer.sessions.first?.endReason == "")
            await expectFailure(.notFound, "ACCOUNT_NOT_FOUND") {
                _ = try await service.operators().sessions(Self.nobody)
            }
            #expect(try await service.events("account_found").first?.contains(#""by": "sessions""#) == true)
        }
    }

    @Test func `Groups come from invites`() async throws {
        try await TestService.run { service in
            let maria = try await person(service, 1)
            let answer = try await service.operators().groups(maria)
            #expect(answer.groups.map(\.name) == ["Hikers"] && answer.groups.map(\.role) == ["admin"])
            #expect(answer.isIncomplete && answer.groups.first?.groupID == maria)
            service.others.fail("invites", .unavailable)
            await expectFailure(.unavailable, "UNAVAILABLE") { _ = try await service.operators().groups(maria) }
            await expectFailure(.notFound, "ACCOUNT_NOT_FOUND") {
                _ = try await service.operators().groups(Self.nobody)
            }
        }
    }

    @Test func `A console must name the operator, whom the audit log then has; nobody else can`() async throws {
        try await TestService.run { service in
            let maria = try await person(service, 1)
            let (console, both) = ([TestService.consoleName], [TestService.operatorName, TestService.consoleName])
            for names in [console, both] {
                for claimed in [nil, "", "a b", "spiffe://vestibule/operator", String(repeating: "a", count: 65)] {
                    await expectFailure(.permissionDenied, "OPERATOR_REQUIRED") {
                        _ = try await service.operators(names: names, claimed: claimed).find(.userID(maria))
                    }
                }
            }
            _ = try await service.operators(names: console, claimed: "ana@example.com").find(.userID(maria))
            #expect(
                try await service.events("account_found") == [
                    #"account_found {"by": "user_id", "operator": "ana@example.com"}"#
                ]
            )
            // An operator can't take another name.
            _ = try await service.operators(claimed: "ana@example.com").block(maria)
            #expect(
                try await service.events("account_blocked").first?.contains("spiffe://vestibule/operator") == true
            )
            await expectFailure(.permissionDenied, "OPERATOR_REQUIRED") {
                _ = try await service.operators(names: ["spiffe://vestibule/gateway"], claimed: "ana").block(maria)
            }
        }
    }
}
