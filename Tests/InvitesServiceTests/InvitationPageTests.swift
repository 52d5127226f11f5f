import API
import Foundation
import Models
import RPC
import Testing

@testable import InvitesService

/// The page "Invitations" says what each openness shows to whom: its table must equal what the methods return.
struct InvitationPageTests {
    private static let opennesses: [AppV1.GroupOpenness] = [.open, .confirm, .consent]

    /// The rows of the page's first table: a row's label and its three kinds of groups.
    private func page() throws -> [[String]] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let page = folder.appending(path: "../../docs/groups/invitations.md")
            .standardized
        let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
        let table = lines.drop { !$0.hasPrefix("| a number") }.prefix { $0.hasPrefix("|") }
        return table.map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
    }

    @Test func `The page's table equals what the methods return`() async throws {
        var observed: [[String: String]] = []
        for openness in Self.opennesses { observed.append(try await observe(openness)) }
        let rows = try page()
        #expect(rows.count == observed[0].count)
        for row in rows {
            try #require(row.count == 4)
            #expect(observed.map { $0[row[0]] } == row.dropFirst().map(Optional.some), "\(row[0])")
        }
    }

    private func word(_ state: AppV1.MemberState) -> String {
        switch state {
        case .member: "member"
        case .pending: "pending"
        case .invited: "invited"
        case .unspecified, .UNRECOGNIZED: "?"
        }
    }

    /// What happens in a group, in the page's words.
    private func observe(_ openness: AppV1.GroupOpenness) async throws -> [String: String] {
        var seen: [String: String] = [:]
        try await InvitesFixture.run { service in
            let (maria, ana, eva) = (someone(), someone(), someone())
            let (jose, blocking) = (someone(), someone())
            let group = try await service.group(by: maria)
            try await service.join([ana, eva], to: group, by: maria)
            _ = try await service.update(group, by: maria, openness: openness)
            try await service.apply(claimed(1, by: jose), claimed(3, by: blocking))
            try await service.block(ana, by: blocking)

            let added = try await service.add(phone(1), to: group, by: ana)
            seen["a number that a user has is added"] = word(added.state)
            seen["the answer tells the user's id"] = added.userID == jose.description ? "yes" : "no"
            seen["a number that nobody has is added"] = word(try await service.add(phone(2), to: group, by: ana).state)
            seen["a number is added whose user blocks who adds it"] = word(
                try await service.add(phone(3), to: group, by: ana).state
            )

            /// Whether a member learns from the lists which user has the number.
            func sees(_ user: UserID) async throws -> String {
                let waiting = try await service.pending(of: group, askedBy: user).people.map(\.userID)
                let members = try await service.members(of: group, askedBy: user).members.map(\.userID)
                return (waiting + members).contains(jose.description) ? "yes" : "no"
            }
            seen["an admin sees which user has the number"] = try await sees(maria)
            seen["the member who added the number sees it"] = try await sees(ana)
            seen["other plain members see it"] = try await sees(eva)

            let isMember = try await !service.groups(of: jose).groups.isEmpty
            let shown = try await service.invitations(of: jose).invitations
            let isTold = shown.map { "\($0.groupName) \($0.addedByUserID)" } == ["Hikers \(ana)"]
            seen["the person sees the group's name, and who added them"] =
                isMember ? "is a member" : isTold ? "yes" : "no"
            let members = await outcome { try await service.members(of: group, askedBy: jose) }
            seen["the person sees the members"] = members == "done" ? "yes" : "no"

            let link = try await service.link(to: group, by: maria).token
            seen["somebody comes by a link"] = word(try await service.join(by: link, someone()).state)

            seen["who decides"] = "nobody"
            if !isMember {
                let confirmed = await outcome {
                    try await service.confirm(added.memberID, as: jose, in: group, by: ana)
                }
                let accepted = await outcome { try await service.accept(added.memberID, in: group, by: jose) }
                // After the group has confirmed, accepting changes nothing.
                seen["who decides"] = confirmed == "done" ? "the group" : accepted == "done" ? "the person" : "nobody"
            }

            // Of another person, since this one is decided.
            let late = someone()
            try await service.apply(claimed(4, by: late))
            let other = try await service.add(phone(4), to: group, by: ana).memberID
            let declined = await outcome { try await service.decline(other, in: group, by: late) }
            seen["the person may decline"] = declined == "done" ? "yes" : "no"
        }
        return seen
    }
}
