import API
import Models
import ProfileDomain
import RPC
import ServiceKit
import SwiftProtobuf
import Testing

@testable import ProfileService

/// A proof delivered after its user has chosen another number: profile was down when it was accepted.
@Suite(.serialized) struct LateProofTests {
    private let identifiers = IdentifierSource()

    @Test func `A number that was saved after another one's proof was accepted stays`() async throws {
        try await ProfileFixture.run { service in
            let (maria, jose) = (someone(), someone())
            try await service.update(maria, phone: phone(1))
            let accepted = service.clock.clock.nowMilliseconds + 1
            service.clock.advance(milliseconds: 2)
            let saved = try await service.update(maria, phone: phone(2))
            let event: EventID = identifiers.make()
            for _ in 0..<2 {
                let late = try await service.prove(e164(1), of: maria, event: event, outdatedAfter: accepted)
                #expect(late.outcome == .outdated && late.profile == saved)
            }
            // The former number had been proven: its next user doesn't lose it to this user, and a later proof takes no places from
            // this user.
            let proven = try await service.prove(e164(1), of: jose)
            #expect(proven.outcome == .proven && proven.takenFromUserID.isEmpty)
            #expect(
                try await service.toldInFull() == [
                    "claimed 1 \(maria)", "released 1 \(maria)", "claimed 2 \(maria)", "claimed 1 \(jose) proven",
                ]
            )
            // It is decided once, also if it is delivered again without that time.
            #expect(try await service.prove(e164(1), of: maria, event: event).outcome == .outdated)
        }
    }

    @Test(arguments: [Int64.min, -1, .max])
    func `An impossible age doesn't fail the call`(age: Int64) async throws {
        try await ProfileFixture.run { service in
            let maria = someone()
            try await service.update(maria, phone: phone(1))
            var request = ProfileV1.ClaimProvenPhoneRequest()
            (request.userID, request.phoneNumber, request.proof) = (maria.description, e164(2), .assertion)
            (request.eventID, request.acceptedForMs) = (identifiers.make(EventID.self).description, age)
            let outcome = try await service.client.claimProvenPhone(request).outcome
            #expect(outcome == .outdated)
        }
    }

    @Test func `An outdated proof takes its number from nobody, and disputes or opens nothing`() async throws {
        try await ProfileFixture.run { service in
            let (maria, jose, ana, old) = (someone(), someone(), someone(), someone())
            let accepted = service.clock.clock.nowMilliseconds
            service.clock.advance(milliseconds: 1)
            try await service.update(maria, phone: phone(9))
            try await service.update(jose, phone: phone(1))
            _ = try await service.prove(e164(2), of: ana)
            _ = try await service.prove(e164(3), of: old, by: .import)
            for number in 1...3 {
                let late = try await service.prove(e164(number), of: maria, mayOpen: true, outdatedAfter: accepted)
                #expect(late.outcome == .outdated && late.profile.phoneNumber == e164(9))
            }
            #expect(try await service.profile(jose).phoneNumber == e164(1))
            #expect(try await service.client.listPhoneDisputes(.init()).disputes.isEmpty)
        }
    }

    @Test func `An earlier proof doesn't restore a number that was removed or released`() async throws {
        try await ProfileFixture.run(required: RequiredFields([])) { service in
            let (maria, jose) = (someone(), someone())
            try await service.update(maria, phone: phone(1))
            _ = try await service.prove(e164(2), of: jose)
            let accepted = service.clock.clock.nowMilliseconds
            service.clock.advance(milliseconds: 1)
            try await service.update(maria, phone: "")
            _ = try await service.client.releasePhone(.with { $0.userID = jose.description })
            #expect(try await service.prove(e164(1), of: maria, outdatedAfter: accepted).outcome == .outdated)
            #expect(try await service.prove(e164(2), of: jose, outdatedAfter: accepted).outcome == .outdated)
            #expect(try await service.count("SELECT count(*) FROM phones") == 0)
        }
    }

    @Test func `A proof counts if its user chose nothing since, chose that number, or lost theirs`() async throws {
        try await ProfileFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            try await service.update(maria, phone: phone(1))
            service.clock.advance(milliseconds: 1)
            let accepted = service.clock.clock.nowMilliseconds
            try await service.update(maria, displayName: "Maria Santos")
            #expect(try await service.prove(e164(2), of: maria, outdatedAfter: accepted).outcome == .proven)
            try await service.update(jose, phone: phone(3))
            let own = try await service.prove(e164(3), of: jose, outdatedAfter: accepted)
            #expect(own.outcome == .proven && own.profile.phoneProven)
            // A number lost to another user's proof is not a choice.
            try await service.update(ana, phone: phone(4))
            service.clock.advance(milliseconds: 1)
            let later = service.clock.clock.nowMilliseconds
            #expect(
                try await service.prove(e164(4), of: maria, outdatedAfter: later).takenFromUserID == ana.description
            )
            #expect(try await service.prove(e164(5), of: ana, outdatedAfter: later).outcome == .proven)
        }
    }
}
