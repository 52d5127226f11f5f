import Foundation

/// The texts of errors for people, which are those of the server's pages. They are read when a text is asked for.
enum ErrorTexts {
    /// The code of the text for errors that have none of their own.
    private static let other = "OTHER"
    private static let fallback = "en"

    /// The text of a code in the first of the languages that there is (RFC 4647 section 3.4), else in English.
    static func text(of code: VestibuleError.Code, languages: [String]) -> String {
        for language in languages {
            var tag = language.replacingOccurrences(of: "_", with: "-").lowercased()[...]
            while !tag.isEmpty {
                if let lines = lines(of: String(tag)) { return text(of: code.rawValue, in: lines) }
                tag = tag[..<(tag.lastIndex(of: "-") ?? tag.startIndex)]
            }
        }
        return text(of: code.rawValue, in: lines(of: fallback) ?? "")
    }

    private static func text(of code: String, in lines: String) -> String {
        var rest = ""
        for line in lines.split(separator: "\n") {
            if line.hasPrefix(code), line.dropFirst(code.count).first == " " {
                return String(line.dropFirst(code.count + 1))
            }
            if line.hasPrefix("\(other) ") { rest = String(line.dropFirst(other.count + 1)) }
        }
        return rest
    }
}

extension VestibuleError.Code {
    /// A sentence for the user about what went wrong, in the first of the languages that there is: Arabic, English, Filipino, German,
    /// Japanese or Spanish. English if there is none of them.
    ///
    /// - Parameter languages: Tags (BCP 47) in the order of preference; those of the user's settings if absent.
    public func text(languages: [String] = Locale.preferredLanguages) -> String {
        ErrorTexts.text(of: self, languages: languages)
    }
}

extension VestibuleError {
    /// A sentence for the user about what went wrong: see ``Code/text(languages:)``.
    public func text(languages: [String] = Locale.preferredLanguages) -> String { code.text(languages: languages) }
}

extension VestibuleError.FieldFault {
    /// A sentence for the user about what is wrong with the field: see ``VestibuleError/Code/text(languages:)``.
    public func text(languages: [String] = Locale.preferredLanguages) -> String { code.text(languages: languages) }
}
