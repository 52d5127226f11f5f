/// Personal data as it is shown until an operator opens it with a reason.
enum Masking {
    private static let dots = "•••••"
    /// Of a number with fewer digits, or a subject with fewer characters, nothing is shown.
    private static let digitsMin = 9
    private static let firstShown = 2
    private static let lastShown = 2

    /// `+63•••••67`: two digits after the plus and the last two. The number of dots says nothing.
    static func phone(_ number: String) -> String {
        guard !number.isEmpty else { return "" }
        let digits = number.filter(\.isNumber)
        guard digits.count >= digitsMin else { return dots }
        return "\(number.hasPrefix("+") ? "+" : "")\(digits.prefix(firstShown))\(dots)\(digits.suffix(lastShown))"
    }

    /// `10•••••67` of a provider's name for a person, which may be a number or an address too where a provider takes these.
    static func subject(_ subject: String) -> String {
        if subject.contains("@") { return email(subject) }
        guard subject.count >= digitsMin else { return subject.isEmpty ? "" : dots }
        return "\(subject.prefix(firstShown))\(dots)\(subject.suffix(lastShown))"
    }

    /// `m•••••@•••••.com`: the first character, and what follows the domain's last dot.
    static func email(_ address: String) -> String {
        guard !address.isEmpty else { return "" }
        let parts = address.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, let first = parts[0].first, let dot = parts[1].lastIndex(of: ".") else { return dots }
        return "\(first)\(dots)@\(dots)\(parts[1][dot...])"
    }
}
