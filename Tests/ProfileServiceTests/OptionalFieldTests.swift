import API
import Models
import Postgres
import ProfileDomain
import RPC
import ServiceModels
import TestWaits
import Testing

@testable import ProfileService

@Suite(.serialized) struct OptionalFieldTests {
    @Test func `Without required fields no field is missing`() async throws {
        try await ProfileFixture.run(required: RequiredFields([])) { service in
            let profile = try await service.profile(someone())
            #expect(profile.missingFields.isEmpty)
        }
    }

    @Test func `A required username is reported as missing, and can't be removed`() async throws {
        try await ProfileFixture.run(required: RequiredFields([.username, .displayName])) { service in
            let user = someone()
            #expect(try await service.profile(user).missingFields == ["display_name", "username"])
            let named = try await service.update(user, username: "maria")
            #expect(named.missingFields == ["display_name"])
            let error = try await failure { try await service.update(user, username: "") }
            #expect(error.code == .invalidArgument)
            #expect(error.reason == "USERNAME_INVALID")
            #expect(error.fieldViolations.map(\.field) == ["username"])
            #expect(try await service.profile(user).username == "maria")
        }
    }

    @Test func `Optional fields are removed, and the removed phone is an event`() async throws {
        try await ProfileFixture.run(required: RequiredFields([])) { service in
            let user = someone()
            try await service.update(user, displayName: "Maria", phone: phone(1), username: "maria")
            let emptied = try await service.update(user, displayName: "", phone: "", username: "")
            #expect(emptied.displayName.isEmpty && emptied.phoneNumber.isEmpty && emptied.username.isEmpty)
            #expect(try await service.profile(user) == emptied)
            #expect(
                try await service.waitingEvents() == ["claimed \(digits(1)) \(user)", "released \(digits(1)) \(user)"]
            )
            // Removing it again is no change.
            #expect(try await service.update(user, phone: "") == emptied)
            #expect(try await service.waitingEvents().count == 2)
            // Number and name are free for other users, whose claim is an event then.
            let other = someone()
            try await service.update(other, phone: phone(1), username: "maria")
            #expect(try await service.waitingEvents().last == "claimed \(digits(1)) \(other)")
        }
    }

    @Test func `Invites gets a removal of a phone after its claim`() async throws {
        try await ProfileFixture.run(required: RequiredFields([])) { service in
            let user = someone()
            try await service.relaying {
                try await service.update(user, phone: phone(1))
                try await service.update(user, phone: "")
                try await eventually("nothing waits") { try await service.waitingEvents().isEmpty }
            }
            #expect(
                service.invites.told
                    == ["claimed \(digits(1)) \(user)", "released \(digits(1)) \(user)"]
            )
        }
    }

    @Test func `Removing a phone doesn't give attempts back`() async throws {
        let limits = ProfileLimits(claims: TryLimit(triesMax: 2, windowMilliseconds: 86_400_000))
        try await ProfileFixture.run(limits: limits, required: RequiredFields([])) { service in
            let user = someone()
            for number in 1...2 {
                try await service.update(user, phone: phone(number))
                try await service.update(user, phone: "")
            }
            let error = try await failure { try await service.update(user, phone: phone(3)) }
            #expect(error.reason == "TOO_MANY_ATTEMPTS")
        }
    }

    @Test func `A username is free, taken or the user's own, in any case`() async throws {
        try await ProfileFixture.run { service in
            let user = someone()
            #expect(try await service.isFree("Maria"))
            try await service.update(user, username: "maria")
            #expect(try await service.isFree("MARIA") == false)
            #expect(try await service.isFree("maria", for: someone()) == false)
            #expect(try await service.isFree("Maria", for: user))
            try await service.update(user, username: "")
            #expect(try await service.isFree("maria"))
            #expect(try await service.count("SELECT count(*) FROM profiles") == 1)
        }
    }

    @Test func `A reserved username is free only for the user who has it`() async throws {
        try await ProfileFixture.run { service in
            let user = someone()
            for name in ["admin", "Adm1n", "ad_min"] { #expect(try await service.isFree(name, for: user) == false) }
            // It was chosen before it was reserved.
            _ = try await service.database.execute(
                "INSERT INTO usernames (username_key, user_id, claimed_at) VALUES ('admin', \(user.uuid), now())"
            )
            #expect(try await service.isFree("Admin", for: user))
            #expect(try await service.isFree("Admin") == false)
        }
    }

    @Test(arguments: ["", "ab", "a b", "a23456789012345678901", "jos\u{E9}"])
    func `A malformed username is refused as in an update`(text: String) async throws {
        try await ProfileFixture.run(required: RequiredFields([.username])) { service in
            let checked = try await failure { try await service.isFree(text) }
            let updated = try await failure { try await service.update(someone(), username: text) }
            #expect(checked.code == .invalidArgument)
            #expect(checked.reason == "USERNAME_INVALID")
            #expect(checked.fieldViolations == updated.fieldViolations)
            #expect(checked.message == updated.message)
        }
    }
}
