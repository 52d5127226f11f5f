import Models
import ProfileDomain
import Testing

struct UsernameSuggestionsTests {
    /// Numbers that come out the same for a seed.
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    private func candidates(_ wanted: String, _ name: String? = nil, seed: UInt64 = 1) throws -> [String] {
        var numbers = Numbers(state: seed)
        return UsernameSuggestions.candidates(
            for: try Username(wanted),
            displayName: try name.map { (text) throws in try DisplayName(text) },
            reserved: ReservedUsernames(["vestibule"]),
            using: &numbers
        ).map(\.value)
    }

    /// A username without the digits, and what stands before them, at its end.
    private func stem(_ username: String) -> String {
        String(username.reversed().drop { $0.isNumber }.drop { $0 == "_" }.reversed())
    }

    @Test func `Suggestions resemble the wanted username and the display name`() throws {
        let stems = Set(try candidates("mc_2000", "María Ñandú Clara").map(stem))
        #expect(stems == ["mc_2000", "maria_nandu_clar", "maria"])
        #expect(Set(try candidates("maria").map(stem)) == ["maria"])
        #expect(Set(try candidates("maria", "李雷").map(stem)) == ["maria"], "letters that no username has give nothing")
    }

    @Test func `No two are the same, and all are usernames that nobody keeps from people`() throws {
        for seed: UInt64 in 1...300 {
            for (wanted, name) in [
                ("abc", nil), ("x9_", "Jo"), (String(repeating: "a", count: 20), "Ana Ana"), ("Admin", "Support"),
            ] {
                let found = try candidates(wanted, name, seed: seed)
                #expect(found.count == UsernameSuggestions.candidatesMax, "\(wanted), seed \(seed)")
                #expect(Set(found.map { $0.lowercased() }).count == found.count)
                for username in found {
                    #expect(try !ReservedUsernames(["vestibule"]).contains(Username(username)))
                    // A candidate that one could foresee would tell by its absence that somebody has it.
                    #expect(username.suffix(2).allSatisfy { $0.isNumber }, "\(username)")
                }
            }
        }
    }

    @Test func `Nothing is made of what is reserved`() throws {
        #expect(Set(try candidates("admin").map(stem)) == ["friend"])
        #expect(Set(try candidates("vest1bule", "Vestibule Maria").map(stem)) == ["vestibule_maria"])
    }
}
