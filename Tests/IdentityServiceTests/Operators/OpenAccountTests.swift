import API
import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels
import Testing

@testable import IdentityService

/// An operator opens an imported account for somebody.
struct OpenAccountTests {
    private static let nobody = "00000000-0000-4000-8000-000000000000"

    @Test func `An operator opens it whatever the number, and asking again is as good`() async throws {
        try await ImportedPerson.run { person in
            let service = person.service
            // One that a nonce hasn't proven: the operator knows the person.
            let tokens = try await service.signInAnew()
            try await service.database.execute("UPDATE sessions SET proof = 'fresh'")
            let operators = service.operators()
            let told = try await operators.open(person.old, for: tokens.userID, validateOnly: true)
            #expect(told.providers == ["apple"] && !told.wasOpen)
            #expect(try await service.count("accounts") == 2)
            #expect(try await person.openings().isEmpty)
            let done = try await operators.open(person.old, for: tokens.userID)
            #expect(done.providers == ["apple"] && !done.wasOpen)
            try await person.expectOpen()
            await expectFailure(.unauthenticated, "SESSION_INVALID") { _ = try await service.check(tokens.accessToken) }
            #expect(try await service.signInAnew().userID == person.old)
            for isOnly in [true, false] {
                let again = try await operators.open(person.old, for: tokens.userID, validateOnly: isOnly)
                #expect(again.providers == ["apple"] && again.wasOpen)
            }
            let name = #""operator": "\#(TestService.operatorName)""#
            #expect(
                try await person.openings() == [
                    #"account_opening \#(person.old) {"by": "operator", "absorbed": "\#(tokens.userID)", \#(name)}"#,
                    #"account_opened \#(person.old) {"by": "operator", "absorbed": "\#(tokens.userID)", \#(name), "providers": ["apple"]}"#,
                ]
            )
            #expect(try await service.events("account_found").allSatisfy { $0.contains(#""by": "open""#) })
        }
    }

    @Test func `An account that can't be opened is refused, and nothing changes`() async throws {
        try await ImportedPerson.run { person in
            let service = person.service
            let tokens = try await service.signInAnew()
            let (old, own) = (person.old, tokens.userID)
            func refused(
                _ code: Status.Code,
                _ reason: String,
                _ holder: String,
                _ claimant: String,
                judged: Bool = true
            ) async {
                for isOnly in judged ? [true, false] : [false] {
                    await expectFailure(code, reason) {
                        _ = try await service.operators().open(holder, for: claimant, validateOnly: isOnly)
                    }
                }
            }
            await refused(.notFound, "ACCOUNT_NOT_FOUND", Self.nobody, own)
            await refused(.notFound, "ACCOUNT_NOT_FOUND", old, Self.nobody)
            await refused(.failedPrecondition, "ACCOUNT_NOT_OPENABLE", own, old)
            await refused(.failedPrecondition, "ACCOUNT_NOT_OPENABLE", old, old)
            await refused(.invalidArgument, "USER_ID_INVALID", "me", own)
            let second = try await service.importAccount("1002")
            await refused(.failedPrecondition, "ACCOUNT_NOT_ABSORBABLE", old, second)
            // Whether it is empty turns out when it is done.
            for known in ["number", "group"] {
                _ = service.others.absorptions {
                    ($0.withNumber, $0.inGroup) = (known == "number" ? [own] : [], known == "group" ? [own] : [])
                }
                await refused(.failedPrecondition, "ACCOUNT_NOT_ABSORBABLE", old, own, judged: false)
                #expect(service.others.absorptions().held.isEmpty)
            }
            try await service.block(old)
            await refused(.permissionDenied, "ACCOUNT_BLOCKED", old, own)
            try await service.unblock(old)
            try await service.block(own)
            await refused(.permissionDenied, "ACCOUNT_BLOCKED", old, own)
            #expect(try await service.count("accounts") == 3)
            #expect(try await service.identities() == ["apple 001.person \(own)"])
            #expect(try await person.openings().allSatisfy { $0.hasPrefix("account_opening") })
            try await person.expectNothingUnderWay()
        }
    }

    @Test func `An interrupted opening must be requested again`() async throws {
        try await ImportedPerson.run { person in
            let service = person.service
            let own = try await service.signInAnew().userID
            _ = service.others.absorptions { $0.lost = ["after profile.closeIfEmpty"] }
            for _ in 0..<2 {
                await expectFailure(.unavailable, "ACCOUNT_HELD") {
                    _ = try await service.operators().open(person.old, for: own)
                }
            }
            service.pass(seconds: 11)
            await service.parts.methods.absorber.round()
            #expect(try await service.operators().open(person.old, for: own).wasOpen)
            try await person.expectOpen()
        }
    }
}
