import Models
import ProfileDomain
import Testing

struct ProfileChangeTests {
    @Test func `Fields that weren't given stay`() throws {
        let change = try ProfileChange(displayName: nil, phoneNumber: nil, username: nil, policy: .philippines)
        #expect(change == ProfileChange())
    }

    @Test func `Given fields become values`() throws {
        let change = try ProfileChange(
            displayName: " Maria ",
            phoneNumber: "0917 123 4567",
            username: "Maria_C",
            policy: .philippines
        )
        #expect(change.displayName?.value == "Maria")
        #expect(change.phone?.e164 == "+639171234567")
        #expect(change.username == .set(try Username("Maria_C")))
    }

    @Test func `An empty username asks for its removal`() throws {
        let change = try ProfileChange(displayName: nil, phoneNumber: nil, username: "", policy: .philippines)
        #expect(change.username == .remove)
    }

    @Test func `Required fields can't be emptied`() {
        #expect(
            throws: ProfileFault.invalidFields([.displayName(.tooShort(charactersMin: 2)), .phone(.notANumber)])
        ) { try ProfileChange(displayName: "", phoneNumber: "", username: nil, policy: .philippines) }
    }

    @Test func `All faults are told at once`() throws {
        let fault = try #require(
            throws: ProfileFault.self,
            performing: {
                try ProfileChange(displayName: "x", phoneNumber: "12", username: "no spaces", policy: .philippines)
            }
        )
        guard case .invalidFields(let faults) = fault else {
            Issue.record("\(fault)")
            return
        }
        #expect(faults.map(\.field) == [.displayName, .phoneNumber, .username])
    }
}
