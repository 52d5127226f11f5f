import API
import HTTPJSON
import HTTPTypes
import JOSE
import WebPages

/// The fields of the profile as a page shows them, with what is wrong with each.
struct ProfileForm {
    /// The fields, in the order of the page.
    enum Field: String, CaseIterable {
        case displayName = "display_name"
        case username
        case phoneNumber = "phone_number"
    }

    private(set) var values: [Field: String]
    /// What must not be empty.
    private(set) var required: Set<String>
    /// The sealed request of a client that waits for the profile; empty without one.
    let request: String
    /// Sentences by field.
    private(set) var errors: [Field: String] = [:]
    /// What is wrong with none of the fields; empty for nothing.
    private(set) var summary = ""
    /// Usernames that are free.
    private(set) var suggestions: [String] = []

    /// The form of a profile.
    ///
    /// - Parameters:
    ///   - suggestedName: for a user who has no name yet.
    ///   - query: that of the page's address.
    init(_ me: AppV1.Profile, suggestedName: String, query: FormFields) throws {
        values = Self.values(of: me)
        if me.displayName.isEmpty { values[.displayName] = suggestedName }
        request = query["request"] == nil ? "" : try AuthorizeRoute.sealedRequest(query)
        required = Self.required(me, query["required"] ?? "")
    }

    /// The form as it was sent.
    init(_ me: AppV1.Profile, _ form: PageForm) {
        values = Dictionary(uniqueKeysWithValues: Field.allCases.map { ($0, form[$0.rawValue]) })
        let request = form["request"]
        self.request = request.utf8.count <= AuthorizeRoute.requestBytesMax ? request : ""
        required = Self.required(me, form["required"])
    }

    /// What the user changes; nil for nothing. What is the same isn't sent, so that it uses up none of the user's tries.
    func change(of me: AppV1.Profile) -> AppV1.UpdateMeRequest? {
        let old = Self.values(of: me)
        let changed = Field.allCases.filter { values[$0] != old[$0] }
        guard !changed.isEmpty else { return nil }
        var call = AppV1.UpdateMeRequest()
        for field in changed {
            switch field {
            case .displayName: call.displayName = values[field] ?? ""
            case .username: call.username = values[field] ?? ""
            case .phoneNumber: call.phoneNumber = values[field] ?? ""
            }
        }
        return call
    }

    /// Notes why a change was rejected.
    mutating func reject(_ problem: Problem, _ visit: AccountPages.Visit) {
        for fault in problem.fields {
            guard let field = Field(rawValue: fault.name) else { continue }
            errors[field] = visit.text.sentence(ofCode: fault.code) ?? visit.sentence(problem)
        }
        if errors.isEmpty { summary = visit.sentence(problem) }
        suggestions = problem.members["suggestions"]?.array?.compactMap(\.string) ?? []
    }

    /// Notes which required fields are empty.
    mutating func requireMissing(of me: AppV1.Profile, _ visit: AccountPages.Visit) {
        let saved = Self.values(of: me)
        for field in Field.allCases where required.contains(field.rawValue) && (saved[field] ?? "").isEmpty {
            if errors[field] == nil { errors[field] = visit.text[.required] }
        }
    }

    /// Whether a profile lacks any of these fields.
    static func lacksAny(of fields: [String], _ me: AppV1.Profile) -> Bool {
        let values = values(of: me)
        return fields.compactMap(Field.init(rawValue:)).contains { (values[$0] ?? "").isEmpty }
    }

    private static func values(of me: AppV1.Profile) -> [Field: String] {
        [.displayName: me.displayName, .username: me.username, .phoneNumber: me.phoneNumber]
    }

    private static func required(_ me: AppV1.Profile, _ words: String) -> Set<String> {
        let known = Set(Field.allCases.map(\.rawValue))
        return Set(me.missingFields).union(words.split(separator: " ").map(String.init)).intersection(known)
    }
}

extension ProfileForm {
    /// What is wrong, above the fields; empty for nothing.
    func alert(_ visit: AccountPages.Visit) -> String {
        guard !errors.isEmpty || !summary.isEmpty else { return "" }
        let items = Field.allCases.compactMap { field in
            errors[field].map { "<li><a href=\"#\(field.rawValue)\">\(HTMLText.escaped($0))</a></li>" }
        }
        let list = items.isEmpty ? "" : "\n<ul class=\"plain\">\n\(items.joined(separator: "\n"))\n</ul>"
        let text = summary.isEmpty ? visit.text[.checkFields] : summary
        return "<div class=\"notice\" role=\"alert\">\n<p>\(HTMLText.escaped(text))</p>\(list)\n</div>\n"
    }

    /// The fields with their labels. The first one that is wrong has the focus.
    func inputs(_ visit: AccountPages.Visit) -> String {
        let faulty = Field.allCases.first { errors[$0] != nil }
        return Field.allCases.map { input($0, hasFocus: $0 == faulty, visit) }.joined(separator: "\n")
    }

    private func input(_ field: Field, hasFocus: Bool, _ visit: AccountPages.Visit) -> String {
        let id = field.rawValue
        let isRequired = required.contains(id)
        var notes = ["<p class=\"hint\" id=\"\(id)-hint\">\(visit.text.html(field.hint))</p>"]
        var described = "\(id)-hint"
        if let error = errors[field] {
            notes.append("<p class=\"error\" id=\"\(id)-error\">\(HTMLText.escaped(error))</p>")
            described = "\(id)-error \(described)"
        }
        if field == .username, !suggestions.isEmpty {
            let names = HTMLText.escaped(suggestions.joined(separator: ", "))
            notes.append("<p class=\"hint\">\(visit.text.html(.freeUsernames)) <bdi>\(names)</bdi></p>")
        }
        let marks = [
            isRequired ? " required=\"\"" : "", errors[field] == nil ? "" : " aria-invalid=\"true\"",
            hasFocus ? " autofocus=\"\"" : "",
        ]
        let optional = isRequired ? "" : " <span class=\"hint\">\(visit.text.html(.optional))</span>"
        return """
            <div class="field">
            <label for="\(id)">\(visit.text.html(field.label))\(optional)</label>
            <input id="\(id)" name="\(id)" value="\(HTMLText.escaped(values[field] ?? ""))" \
            aria-describedby="\(described)"\(marks.joined()) \(field.attributes)>
            \(notes.joined(separator: "\n"))
            </div>
            """
    }
}

extension ProfileForm.Field {
    fileprivate var label: PageText.Key {
        switch self {
        case .displayName: .displayName
        case .username: .username
        case .phoneNumber: .phoneNumber
        }
    }

    fileprivate var hint: PageText.Key {
        switch self {
        case .displayName: .displayNameHint
        case .username: .usernameHint
        case .phoneNumber: .phoneNumberHint
        }
    }

    /// What the value is like, for the browser. The lengths are more than what profile accepts.
    fileprivate var attributes: String {
        switch self {
        case .displayName: "type=\"text\" autocomplete=\"name\" maxlength=\"200\""
        case .username:
            "type=\"text\" autocomplete=\"username\" autocapitalize=\"none\" spellcheck=\"false\" dir=\"ltr\" maxlength=\"20\""
        case .phoneNumber: "type=\"tel\" autocomplete=\"tel\" inputmode=\"tel\" dir=\"ltr\" maxlength=\"40\""
        }
    }
}
