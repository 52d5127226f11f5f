import API
import Models
import Postgres
import ProfileDomain
import RPC
import ServiceKit
import ServiceModels
import SwiftProtobuf
import Testing

@testable import ProfileService

/// The effects of a proof that a number is a user's.
@Suite(.serialized) struct ProvenPhoneTests {
    private let identifiers = IdentifierSource()
    private static let day: Int64 = 86_400_000

    @Test func `A free number is taken, and the user's own is proven from then on`() async throws {
        try await ProfileFixture.run { service in
            let (maria, jose) = (someone(), someone())
            let claimed = try await service.prove(e164(1), of: maria, by: .provider)
            #expect(claimed.outcome == .proven && claimed.takenFromUserID.isEmpty)
            #expect(claimed.profile.phoneNumber == e164(1) && claimed.profile.phoneProven)
            #expect(try await service.profile(maria) == claimed.profile)
            try await service.update(jose, phone: phone(2))
            #expect(try await !service.profile(jose).phoneProven)
            let own = try await service.prove(e164(2), of: jose)
            #expect(own.outcome == .proven && own.profile.phoneProven)
            #expect(
                try await service.toldInFull() == [
                    "claimed 1 \(maria) proven", "claimed 2 \(jose)", "claimed 2 \(jose) proven",
                ],
                "whose members by it may add people from now on"
            )
            #expect(try await service.prove(e164(2), of: jose).outcome == .proven)
            #expect(try await service.toldInFull().count == 3, "a repetition is no event")
            #expect(try await service.count("SELECT count(*) FROM phones WHERE proof = 'assertion'") == 1)
            // The user types another number again.
            let moved = try await service.update(maria, phone: phone(3))
            #expect(!moved.phoneProven)
        }
    }

    @Test func `A typed number is taken from the user who typed it, who gets a notice`() async throws {
        try await ProfileFixture.run { service in
            service.identity.wantedTypes = ["phone.changed", "profile.completed"]
            #expect(await service.parts.events.askOnce())
            let (mallory, jose) = (someone(), someone())
            try await service.update(mallory, displayName: "Mallory", phone: phone(1))
            try await service.update(jose, displayName: "Jose", phone: phone(2))
            let claimed = try await service.prove(e164(1), of: jose)
            #expect(claimed.outcome == .proven && claimed.takenFromUserID == mallory.description)
            #expect(claimed.profile.phoneNumber == e164(1))
            let lost = try await service.profile(mallory)
            #expect(lost.phoneNumber.isEmpty && lost.missingFields == ["phone_number"])
            #expect(lost.phoneTakenAtMs == service.clock.clock.nowMilliseconds)
            #expect(
                try await service.toldInFull() == [
                    "claimed 1 \(mallory)", "claimed 2 \(jose)", "released 2 \(jose)",
                    "claimed 1 \(jose) proven from \(mallory)",
                ]
            )
            let webhooks = "SELECT count(*) FROM work WHERE data ->> 'type' = 'phone.changed'"
            #expect(try await service.count(webhooks) == 4)
            // Typing it again is refused, as the number is in use; another one ends the notice.
            let error = try await failure { try await service.update(mallory, phone: phone(1)) }
            #expect(error.reason == "PHONE_TAKEN")
            #expect(try await service.update(mallory, phone: phone(3)).phoneTakenAtMs == 0)
            #expect(try await service.update(mallory, phone: phone(4)).phoneTakenAtMs == 0)
            // The number that was given up for it is free for a proof, and for typing.
            #expect(try await service.update(someone(), phone: phone(2)).phoneNumber == e164(2))
        }
    }

    @Test func `A claim is applied once, whatever happened since`() async throws {
        try await ProfileFixture.run { service in
            let (mallory, jose, ana) = (someone(), someone(), someone())
            try await service.update(mallory, phone: phone(1))
            let event: EventID = identifiers.make()
            #expect(try await service.prove(e164(1), of: jose, event: event).takenFromUserID == mallory.description)
            try await service.update(jose, phone: phone(2))
            try await service.update(ana, phone: phone(1))
            let again = try await service.prove(e164(1), of: jose, event: event)
            #expect(again.outcome == .proven && again.takenFromUserID == mallory.description)
            #expect(again.profile.phoneNumber == e164(2), "the profile as it is now")
            #expect(try await service.profile(ana).phoneNumber == e164(1))
        }
    }

    @Test func `A user keeps a proven number, and operators have a dispute until it is settled`() async throws {
        try await ProfileFixture.run { service in
            let (maria, jose) = (someone(), someone())
            _ = try await service.prove(e164(1), of: maria)
            service.identity.see(maria, atMilliseconds: service.clock.clock.nowMilliseconds - 179 * Self.day)
            let event: EventID = identifiers.make()
            for _ in 0..<2 {
                let conflict = try await service.prove(e164(1), of: jose, event: event, by: .provider)
                #expect(conflict.outcome == .conflict && conflict.profile.phoneNumber.isEmpty)
            }
            let disputes = try await service.client.listPhoneDisputes(.init()).disputes
            #expect(disputes.count == 1)
            #expect(disputes.first?.phoneNumber == e164(1) && disputes.first?.proof == .provider)
            #expect(disputes.first?.holderUserID == maria.description)
            #expect(disputes.first?.claimantUserID == jose.description)
            let negative = try await failure { try await service.client.listPhoneDisputes(.with { $0.pageSize = -1 }) }
            #expect(negative.reason == "PAGE_SIZE_INVALID")
            // An operator releases it: the dispute waits for the next proof, which settles it.
            _ = try await service.client.releasePhone(.with { $0.userID = maria.description })
            #expect(try await service.client.listPhoneDisputes(.init()).disputes.isEmpty)
            #expect(try await service.prove(e164(1), of: jose).outcome == .proven)
            #expect(try await service.count("SELECT count(*) FROM phone_disputes") == 0)
        }
    }

    @Test func `A user who wasn't seen for long loses a proven number, and one unknown to identity doesn't`()
        async throws
    {
        try await ProfileFixture.run { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            _ = try await service.prove(e164(1), of: maria)
            _ = try await service.prove(e164(2), of: ana)
            service.identity.see(maria, atMilliseconds: service.clock.clock.nowMilliseconds - 180 * Self.day)
            let taken = try await service.prove(e164(1), of: jose)
            #expect(taken.outcome == .proven && taken.takenFromUserID == maria.description)
            #expect(try await service.profile(maria).phoneTakenAtMs > 0)
            #expect(try await service.prove(e164(2), of: jose).outcome == .conflict)
            // If identity can't answer, nothing is decided, and the claim is retried.
            service.identity.failure = .unavailable
            let event: EventID = identifiers.make()
            let error = try await failure { try await service.prove(e164(2), of: maria, event: event) }
            #expect(error.code == .unavailable && error.reason == "HOLDER_UNKNOWN")
            service.identity.failure = nil
            service.identity.close(ana)
            let inherited = try await service.prove(e164(2), of: maria, event: event)
            #expect(inherited.outcome == .proven && inherited.takenFromUserID.isEmpty, "a closed account has nothing")
        }
    }

    @Test func `For an imported number identity decides first whether the proof opens the account`() async throws {
        try await ProfileFixture.run { service in
            let (old, maria, jose) = (someone(), someone(), someone())
            _ = try await service.prove(e164(1), of: old, by: .import)
            let event: EventID = identifiers.make()
            for _ in 0..<2 {
                let opens = try await service.prove(e164(1), of: maria, event: event, mayOpen: true)
                #expect(opens.outcome == .opens && opens.holderUserID == old.description)
                #expect(opens.profile.phoneNumber.isEmpty && opens.takenFromUserID.isEmpty)
            }
            #expect(try await service.profile(old).phoneNumber == e164(1))
            #expect(try await service.count("SELECT count(*) FROM proven_claims") == 1)
            #expect(try await service.client.listPhoneDisputes(.init()).disputes.isEmpty)
            // It couldn't be opened: then it is a dispute, also for further calls with the same event.
            for mayOpen in [false, true] {
                #expect(
                    try await service.prove(e164(1), of: maria, event: event, mayOpen: mayOpen).outcome == .conflict
                )
            }
            #expect(try await service.client.listPhoneDisputes(.init()).disputes.count == 1)
            // The old account's own proof is normal: it opens nothing any more.
            #expect(try await service.prove(e164(1), of: old, by: .provider, mayOpen: true).outcome == .proven)
            #expect(try await service.prove(e164(1), of: jose, mayOpen: true).outcome == .conflict)
        }
    }

    @Test func `A number that was imported long ago opens nothing, and stays with its account`() async throws {
        try await ProfileFixture.run { service in
            let (old, maria) = (someone(), someone())
            _ = try await service.prove(e164(1), of: old, by: .import)
            service.clock.advance(milliseconds: 180 * Self.day - 1)
            #expect(try await service.prove(e164(1), of: maria, mayOpen: true).outcome == .opens)
            service.clock.advance(milliseconds: 1)
            #expect(try await service.prove(e164(1), of: maria, mayOpen: true).outcome == .conflict)
            #expect(try await service.profile(old).phoneNumber == e164(1))
        }
    }

    @Test func `A number that isn't allowed is dropped, and malformed requests are refused`() async throws {
        try await ProfileFixture.run { service in
            let maria = someone()
            for text in ["+14155552671", "+63281234567", "nonsense", ""] {
                let dropped = try await service.prove(text, of: maria)
                #expect(dropped.outcome == .notAllowed && dropped.profile.phoneNumber.isEmpty, "\(text)")
            }
            let unknown = try await failure { try await service.prove(e164(1), of: maria, by: .unspecified) }
            #expect(unknown.reason == "PROOF_UNKNOWN")
            let noEvent = try await failure {
                try await service.client.claimProvenPhone(
                    .with { ($0.userID, $0.phoneNumber, $0.proof) = (maria.description, e164(1), .provider) }
                )
            }
            #expect(noEvent.reason == "EVENT_ID_INVALID")
            #expect(try await service.toldInFull().isEmpty)
        }
    }

    @Test func `A proof is not limited, and needs no waiting time`() async throws {
        let limits = ProfileLimits(
            tries: TryLimit(triesMax: 1),
            claims: TryLimit(triesMax: 1, windowMilliseconds: Self.day),
            coolDownMilliseconds: Self.day
        )
        try await ProfileFixture.run(limits: limits) { service in
            let (maria, jose) = (someone(), someone())
            for number in 1...3 { #expect(try await service.prove(e164(number), of: maria).outcome == .proven) }
            try await service.update(jose, phone: phone(4))
            let error = try await failure { try await service.update(jose, phone: "") }
            #expect(error.reason == "PHONE_INVALID", "a required number is replaced, not emptied")
            #expect(try await service.prove(e164(4), of: maria).takenFromUserID == jose.description)
        }
    }

    @Test func `A number that was given up waits for a day, except for its last user and for a proof`() async throws {
        let limits = ProfileLimits(coolDownMilliseconds: Self.day)
        try await ProfileFixture.run(limits: limits) { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            try await service.update(maria, phone: phone(1))
            try await service.update(maria, phone: phone(2))
            let error = try await failure { try await service.update(jose, phone: phone(1)) }
            #expect(error.code == .alreadyExists && error.reason == "PHONE_TAKEN", "as of any number that somebody has")
            #expect(try await service.count("SELECT phone_tries FROM profiles WHERE user_id = '\(jose)'") == 1)
            // Its last user may take it back; then the other one waits.
            try await service.update(maria, phone: phone(1))
            #expect(try await failure { try await service.update(jose, phone: phone(2)) }.reason == "PHONE_TAKEN")
            #expect(try await service.prove(e164(2), of: ana).outcome == .proven)
            try await service.update(maria, phone: phone(3))
            service.clock.advance(milliseconds: Self.day - 1)
            #expect(try await failure { try await service.update(jose, phone: phone(1)) }.reason == "PHONE_TAKEN")
            service.clock.advance(milliseconds: 1)
            try await service.update(jose, phone: phone(1))
            #expect(try await service.profile(jose).phoneNumber == e164(1))
        }
    }

    @Test func `A release by an operator or by deletion has no waiting time`() async throws {
        let limits = ProfileLimits(coolDownMilliseconds: Self.day)
        try await ProfileFixture.run(limits: limits) { service in
            let (maria, jose, ana) = (someone(), someone(), someone())
            try await service.update(maria, phone: phone(1))
            try await service.update(maria, phone: phone(2))
            try await service.update(maria, phone: phone(1))
            _ = try await service.client.releasePhone(.with { $0.userID = maria.description })
            try await service.update(jose, phone: phone(1))
            #expect(try await failure { try await service.update(ana, phone: phone(2)) }.reason == "PHONE_TAKEN")
            // The account is closed, and this service has no event of it: it asks identity.
            service.identity.close(maria)
            try await service.update(ana, phone: phone(2))
        }
    }

    @Test func `Taking a number and giving it up again is counted each time`() async throws {
        let limits = ProfileLimits(claims: TryLimit(triesMax: 4, windowMilliseconds: Self.day), coolDownMilliseconds: 0)
        try await ProfileFixture.run(limits: limits, required: RequiredFields([])) { service in
            let maria = someone()
            for _ in 0..<4 {
                try await service.update(maria, phone: phone(1))
                try await service.update(maria, phone: "")
            }
            let error = try await failure { try await service.update(maria, phone: phone(1)) }
            #expect(error.reason == "TOO_MANY_ATTEMPTS")
        }
    }

    @Test func `A closed account leaves nothing`() async throws {
        let limits = ProfileLimits(coolDownMilliseconds: Self.day)
        try await ProfileFixture.run(limits: limits) { service in
            let (maria, jose) = (someone(), someone())
            try await service.update(maria, phone: phone(1))
            try await service.update(maria, phone: phone(2))
            _ = try await service.prove(e164(2), of: jose)
            _ = try await service.prove(e164(3), of: maria)
            service.identity.see(jose, atMilliseconds: service.clock.clock.nowMilliseconds)
            _ = try await service.prove(e164(2), of: maria)
            #expect(try await service.count("SELECT count(*) FROM phone_disputes") == 1)
            _ = try await service.client.closeAccount(.with { $0.userID = maria.description })
            for table in ["phones", "profiles", "proven_claims", "phone_cool_downs"] {
                #expect(
                    try await service.count("SELECT count(*) FROM \(table) WHERE user_id = '\(maria)'") == 0,
                    "\(table)"
                )
            }
            #expect(try await service.count("SELECT count(*) FROM phone_disputes") == 0)
            #expect(try await service.count("SELECT count(*) FROM proven_claims WHERE taken_from IS NOT NULL") == 0)
            let late = try await failure { try await service.prove(e164(3), of: maria) }
            #expect(late.reason == "SESSION_REVOKED")
        }
    }

    @Test(arguments: 1...4)
    func `Concurrent saves, proofs and releases leave each number with one user, who is in the last event`(
        seed: Int
    ) async throws {
        try await ProfileFixture.run { service in
            let users = (0..<4).map { _ in someone() }
            try await withThrowingTaskGroup { tasks in
                for index in 0..<60 {
                    let user = users[(index * 7 + seed) % 4]
                    let number = (index * 5 + seed) % 3
                    tasks.addTask {
                        do throws(RPCError) {
                            switch (index + seed) % 3 {
                            case 0: _ = try await service.update(user, phone: phone(number))
                            case 1: _ = try await service.prove(e164(number), of: user)
                            default:
                                let request = ProfileV1.ReleasePhoneRequest.with { $0.userID = user.description }
                                _ = try await service.client.releasePhone(request)
                            }
                        } catch {
                            #expect(["PHONE_TAKEN", "TOO_MANY_ATTEMPTS"].contains(error.reason), "\(error)")
                        }
                    }
                }
                try await tasks.waitForAll()
            }
            let differing = """
                SELECT count(*) FROM profiles FULL JOIN phones USING (user_id)
                WHERE profiles.phone IS DISTINCT FROM phones.phone
                    OR (phones.proven_at IS NOT NULL) <> (profiles.proven_phone IS NOT NULL)
                """
            #expect(try await service.count(differing) == 0)
            // The events of each number, in order, follow its users: each is of the user who had it, or of nobody. A proof also
            // takes it from a user who gave it up.
            var owners: [String: String] = [:]
            for line in try await service.toldInFull() {
                let words = line.split(separator: " ").map(String.init)
                let (kind, number, user) = (words[0], words[1], words[2])
                if kind == "released" {
                    #expect(owners[number] == user, "\(line)")
                    owners[number] = nil
                } else {
                    let loser = words.count > 4 ? words[5] : nil
                    let owner = owners[number]
                    #expect(owner == loser || (loser != nil && (owner == nil || owner == user)), "\(line)")
                    owners[number] = user
                }
            }
            let held = try await service.count("SELECT count(*) FROM phones")
            #expect(Int64(owners.count) == held)
            for (number, user) in owners {
                let sql = "SELECT count(*) FROM phones WHERE right(phone, 1) = '\(number)' AND user_id = '\(user)'"
                #expect(try await service.count(sql) == 1)
            }
        }
    }
}
