import InvitesDomain
import Models
import Testing

struct RequestTests {
    @Test func `A new group needs a name and takes its creator's if given`() throws {
        let group = try NewGroup(name: " Hikers ", ownerDisplayName: "")
        #expect(group.name.value == "Hikers")
        #expect(group.ownerDisplayName == nil)
        #expect(try NewGroup(name: "Hikers", ownerDisplayName: "Maria").ownerDisplayName?.value == "Maria")
        #expect(
            throws: InvitesError.invalidFields([
                .groupName(.tooShort(charactersMin: 1)),
                .displayName(.tooLong(charactersMax: 50), field: "owner_display_name"),
            ])
        ) { try NewGroup(name: "", ownerDisplayName: String(repeating: "M", count: 51)) }
    }

    @Test func `An invitee needs a number and a name`() throws {
        let invitee = try Invitee(phoneNumber: "0917 123 4567", displayName: "Jose", policy: .philippines)
        #expect(invitee.phone.digits == "639171234567")
        for name in ["李", "J", " Ô ", "👩‍👩‍👧"] {
            #expect((try? Invitee(phoneNumber: "09171234567", displayName: name, policy: .philippines)) != nil)
        }
        #expect(
            throws: InvitesError.invalidFields([
                .phone(.notANumber), .displayName(.tooShort(charactersMin: 1), field: "display_name"),
            ])
        ) { try Invitee(phoneNumber: "", displayName: "", policy: .philippines) }
    }
}
