import Models
import Testing

@testable import AccountImport

/// Which rows are imported.
struct VerdictTests {
    private let names = ProviderNames([:], configured: ["google", "apple"])

    private func candidate(
        _ id: String,
        line: Int64 = 2,
        phone: String? = nil,
        _ identities: [(String, String)] = [],
        name: String? = nil
    ) throws -> ImportCandidate {
        let userID = try #require(ImportedID.userID(of: id, source: "test"))
        var account = ImportedAccount(oldID: id, userID: userID)
        account.phone = phone
        account.names = [name].compactMap(\.self)
        account.identities = identities.map { ImportedIdentity(provider: $0.0, subject: $0.1) }
        return ImportCandidate(account, line: line, names: names, policy: .philippines)
    }

    private func judge(
        _ candidates: [ImportCandidate],
        _ facts: ImportFacts = ImportFacts(),
        earlier: Set<UserID> = [],
        keeps: Bool = false
    ) -> ImportVerdicts {
        ImportVerdicts(candidates, facts, earlier: earlier, keepsUnreachable: keeps)
    }

    private func reasons(_ verdicts: ImportVerdicts) -> [String] {
        verdicts.rejections.map { "\($0.line) \($0.oldID) \($0.reason)" }
    }

    @Test func `An invalid number, name, provider or subject is reported, and the rest of the row is imported`()
        throws
    {
        let whole = try candidate(
            "a",
            phone: "0917 123 4567",
            [
                ("google.com", "1"), ("github.com", "2"), ("apple.com", "x\ny"), ("password", "m@example.com"),
                ("google", "1"),
            ],
            name: "M"
        )
        #expect(whole.phone?.e164 == "+639171234567" && whole.identities.count == 1 && whole.otherWays == ["password"])
        #expect(
            reasons(judge([whole])) == [
                "2 a provider_unknown github.com", "2 a subject_invalid apple", "2 a display_name_invalid",
            ]
        )
        #expect(judge([whole]).new.count == 1)
        for (phone, reason) in [
            ("12", "phone_invalid"), ("+4930123456", "phone_not_allowed"), ("+14155550132", "phone_not_allowed"),
        ] {
            let verdicts = judge([try candidate("b", phone: phone)])
            #expect(reasons(verdicts) == ["2 b \(reason)"] && verdicts.unreachable.count == 1 && verdicts.new.isEmpty)
        }
    }

    @Test func `An account that nobody could sign in to isn't created, unless requested`() throws {
        let bare = try candidate("a", [("email", "m@example.com")])
        #expect(judge([bare]).unreachable.count == 1 && judge([bare]).rejections.isEmpty)
        #expect(judge([bare], keeps: true).new.count == 1)
    }

    @Test func `An account that belongs to a user here, or was closed, is left alone, and an imported one exists`()
        throws
    {
        let one = try candidate("a", [("google", "1")])
        var facts = ImportFacts()
        for (standing, expected) in [(ImportFacts.Standing.native, "account_exists"), (.closed, "account_closed")] {
            facts.standings = [one.account.userID: standing]
            let verdicts = judge([one], facts)
            #expect(reasons(verdicts) == ["2 a \(expected)"] && verdicts.new.isEmpty && verdicts.there.isEmpty)
        }
        facts.standings = [one.account.userID: .imported]
        facts.holders = [.init(provider: "google", subject: "1"): one.account.userID]
        let verdicts = judge([one], facts)
        #expect(verdicts.there.count == 1 && verdicts.new.isEmpty && verdicts.rejections.isEmpty)
        var account = one.account
        account.isDeleted = true
        let deleted = ImportCandidate(account, line: 2, names: names, policy: .philippines)
        #expect(reasons(judge([deleted])) == ["2 a account_deleted"])
    }

    @Test func `A subject belongs to one account, the one that has it, or else the first of the file`() throws {
        let first = try candidate("a", line: 2, [("google", "1")])
        let second = try candidate("b", line: 3, phone: "09171234567", [("google", "1"), ("apple", "1")])
        let third = try candidate("c", line: 4, [("google", "1")])
        let verdicts = judge([first, second, third])
        #expect(reasons(verdicts) == ["3 b subject_taken google", "4 c subject_taken google"])
        #expect(
            verdicts.new.map(\.account.oldID) == ["a", "b"] && verdicts.new[1].identities.map(\.provider) == ["apple"]
        )
        #expect(verdicts.unreachable.map(\.account.oldID) == ["c"])
        var facts = ImportFacts()
        facts.holders = [.init(provider: "google", subject: "1"): second.account.userID]
        let again = judge([first, second], facts)
        #expect(reasons(again) == ["2 a subject_taken google"] && again.new.map(\.account.oldID) == ["b"])
    }

    @Test func `Of rows with one id the first imported one counts, whether it is new or exists`() throws {
        let first = try candidate("a", line: 2, [("google", "1")])
        let second = try candidate("a", line: 9, [("google", "2")])
        let repeated = judge([first, second])
        #expect(repeated.new.count == 1 && repeated.there.isEmpty && reasons(repeated) == ["9 a row_repeated"])
        var facts = ImportFacts()
        facts.standings = [first.account.userID: .imported]
        let again = judge([first, second], facts)
        #expect(again.there.map(\.line) == [2] && reasons(again) == ["9 a row_repeated"])
        // A row of an earlier batch of the same run.
        #expect(reasons(judge([second], facts, earlier: [first.account.userID])) == ["9 a row_repeated"])
        #expect(judge([second], facts).there.count == 1)
        // A rejected row is not a repetition.
        let bare = try candidate("a", line: 2, [("email", "m@example.com")])
        let reachable = judge([bare, second])
        #expect(reachable.unreachable.count == 1 && reachable.new.map(\.line) == [9] && reachable.rejections.isEmpty)
    }
}
