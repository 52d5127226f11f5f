import Foundation
import InvitesDomain
import Models
import Testing

/// The table of permissions, in the code and on the page.
struct GroupPolicyTests {
    /// The rows of the page's table, in its words.
    private static let rows: [(words: String, actions: [GroupAction])] = [
        ("see the members and who is awaited", [.seeMembers]),
        ("see a person's phone number", [.seePhone(addedByCaller: false), .seePhone(addedByCaller: true)]),
        ("add people", [.addMember]),
        ("take back that a person is awaited", [.revoke(addedByCaller: false), .revoke(addedByCaller: true)]),
        ("confirm a person, or keep one in doubt", [.confirm(addedByCaller: false), .confirm(addedByCaller: true)]),
        ("remove the owner", [.remove(.owner)]),
        ("remove an admin", [.remove(.admin)]),
        ("remove a plain member", [.remove(.member)]),
        ("rename the group", [.rename]),
        ("make, list and revoke links", [.manageLinks]),
        ("change the openness", [.changeOpenness]),
        ("make admins, and members of admins", [.changeRoles]),
        ("hand the group over", [.handOver]),
        ("delete the group", [.delete]),
    ]

    /// The page's column of a role: for each kind of an action whether it is allowed.
    private static func cell(_ role: GroupRole, _ actions: [GroupAction]) -> String {
        switch actions.map({ GroupPolicy.may(role, $0) }) {
        case let all where all.allSatisfy({ $0 }): "yes"
        case [false, true]: "if they added that person"
        default: "no"
        }
    }

    @Test func `The page has the table of the code`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let page = folder.appending(path: "../../docs/groups/groups.md").standardized
        let text = try String(contentsOf: page, encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex(of: "| what | owner | admin | member |"))
        let table = lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map(String.init)
        let expected = Self.rows.map { words, actions in
            "| \(words) | " + GroupRole.allCases.map { Self.cell($0, actions) }.joined(separator: " | ") + " |"
        }
        #expect(table == expected)
    }

    @Test func `A plain member decides about people whom they added, and about nobody else`() {
        #expect(GroupPolicy.may(.member, .revoke(addedByCaller: true)))
        #expect(!GroupPolicy.may(.member, .revoke(addedByCaller: false)))
        #expect(GroupPolicy.may(.member, .confirm(addedByCaller: true)))
        #expect(!GroupPolicy.may(.member, .remove(.member)))
    }

    @Test func `A number is shown to its person, to its inviters, to admins and to the owner`() {
        let (ana, jose) = (UserID(high: 1, low: 1), UserID(high: 1, low: 2))
        func sees(_ role: GroupRole, _ person: UserID?, isAdder: Bool = false) -> Bool {
            MemberViewer(userID: ana, role: role).seesPhone(of: person, isAddedByViewer: isAdder)
        }
        for person in [jose, nil] {
            #expect(!sees(.member, person))
            #expect(sees(.member, person, isAdder: true))
            #expect(sees(.admin, person) && sees(.owner, person))
        }
        #expect(sees(.member, ana))
    }

    @Test func `Only a plain member by an unproven number is unproven`() {
        #expect(GroupPolicy.isUnproven(.member, byUnprovenNumber: true))
        for role in [GroupRole.admin, .owner, nil] { #expect(!GroupPolicy.isUnproven(role, byUnprovenNumber: true)) }
        #expect(!GroupPolicy.isUnproven(.member, byUnprovenNumber: false))
    }

    @Test(arguments: GroupRole.allCases) func `Nobody removes the owner`(role: GroupRole) {
        #expect(throws: InvitesError.roleInsufficient) { try GroupPolicy.require(role, .remove(.owner)) }
    }

    @Test func `An unauthorized user is refused, and an authorized one isn't`() throws {
        try GroupPolicy.require(.admin, .rename)
        #expect(throws: InvitesError.roleInsufficient) { try GroupPolicy.require(.admin, .changeOpenness) }
        #expect(throws: InvitesError.roleInsufficient) { try GroupPolicy.require(.member, .rename) }
    }
}
