import API
import Models
import ProfileDomain
import RPC
import Testing

@testable import ProfileService

@Suite(.serialized) struct ProfileMethodsTests {
    @Test func `A user who saved nothing has an empty profile`() async throws {
        try await ProfileFixture.run { service in
            let user = someone()
            let profile = try await service.profile(user)
            #expect(profile.userID == user.description)
            #expect(profile.missingFields == ["display_name", "phone_number"])
            #expect(profile.displayName.isEmpty && profile.phoneNumber.isEmpty && profile.username.isEmpty)
            #expect(profile.updatedAtMs == 0)
            #expect(try await service.count("SELECT count(*) FROM profiles") == 0)
        }
    }

    @Test func `A saved profile is returned`() async throws {
        try await ProfileFixture.run { service in
            let user = someone()
            let saved = try await service.update(
                user,
                displayName: " Maria Clara ",
                phone: "+63 917 123 4567",
                username: "Maria_C"
            )
            #expect(saved.displayName == "Maria Clara")
            #expect(saved.phoneNumber == "+639171234567")
            #expect(saved.username == "Maria_C")
            #expect(saved.missingFields.isEmpty)
            #expect(saved.updatedAtMs == service.clock.clock.nowMilliseconds)
            #expect(try await service.profile(user) == saved)
        }
    }

    @Test func `A field that isn't in the request stays`() async throws {
        try await ProfileFixture.run { service in
            let user = someone()
            try await service.update(user, phone: phone(1), username: "maria")
            let named = try await service.update(user, displayName: "Maria")
            #expect(named.phoneNumber == "+" + digits(1))
            #expect(named.username == "maria")
            #expect(named.missingFields.isEmpty)
            let nameless = try await service.update(user, username: "")
            #expect(nameless.username.isEmpty)
            #expect(nameless.displayName == "Maria")
        }
    }

