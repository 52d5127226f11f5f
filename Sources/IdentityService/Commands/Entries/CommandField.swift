import ServiceKit

/// Something that a command needs to know: an option, and a question for the person at the terminal.
public struct CommandField: Sendable {
    /// How an answer is given.
    enum Form: Sendable, Hashable {
        /// A text.
        case text
        /// Any number of texts.
        case texts
        /// The path of a file.
        case file
        /// The path of a file with a secret, which may be typed instead.
        case secretFile
        /// One of two words, asked as a question for yes or no.
        case yesOrNo(yes: String, no: String)
    }

    /// The option's name without `--`; the argument's name in capitals.
    let flag: String
    /// The question, such as `Name, which users see`.
    let question: String
    /// What a fault of the judge has if it is about this answer.
    let marks: [String]
    var form = Form.text
    /// What an empty answer stands for.
    var usual: String?
    /// Another field that would do in its place.
    var alternative: String?
    /// Whether it is needed, as far as the other answers say.
    var isRequired: @Sendable (CommandAnswers) -> Bool = { _ in false }
    /// Whether it is asked, as far as the other answers say.
    var isAsked: @Sendable (CommandAnswers) -> Bool = { _ in true }

    /// As an operator writes it.
    var option: String {
        if case .yesOrNo(let yes, let no) = form { return "--\(yes) or --\(no)" }
        let option = flag == flag.uppercased() ? flag : "--\(flag)"
        return alternative.map { "--\($0) or \(option)" } ?? option
    }
}

/// What a command knows: its options, and answers of the person at the terminal.
public struct CommandAnswers: Sendable {
    private var values: [String: [String]] = [:]
    /// Secrets that were typed, by their fields.
    private(set) var typedSecrets: [String: Secret] = [:]

    /// Nothing yet.
    public init() {}

    /// The first value of a field; nil for none.
    public subscript(flag: String) -> String? {
        get { values[flag]?.first }
        set { values[flag] = newValue.map { [$0] } }
    }

    /// All values of a field.
    public func all(_ flag: String) -> [String] { values[flag] ?? [] }

    /// Sets the values of a field; none if there are none.
    public mutating func set(_ flag: String, _ texts: [String]) { values[flag] = texts.isEmpty ? nil : texts }

    /// Keeps a secret that was typed.
    mutating func type(_ flag: String, _ secret: Secret?) { typedSecrets[flag] = secret }

    /// Whether a field has a value.
    func has(_ flag: String) -> Bool { values[flag] != nil || typedSecrets[flag] != nil }
}
