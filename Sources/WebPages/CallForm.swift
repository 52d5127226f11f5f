/// A form of a page by which a developer makes a call. The script `call.js` sends it, and shows the answer and the call as a line for a
/// shell. Without scripts it isn't shown.
public struct CallForm: Sendable {
    /// What a field may hold.
    public enum Kind: Sendable {
        case text
        case integer(ClosedRange<Int64>?)
        case truth
        /// One of these; the number is what Connect has in the word's place.
        case words([(word: String, number: Int?)])
    }

    /// Where a route reads a field.
    public enum Place: String, Sendable {
        case path
        case query
        case header
        case body
    }

    /// A field.
    public struct Field: Sendable {
        /// The name in JSON. A field of an object has the object's name and a dot before it, one of an element of an array its index, too.
        public var name: String
        /// The name in JSON by Connect, where that isn't the same with capitals for underscores.
        public var connectName: String?
        /// How it is filled in.
        public var kind = Kind.text
        /// Where it goes.
        public var place = Place.body
        /// The value to begin with.
        public var value = ""
        /// The variable that the value is taken from once it is known.
        public var variable: String?
        /// The name of the header for a field that is read from one.
        public var header: String?
        /// Whether it must have a value.
        public var isRequired = false
        /// The longest value, in characters.
        public var lengthMax: Int?
        /// A regular expression for the whole value.
        public var pattern: String?
        /// What it is, for people.
        public var hint = ""
        /// Words to choose from; others are possible.
        public var suggestions: [String] = []

        /// A field without any rule.
        public init(_ name: String) { self.name = name }
    }

    /// A part of a form.
    public enum Part: Sendable {
        case field(Field)
        /// The fields of an object, or of the first element of an array.
        case group(name: String, isArray: Bool, hint: String, fields: [Field])
    }

    /// Unique on its page.
    public let id: String
    /// The method of HTTP.
    public let method: String
    /// The path. Its variable segments name fields: `/groups/{group_id}`.
    public let path: String
    /// The fields, in order.
    public var parts: [Part] = []
    /// The path of the same call by Connect, if there is such.
    public var connectPath: String?
    /// Whether it needs an access token.
    public var needsToken = false
    /// Variables that an answer sets, as `NAME=member.0.member`, between spaces.
    public var sets = ""
    /// What the answer is: JSON, or a stream of events.
    public var isStream = false
    /// What the button says.
    public var button = "Run"

    /// A form without fields.
    public init(id: String, method: String, path: String) {
        self.id = id
        self.method = method
        self.path = path
    }

    /// The form.
    public var html: HTML {
        """
        <form class="call" id="form-\(id)" data-method="\(method)" data-path="\(path)"\
        \(HTML.attribute("data-connect", connectPath))\(needsToken ? " data-token" : "")\(isStream ? " data-stream" : "")\
        \(HTML.attribute("data-sets", sets.isEmpty ? nil : sets))>
        \(parts.map(html))<p class="actions"><button class="strong">\(button)</button></p>
        </form>

        """
    }

    private func html(_ part: Part) -> HTML {
        switch part {
        case .field(let field): return html(field, label: field.name)
        case .group(let name, let isArray, let hint, let fields):
            let inner = fields.map { html($0, label: String($0.name.split(separator: ".").last ?? "")) }
            let more: HTML = isArray ? "<p><button type=\"button\" data-add>Add another</button></p>\n" : ""
            return """
                <fieldset><legend>\(name)</legend>
                <p class="hint">\(hint)</p>
                <div class="fields"\(isArray ? " data-element" : "")>
                \(inner)</div>
                \(more)</fieldset>

                """
        }
    }

    private func html(_ field: Field, label: String) -> HTML {
        let id = "\(id)-\(field.name.map { $0 == "." ? "-" : String($0) }.joined())"
        let described = field.hint.isEmpty ? nil : "\(id)-hint"
        let common: HTML = """
             id="\(id)" name="\(field.name)" data-in="\(field.place.rawValue)"\(HTML.attribute("data-header", field.header))\
            \(HTML.attribute("data-connect", field.connectName))\(HTML.attribute("data-variable", field.variable))\
            \(HTML.attribute("aria-describedby", described))\(field.isRequired ? " required" : "")
            """
        let hint: HTML = described.map { "<p class=\"hint\" id=\"\($0)\">\(field.hint)</p>\n" } ?? ""
        let mark: HTML = field.isRequired ? "" : " <span class=\"optional\">optional</span>"
        return """
            <div class="field"><label for="\(id)"><code>\(label)</code>\(mark)</label>
            \(control(field, common, list: "\(id)-list"))\(hint)</div>

            """
    }

    private func control(_ field: Field, _ common: HTML, list: String) -> HTML {
        switch field.kind {
        case .text:
            let suggestions: HTML =
                field.suggestions.isEmpty
                ? ""
                : "<datalist id=\"\(list)\">\(field.suggestions.map { "<option>\($0)</option>" as HTML })</datalist>\n"
            return """
                <input type="text" autocomplete="off" spellcheck="false" value="\(field.value)"\
                \(HTML.attribute("maxlength", field.lengthMax.map(String.init)))\(HTML.attribute("pattern", field.pattern))\
                \(HTML.attribute("list", field.suggestions.isEmpty ? nil : list))\(common)>
                \(suggestions)
                """
        case .integer(let range):
            return """
                <input type="number" data-kind="integer" value="\(field.value)"\
                \(HTML.attribute("min", range.map { "\($0.lowerBound)" }))\
                \(HTML.attribute("max", range.map { "\($0.upperBound)" }))\(common)>

                """
        case .truth:
            return select([("true", nil), ("false", nil)], field, " data-kind=\"truth\"\(common)")
        case .words(let words): return select(words, field, common)
        }
    }

    private func select(_ words: [(word: String, number: Int?)], _ field: Field, _ attributes: HTML) -> HTML {
        let none: HTML = field.isRequired ? "" : "<option value=\"\"></option>"
        let options = words.map { word, number -> HTML in
            let mark: HTML = word == field.value ? " selected" : ""
            return "<option\(HTML.attribute("data-number", number.map(String.init)))\(mark)>\(word)</option>"
        }
        return "<select\(attributes)>\(none)\(options)</select>\n"
    }
}
