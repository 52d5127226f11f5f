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

/// What operators may see and do.
struct OperatorMethodsTests {
    private static let details = #""operator": "spiffe://vestibule/operator""#
    private static let nobody = "00000000-0000-4000-8000-000000000000"

    /// Signs in a person whose provider gives an address that isn't a relay address.
    private func signIn(_ service: TestService, subject: String, email: String) async throws -> String {
        try await service.signIn(
            subject: subject,
            changes: ["email": .string(email), "is_private_email": "false", "jti": .string(subject)]
        ).tokens.userID
    }

    @Test func `Each method rejects gateways, services and callers without a certificate`() async throws {
        try await TestService.run { service in
            let userID = try await service.signInAnew().userID
            let callers = [
                [], ["spiffe://vestibule/gateway"], ["spiffe://vestibule/profile", "profile"], ["operator"],
                ["spiffe://vestibule/identity"], ["spiffe://vestibule/operator/x"], [TestService.consoleName],
            ]
            for names in callers {
                let caller = service.operators(names: names)
                let calls: [() async throws -> Void] = [
                    { _ = try await caller.find(.userID(userID)) }, { _ = try await caller.block(userID) },
                    { _ = try await caller.unblock(userID) }, { _ = try await caller.endSessions(userID) },
                    { _ = try await caller.release(.userID(userID)) }, { _ = try await caller.events(userID) },
                    { _ = try await caller.disputes() }, { _ = try await caller.open(userID, for: userID) },
                    { _ = try await caller.delete(userID) }, { _ = try await caller.list() },
                    { _ = try await caller.sessions(userID) }, { _ = try await caller.groups(userID) },
                ]
                #expect(calls.count == OperatorServiceMethods.all.count)
                for call in calls { await expectFailure(.permissionDenied, "OPERATOR_REQUIRED", call) }
            }
            #expect(try await service.count("security_events") == 1, "the sign-in alone")
            #expect(
                try await service.operators(names: ["x", TestService.operatorName]).find(.userID(userID)).accounts.count
                    == 1
            )
        }
    }

    @Test func `An account is found by id, number and e-mail, and returned without its relay address`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signInAnew()
            _ = try await service.signInSingle()
            let other = try await signIn(service, subject: "002.person", email: "Maria@Example.com")
            service.others.tell(tokens.userID, name: "Maria", phoneNumber: "+639171234567")
            let operators = service.operators()
            let found = try await operators.find(.userID(tokens.userID))
            let account = try #require(found.accounts.first)
            #expect(found.accounts.count == 1 && !found.isIncomplete)
            #expect(account.userID == tokens.userID && account.liveSessions == 2 && !account.hasBlock)
            #expect(account.accountNumber > 0 && account.createdAtMs == service.clock.nowMilliseconds)
            #expect(account.profile.displayName == "Maria" && account.profile.phoneNumber == "+639171234567")
            let identity = try #require(account.identities.first)
            #expect(account.identities.count == 1 && identity.provider == "apple" && identity.subject == "001.person")
            #expect(identity.isPrivateEmail && identity.email.isEmpty)
            let text = try found.jsonString()
            #expect(text.contains(tokens.userID) && !text.contains("privaterelay"))
            #expect(try await operators.find(.phoneNumber("+639171234567")).accounts == found.accounts)
            // Also by the relay address, for an operator who knows it; the answer doesn't have it.
            let byRelay = try await operators.find(.email("person@privaterelay.appleid.com"))
            #expect(byRelay.accounts == found.accounts)
            // An address that only the app gave has no mark of Apple's.
            _ = try await service.signIn {
                $0.idToken = try service.provider.appleToken(
                    subject: "003.person",
                    at: service.clock,
                    ["email": nil as JSONValue?, "is_private_email": nil as JSONValue?]
                )
                ($0.nonce, $0.email) = (TestProvider.rawNonce, "x@PrivateRelay.appleid.com")
            }
            let told = try await operators.find(.email("x@privaterelay.appleid.com"))
            #expect(told.accounts.first?.identities.map(\.email) == [""])
            #expect(told.accounts.first?.identities.map(\.isPrivateEmail) == [true])
            let byEmail = try await operators.find(.email("mARIA@example.COM"))
            #expect(byEmail.accounts.map(\.userID) == [other])
            #expect(byEmail.accounts.first?.identities.first?.email == "Maria@Example.com")

            try await service.block(other, reason: "abuse")
            let blocked = try await operators.find(.userID(other)).accounts.first
            #expect(blocked?.block.reason == "abuse" && blocked?.block.sinceMs == service.clock.nowMilliseconds)
            #expect(blocked?.liveSessions == 0)
        }
    }

    @Test func `A search is audited with its kind, without the searched text`() async throws {
        try await TestService.run { service in
            let userID = try await signIn(service, subject: "001.person", email: "maria@example.com")
            service.others.tell(userID, name: "Maria", phoneNumber: "+639171234567")
            let operators = service.operators()
            _ = try await operators.find(.userID(userID))
            _ = try await operators.find(.phoneNumber("+639171234567"))
            _ = try await operators.find(.email("maria@example.com"))
            #expect(try await operators.find(.email("nobody@example.com")).accounts.isEmpty)
            #expect(try await operators.find(.phoneNumber("+639170000000")).accounts.isEmpty)
            #expect(try await operators.find(.userID(Self.nobody)).accounts.isEmpty)
            #expect(!(try await service.words("SELECT details::text FROM security_events").joined().contains("maria")))
            let told = ["user_id", "phone_number", "email", "email", "phone_number", "user_id"]
            #expect(
                try await service.events("account_found").sorted()
                    == told.map { #"account_found {"by": "\#($0)", \#(Self.details)}"# }.sorted()
            )
            let about = "SELECT coalesce(user_id::text, '') FROM security_events WHERE kind = 'account_found'"
            #expect(try await service.words(about).sorted() == ["", "", "", userID, userID, userID])
        }
    }

    @Test func `Of many with one e-mail sixteen are returned, each of them audited`() async throws {
        try await TestService.run { service in
            for number in 0..<18 {
                _ = try await signIn(service, subject: "\(number).person", email: "all@example.com")
                service.clock.advance(seconds: 1)
            }
            let found = try await service.operators().find(.email("all@example.com"))
            #expect(found.accounts.map { $0.identities[0].subject } == (0..<16).map { "\($0).person" })
            #expect(found.isIncomplete)
            #expect(try await service.events("account_found").count >= 16)
        }
    }

    @Test func `An input that can't be a name of anybody is refused`() async throws {
        try await TestService.run { service in
            let operators = service.operators()
            await expectFailure(.invalidArgument, "ACCOUNT_UNNAMED") { _ = try await operators.find(nil) }
            await expectFailure(.invalidArgument, "ACCOUNT_UNNAMED") { _ = try await operators.release(nil) }
            await expectFailure(.invalidArgument, "EMAIL_INVALID") { _ = try await operators.find(.email("maria")) }
            await expectFailure(.invalidArgument, "PHONE_INVALID") { _ = try await operators.find(.phoneNumber("1")) }
            await expectFailure(.invalidArgument, "USER_ID_INVALID") { _ = try await operators.find(.userID("me")) }
            await expectFailure(.invalidArgument, "USER_ID_INVALID") { _ = try await operators.block("me") }
            await expectFailure(.notFound, "ACCOUNT_NOT_FOUND") { _ = try await operators.endSessions(Self.nobody) }
            let told = try await service.count("security_events")
            #expect(told == 0)
        }
    }

    @Test func `While profile is down accounts are found by id and e-mail, and blocked`() async throws {
        try await TestService.run { service in
            let userID = try await signIn(service, subject: "001.person", email: "maria@example.com")
            service.others.tell(userID, name: "Maria", phoneNumber: "+639171234567")
            service.others.fail("profile", .unavailable)
            let operators = service.operators()
            for key in [OperatorV1.FindAccountRequest.OneOf_By.userID(userID), .email("maria@example.com")] {
                let account = try await operators.find(key).accounts.first
                #expect(account?.userID == userID && account?.hasProfile == false)
            }
            await expectFailure(.unavailable, "PROFILE_UNAVAILABLE") {
                _ = try await operators.find(.phoneNumber("+639171234567"))
            }
            _ = try await operators.block(userID)
        }
    }

    @Test func `An operator ends an account's sessions, and the user can sign in again`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signInAnew()
            _ = try await service.signInAnew()
            #expect(try await service.operators().endSessions(tokens.userID).endedSessions == 2)
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.check(tokens.accessToken) }
            #expect(try await service.signInAnew().userID == tokens.userID)
            let told = try await service.events("sessions_ended_everywhere")
            #expect(told == [#"sessions_ended_everywhere {"by": "operator", \#(Self.details), "sessions": 2}"#])
        }
    }

    @Test func `A number is released from its account, after the audit event`() async throws {
        try await TestService.run { service in
            let userID = try await service.signInAnew().userID
            let operators = service.operators()
            service.others.tell(userID, name: "Maria", phoneNumber: "+639171234567")
            let released = try await operators.release(.phoneNumber("+639171234567"))
            #expect(released.userID == userID && released.phoneNumber == "+639171234567")
            #expect(try await service.events("phone_released") == ["phone_released {\(Self.details)}"])
            // Again: no account has it.
            #expect(try await operators.release(.phoneNumber("+639171234567")) == .init())
            #expect(service.others.released == [userID])
            #expect(try await operators.release(.userID(userID)) == .init())
            #expect(service.others.released == [userID, userID])

            service.others.fail("profile", .unavailable)
            await expectFailure(.unavailable, "PROFILE_UNAVAILABLE") {
                _ = try await operators.release(.userID(userID))
            }
            #expect(try await service.events("phone_released").count == 3, "audited before the request to profile")
            // If the audit event can't be written nothing is done.
            service.others.fail("profile", nil)
            try await service.database.execute(
                "ALTER TABLE security_events ADD CONSTRAINT broken CHECK (false) NOT VALID"
            )
            await #expect(throws: RPCError.self) { _ = try await operators.release(.userID(userID)) }
            #expect(service.others.released == [userID, userID])
        }
    }

    @Test func `The audit log is read in pages, newest first, also after a deletion`() async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            for _ in 0..<4 {
                service.pass(seconds: 1)
                _ = try await service.signInAnew()
            }
            _ = try await service.signInAnew(subject: "002.person")
            service.pass(seconds: 1)
            try await service.remove(session.userID)
            service.pass(seconds: 1)
            let operators = service.operators()
            var events: [OperatorV1.SecurityEvent] = []
            var token = ""
            repeat {
                let page = try await operators.events(session.userID, size: 4, token: token)
                #expect(page.events.count == 4 || page.nextPageToken.isEmpty)
                events += page.events
                token = page.nextPageToken
            } while !token.isEmpty
            #expect(events.filter { $0.kind == "signed_in" }.count == 5)
            #expect(events.filter { $0.kind == "session_ended" }.count == 5)
            #expect(events.filter { $0.kind == "account_deleted" }.map(\.detailsJson) == [#"{"by": "operator"}"#])
            #expect(events.map(\.eventID) == events.map(\.eventID).sorted(by: >))
            #expect(events.map(\.occurredAtMs) == events.map(\.occurredAtMs).sorted(by: >))
            #expect(Set(events.map(\.eventID)).count == 11 && events.count == 11)
            #expect(events.last?.sessionID == session.sessionID)
            let reads = try await service.events("account_found")
            #expect(Set(reads) == [#"account_found {"by": "events", \#(Self.details)}"#] && reads.count == 3)
            #expect(try await operators.events(session.userID).events.count == 14, "50 where nobody says")
            for size: Int32 in [-1, 201] {
                await expectFailure(.invalidArgument, "PAGE_SIZE_INVALID") {
                    _ = try await operators.events(session.userID, size: size)
                }
            }
            let given = try await operators.events(session.userID, size: 1).nextPageToken
            _ = try await operators.events(session.userID, token: given)
            // Neither another account's page token, nor an altered one, nor an event's id, as older tokens were.
            let other = try await service.signIn(subject: "001.other").tokens.userID
            for (userID, token) in [
                (session.userID, "next"), (other, given), (session.userID, String(given.dropLast())),
                (session.userID, "_" + given.dropFirst()), (session.userID, events[0].eventID),
            ] {
                await expectFailure(.invalidArgument, "INVALID_CURSOR") {
                    _ = try await operators.events(userID, token: token)
                }
            }
        }
    }
}
