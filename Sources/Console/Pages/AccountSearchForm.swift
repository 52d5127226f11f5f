import API
import SwiftProtobuf
import WebPages

/// The form by which operators look for accounts. It is sent by POST, so that what was looked for stands in no address, history or log.
struct AccountSearchForm: Sendable, Hashable {
    /// By what to look.
    enum Kind: String, Sendable, Hashable, CaseIterable {
        case phone
        case email
        case id
        case username
        case name
        case device
        case provider
        case imported

        var words: String {
            switch self {
            case .phone: "Phone number"
            case .email: "E-mail"
            case .id: "Account id"
            case .username: "Username"
            case .name: "Beginning of the name"
            case .device: "Device’s name, or session id"
            case .provider: "Provider and subject (apple:0012…)"
            case .imported: "Id at another backend (firebase:Yh3…)"
            }
        }
    }

    /// The longest term, in bytes.
    static let termBytesMax = 512

    let kind: Kind
    let term: String

    /// The form of its fields; nil if it can look for nothing.
    init?(kind: String, term: String) {
        // What is copied often has white space around it.
        let start = term.drop { $0.isWhitespace }
        let end = start.lastIndex { !$0.isWhitespace }
        let trimmed = end.map { String(start[...$0]) } ?? ""
        guard let kind = Kind(rawValue: kind), 1...Self.termBytesMax ~= trimmed.utf8.count else { return nil }
        (self.kind, self.term) = (kind, trimmed)
    }

    /// The key of identity's search.
    var key: OperatorV1.FindAccountRequest.OneOf_By {
        switch kind {
        case .phone: .phoneNumber(term)
        case .email: .email(term)
        case .id: .userID(term)
        case .username: .username(term)
        case .name: .namePrefix(term)
        case .device: Self.isUUID(term) ? .sessionID(term) : .deviceName(term)
        case .imported: .importedID(term)
        case .provider:
            .providerIdentity(
                .with {
                    let parts = term.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                    ($0.provider, $0.subject) = (String(parts[0]), parts.count == 2 ? String(parts[1]) : "")
                }
            )
        }
    }

    /// Eight, four, four, four and twelve hexadecimal digits with hyphens between.
    private static func isUUID(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.count) == [8, 4, 4, 4, 12] && parts.joined().allSatisfy { $0.isHexDigit && $0.isASCII }
    }

    /// The form.
    static func html(_ visit: Console.Visit, kind: Kind = .phone, term: String = "") -> HTML {
        let options = Kind.allCases.map { one -> HTML in
            let mark: HTML = one == kind ? " selected" : ""
            return "<option value=\"\(one.rawValue)\"\(mark)>\(one.words)</option>"
        }
        return """
            <form method="post" action="\(AccountsPage.searchPath)" class="inline" role="search">
            \(ConsolePage.hidden(visit))<div><label for="kind">Find by</label>
            <select id="kind" name="kind">\(options)</select></div>
            <div><label for="term">Term</label>
            <input id="term" name="term" value="\(term)" maxlength="512" required autocomplete="off" spellcheck="false"></div>
            <button class="strong" type="submit">Find</button>
            </form>

            """
    }
}
