import Models
import ProfileDomain
import Testing

struct ProfileChangeTests {
    private func change(
        displayName: String? = nil,
        phoneNumber: String? = nil,
        username: String? = nil,
        required: RequiredFields = .standard
    ) throws(ProfileError) -> ProfileChange {
        try ProfileChange(
            displayName: displayName,
            phoneNumber: phoneNumber,
            username: username,
            policy: .philippines,
            required: required
        )
    }

    @Test func `Absent fields stay`() throws {
        let change = try change()
        #expect(change == ProfileChange())
    }

    @Test func `Given fields become values`() throws {
        let change = try change(displayName: " Maria ", phoneNumber: "0917 123 4567", username: "Maria_C")
        #expect(change.displayName == .set(try DisplayName("Maria")))
        #expect(change.phone == .set(try PhoneNumber("+639171234567", policy: .philippines)))
        #expect(change.username == .set(try Username("Maria_C")))
    }

    @Test func `An empty username removes it`() throws {
        let change = try change(username: "")
        #expect(change.username == .remove)
    }

    @Test func `Required fields can't be emptied`() {
        #expect(
            throws: ProfileError.invalidFields([.displayName(.tooShort(charactersMin: 2)), .phone(.notANumber)])
        ) { try change(displayName: "", phoneNumber: "") }
    }

    @Test func `An empty field removes an optional value, and does nothing for a required one`() throws {
        let none = try change(displayName: "", phoneNumber: "", username: "", required: RequiredFields([]))
        #expect(none == ProfileChange(displayName: .remove, phone: .remove, username: .remove))
        #expect(throws: ProfileError.invalidFields([.username(.tooShort)])) {
            try change(displayName: "", username: "", required: RequiredFields([.username]))
        }
        // Spaces are not an empty field, but not a name either.
        #expect(throws: ProfileError.invalidFields([.displayName(.tooShort(charactersMin: 2)), .phone(.notANumber)])) {
            try change(displayName: "  ", phoneNumber: " ", required: RequiredFields([]))
        }
    }

    @Test func `All errors are reported together`() throws {
        let fault = try #require(
            throws: ProfileError.self,
            performing: {
                try change(displayName: "x", phoneNumber: "12", username: "no spaces")
            }
        )
        guard case .invalidFields(let faults) = fault else {
            Issue.record("\(fault)")
            return
        }
        #expect(faults.map(\.field) == ["display_name", "phone_number", "username"])
    }
}
