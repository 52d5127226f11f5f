/// What each code means: its action, and whether it ends the session.
enum ErrorTable {
    private struct Row: Sendable {
        let action: VestibuleError.Action
        let endsSession: Bool
        let endsSessionOnRefresh: Bool
    }

    private static let rows: [Substring: Row] = {
        var rows: [Substring: Row] = [:]
        for line in lines.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 1 else { continue }
            rows[words[0]] = Row(
                action: VestibuleError.Action(rawValue: String(words[1])),
                endsSession: words.last == "ends",
                endsSessionOnRefresh: words.last == "ends" || words.last == "endsOnRefresh"
            )
        }
        return rows
    }()

    /// The action of a code; for one that this version doesn't know, what the status means.
    static func action(of code: VestibuleError.Code, status: Int?) -> VestibuleError.Action {
        if let row = rows[code.rawValue[...]] { return row.action }
        return switch status ?? 500 {
        case 401: .refresh
        case 429, 503: .wait
        case ..<500: .show
        default: .retry
        }
    }

    /// Whether a call that fails with the code shows that the session is over.
    static func endsSession(_ code: VestibuleError.Code) -> Bool { rows[code.rawValue[...]]?.endsSession ?? false }

    /// Whether a refresh that fails with the code shows that the session is over.
    static func endsSessionOnRefresh(_ code: VestibuleError.Code) -> Bool {
        rows[code.rawValue[...]]?.endsSessionOnRefresh ?? false
    }
}