    @Test func `All invalid fields are reported together`() async throws {
        try await ProfileFixture.run { service in
            let user = someone()
            let error = try await failure {
                try await service.update(user, displayName: "M", phone: "12", username: "no spaces")
            }
            #expect(error.code == .invalidArgument)
            #expect(error.reason == "DISPLAY_NAME_INVALID")
            #expect(error.fieldViolations.map(\.field) == ["display_name", "phone_number", "username"])
            #expect(
                error.fieldViolations.map(\.reason) == ["DISPLAY_NAME_INVALID", "PHONE_INVALID", "USERNAME_INVALID"]
            )
            #expect(error.fieldViolations.allSatisfy { $0.description.hasSuffix(".") })
            #expect(try await service.profile(user).updatedAtMs == 0)
        }
    }

    @Test(arguments: [
        ("", "PHONE_INVALID"), ("not a phone", "PHONE_INVALID"), ("0917123456", "PHONE_INVALID"),
        ("(02) 8123 4567", "PHONE_NOT_ALLOWED"), ("+14155552671", "PHONE_NOT_ALLOWED"),
    ])
    func `An invalid phone is reported with field and reason`(text: String, reason: String) async throws {
        try await ProfileFixture.run { service in
            let error = try await failure { try await service.update(someone(), phone: text) }
            #expect(error.code == .invalidArgument)
            #expect(error.reason == reason)
            #expect(error.fieldViolations.map(\.field) == ["phone_number"])
            #expect(error.fieldViolations.map(\.reason) == [reason])
        }
    }

    @Test func `Services can look up any user, by a valid id`() async throws {
        try await ProfileFixture.run { service in
            let user = someone()
            let saved = try await service.update(user, displayName: "Maria")
            var request = ProfileV1.LookUpProfileRequest()
            request.userID = user.description
            #expect(try await service.client.lookUpProfile(request).profile == saved)
            request.userID = "me"
            let error = try await failure { try await service.client.lookUpProfile(request) }
            #expect(error.code == .invalidArgument)
            #expect(error.reason == "USER_ID_INVALID")
        }
    }

    @Test func `A taken phone is refused with the message that users see`() async throws {
        try await ProfileFixture.run { service in
            let first = someone()
            let second = someone()
            try await service.update(first, phone: phone(1))
            // In another notation, and with other fields, which aren't saved then either.
            let error = try await failure {
                try await service.update(second, displayName: "Jose", phone: "00\(digits(1))")
            }
            #expect(error.code == .alreadyExists)
            #expect(error.reason == "PHONE_TAKEN")
            #expect(error.message == "This phone number is already associated with another account.")
            #expect(error.fieldViolations.map(\.field) == ["phone_number"])
            #expect(try await service.profile(second).displayName.isEmpty)
            #expect(try await service.profile(first).phoneNumber == "+" + digits(1))
            #expect(try await service.waitingEvents() == ["claimed \(digits(1)) \(first)"])
        }
    }

    @Test func `Saving the same again changes nothing and writes no event`() async throws {
        try await ProfileFixture.run { service in
            let user = someone()
            let saved = try await service.update(user, displayName: "Maria", phone: phone(1), username: "maria")
            service.clock.advance(milliseconds: 5_000)
            let again = try await service.update(
                user,
                displayName: "Maria",
                phone: "63" + phone(1).dropFirst(),
                username: "maria"
            )
            #expect(again == saved)
            #expect(try await service.waitingEvents().count == 1)
        }
    }

    @Test func `Another phone frees the old one for others`() async throws {
        try await ProfileFixture.run { service in
            let first = someone()
            let second = someone()
            try await service.update(first, phone: phone(1))
            try await service.update(first, phone: phone(2))
            try await service.update(second, phone: phone(1))
            #expect(
                try await service.waitingEvents() == [
                    "claimed \(digits(1)) \(first)", "released \(digits(1)) \(first)",
                    "claimed \(digits(2)) \(first)", "claimed \(digits(1)) \(second)",
                ]
            )
            #expect(try await service.count("SELECT count(*) FROM phones") == 2)
        }
    }

    @Test func `Usernames are unique without regard to case`() async throws {
        try await ProfileFixture.run { service in
            let first = someone()
            let second = someone()
            try await service.update(first, username: "Maria")
            let error = try await failure { try await service.update(second, username: "mARIA") }
            #expect(error.code == .alreadyExists)
            #expect(error.reason == "USERNAME_TAKEN")
            #expect(error.fieldViolations.map(\.field) == ["username"])
            // The owner may change its case, and give it up.
            #expect(try await service.update(first, username: "maria").username == "maria")
            try await service.update(first, username: "clara")
            #expect(try await service.update(second, username: "MARIA").username == "MARIA")
        }
    }

    @Test func `A taken username rolls back the phone saved with it`() async throws {
        try await ProfileFixture.run { service in
            let first = someone()
            let second = someone()
            try await service.update(first, username: "maria")
            let error = try await failure {
                try await service.update(second, phone: phone(1), username: "maria")
            }
            #expect(error.reason == "USERNAME_TAKEN")
            #expect(try await service.count("SELECT count(*) FROM phones") == 0)
            #expect(try await service.waitingEvents().isEmpty)
            #expect(try await service.update(first, phone: phone(1)).phoneNumber == "+" + digits(1))
        }
    }

    @Test func `Attempts to take others' numbers are limited`() async throws {
        try await ProfileFixture.run(tryLimit: TryLimit(triesMax: 3, windowMilliseconds: 60_000)) { service in
            let owner = someone()
            let guesser = someone()
            try await service.update(owner, phone: phone(1))
            for _ in 0..<3 {
                let error = try await failure { try await service.update(guesser, phone: phone(1)) }
                #expect(error.reason == "PHONE_TAKEN")
                service.clock.advance(milliseconds: 1_000)
            }
            // Also for a free number, or the answer would reveal that it is free.
            for number in [1, 2] {
                let error = try await failure { try await service.update(guesser, phone: phone(number)) }
                #expect(error.code == .resourceExhausted)
                #expect(error.reason == "TOO_MANY_ATTEMPTS")
                #expect(error.retryAfter == .milliseconds(57_000))
            }
            // Other fields can be saved, and other users aren't limited.
            #expect(try await service.update(guesser, displayName: "Jose").displayName == "Jose")
            let other = try await failure { try await service.update(someone(), phone: phone(1)) }
            #expect(other.reason == "PHONE_TAKEN")
            service.clock.advance(milliseconds: 57_000)
            #expect(try await service.update(guesser, phone: phone(2)).phoneNumber == "+" + digits(2))
        }
    }

    @Test func `An invalid number isn't counted as an attempt`() async throws {
        try await ProfileFixture.run(tryLimit: TryLimit(triesMax: 1, windowMilliseconds: 60_000)) { service in
            let user = someone()
            for _ in 0..<3 {
                let error = try await failure { try await service.update(user, phone: "12") }
                #expect(error.reason == "PHONE_INVALID")
            }
            #expect(try await service.update(user, phone: phone(1)).phoneNumber == "+" + digits(1))
        }
    }
}
