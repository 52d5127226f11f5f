import Models

/// Suggested usernames for a user who can't have the wanted one.
///
/// Each ends with random digits. Free candidates are suggested and taken ones aren't, so the absence of a predictable candidate would
/// reveal that a user has it.
public enum UsernameSuggestions {
    /// The maximum of suggestions.
    public static let countMax = 3
    /// The maximum of candidates to look up, so that enough of them are free.
    public static let candidatesMax = 12

    /// The stem if the wanted username is reserved and the display name gives none either.
    private static let lastResort = "friend"
    /// How often each stem gets digits, some of which may come out twice.
    private static let roundsMax = 4 * candidatesMax
    /// The most digits at the end of a suggestion.
    private static let digitsMax = 4
    /// How much of a display name is read, in characters.
    private static let charactersMax = 60

    /// Candidates, the preferred ones first: like the wanted username, or like the display name. None is reserved, and no two are the same.
    public static func candidates(
        for wanted: Username,
        displayName: DisplayName?,
        reserved: ReservedUsernames,
        using generator: inout some RandomNumberGenerator
    ) -> [Username] {
        var stems: [String] = []
        for stem in [wanted.value] + Self.stems(of: displayName) + [lastResort] {
            guard let username = try? Username(stem), !reserved.contains(username), !stems.contains(stem) else {
                continue
            }
            // The last resort is only for a user without another stem.
            if stem != lastResort || stems.isEmpty { stems.append(stem) }
        }
        var candidates: [Username] = []
        var round = 0
        while candidates.count < candidatesMax, round < roundsMax {
            let digitCount = min(2 + round, digitsMax)
            for stem in stems where candidates.count < candidatesMax {
                let candidate = Self.candidate(stem, digitCount, &generator)
                if let candidate, !reserved.contains(candidate),
                    !candidates.contains(where: { $0.key == candidate.key })
                {
                    candidates.append(candidate)
                }
            }
            round += 1
        }
        return candidates
    }

    private static func candidate(
        _ stem: String,
        _ digitCount: Int,
        _ generator: inout some RandomNumberGenerator
    ) -> Username? {
        let least = (1..<digitCount).reduce(1) { value, _ in value * 10 }
        let number = Int.random(in: least..<least * 10, using: &generator)
        // Digits after digits would read as one number.
        let separator = stem.last?.isNumber == true ? "_" : ""
        let room = Username.lengthMax - digitCount - separator.count
        return try? Username("\(stem.prefix(room))\(separator)\(number)")
    }

    /// The stems of a display name: all of its words, and the first alone.
    private static func stems(of name: DisplayName?) -> [String] {
        guard let name else { return [] }
        let words = name.value.prefix(charactersMax).split(separator: " ").map(letters).filter { !$0.isEmpty }
        guard let first = words.first else { return [] }
        return [words.joined(separator: "_"), first].map { String($0.prefix(Username.lengthMax - digitsMax)) }
    }

    /// The Latin letters and the digits of a word, in lowercase and without diacritics.
    private static func letters(_ word: Substring) -> String {
        var letters = ""
        for scalar in word.unicodeScalars {
            if scalar.isASCII {
                let isDigit = ("0"..."9").contains(scalar)
                if isDigit || scalar.properties.isAlphabetic { letters.unicodeScalars.append(scalar) }
            } else if let letter = letter(scalar) {
                letters += letter
            }
        }
        return letters.lowercased()
    }

    /// The base letter of a marked one, by its Unicode name: LATIN SMALL LETTER N WITH TILDE.
    private static func letter(_ scalar: Unicode.Scalar) -> String? {
        let words = (scalar.properties.name ?? "").split(separator: " ")
        guard words.count >= 4, words[0] == "LATIN", words[2] == "LETTER", words[3].count == 1,
            words.count == 4 || words[4] == "WITH"
        else { return nil }
        return String(words[3])
    }
}
