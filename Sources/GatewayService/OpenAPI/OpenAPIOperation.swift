import HTTPJSON
import HTTPTypes
import JOSE

extension OpenAPI {
    /// A method of a path as clients see it: each route declares its own beside its handler.
    struct Operation: Sendable {
        /// The headings under which operations stand.
        enum Tag: String, Sendable {
            case auth
            case profile
            case groups
            case system
        }

        /// Who may ask for it.
        enum Caller: Sendable {
            /// Anybody, without a token.
            case anyone
            /// A user, by an access token.
            case user
            /// A user by an access token, or somebody who shows something else.
            case userOrAnyone
            /// A program, by its id and secret.
            case client
        }

        let method: HTTPRequest.Method
        /// The path, its variable segments in braces: `/groups/{group_id}/members`.
        let path: String
        /// The name by which generated clients call it.
        let id: String
        let tag: Tag
        /// One line, for people.
        let summary: String
        let description: String?
        let caller: Caller
        let parameters: [Parameter]
        let body: RequestBody?
        /// The fields that a JSON body may have; nil if unknown fields are ignored.
        let bodyFields: JSONFieldNames?
        /// By status.
        let answers: [Int: Answer]
        /// Every problem that it may answer, by rising status.
        let problems: [ProblemAnswer]
        /// How it tells them.
        let errors: ErrorShape
        /// Whether its problems are pages for people.
        let answersPages: Bool

        /// An operation. What it may answer besides `answers` and `problems` follows from the rest: 401 from a caller with a
        /// token, 408, 413 and 415 from a body, 503 and 504 from services, and what every request may be answered.
        ///
        /// - Parameters:
        ///   - callsServices: whether its answer needs another program than the gateway.
        ///   - problems: what this operation may answer of its own.
        ///   - errors: how it tells them.
        ///   - answersPages: whether its problems are pages for people.
        ///   - ignoresUnknownFields: whether a JSON body may have fields that its schema doesn't name: what others define may, which is
        ///     every operation with errors of another shape. Elsewhere such a field is refused.
        init(
            _ method: HTTPRequest.Method,
            _ path: String,
            id: String,
            tag: Tag,
            summary: String,
            description: String? = nil,
            caller: Caller,
            callsServices: Bool = true,
            parameters: [Parameter] = [],
            body: RequestBody? = nil,
            answers: [Int: Answer],
            problems: Set<ProblemAnswer> = [],
            errors: ErrorShape = .problem,
            answersPages: Bool = false,
            ignoresUnknownFields: Bool? = nil
        ) {
            self.method = method
            self.path = path
            self.id = id
            self.tag = tag
            self.summary = summary
            self.description = description
            self.caller = caller
            self.parameters = parameters
            let isOpen = ignoresUnknownFields ?? !errors.isOurs
            self.body = isOpen ? body : body?.refusingUnknownFields
            bodyFields = isOpen ? nil : body?.schema.fieldNames
            self.answers = answers
            self.errors = errors
            self.answersPages = answersPages
            var all = problems.union(ProblemAnswer.ofEveryRequest)
            if body != nil { all.formUnion(ProblemAnswer.ofBodies) }
            if callsServices { all.formUnion(ProblemAnswer.ofServices) }
            if caller != .anyone { all.insert(.refused) }
            self.problems = all.sorted { $0.rawValue < $1.rawValue }
        }
    }
}

extension OpenAPI.Operation {
    /// What the document says of it below its path and method. Parameters of the path stand beside the methods.
    var json: JSONObject {
        var json: JSONObject = [
            "operationId": .string(id), "tags": [.string(tag.rawValue)], "summary": .string(summary),
        ]
        json["description"] = description.map { .string($0) }
        json["security"] = security
        let ofMethod = parameters.filter { $0.place != .path }
        if !ofMethod.isEmpty { json["parameters"] = OpenAPI.references(ofMethod) }
        json["requestBody"] = bodyReference.map { .object($0) }
        json["responses"] = .object(responses)
        return json
    }

    private var security: JSONValue? {
        switch caller {
        case .anyone: nil
        case .user: [["bearer": []]]
        case .userOrAnyone: [["bearer": []], [:]]
        case .client: [["basic": []]]
        }
    }

    /// A body that must be there stands by the name of its schema.
    private var bodyReference: JSONObject? {
        guard let body else { return nil }
        guard let component = body.component else { return body.json }
        return ["$ref": .string("#/components/requestBodies/\(component)")]
    }

    private var responses: JSONObject {
        var responses = JSONObject()
        for (status, answer) in answers.sorted(by: { $0.key < $1.key }) {
            responses["\(status)"] = .object(answer.component.map(Self.reference) ?? answer.json)
        }
        for problem in problems {
            let json = answersPages ? problem.page : Self.reference(errors.component(problem))
            responses["\(problem.rawValue)"] = .object(json)
        }
        return responses
    }

    private static func reference(_ response: String) -> JSONObject {
        ["$ref": .string("#/components/responses/\(response)")]
    }
}

extension OpenAPI {
    /// References to parameters.
    static func references(_ parameters: [Parameter]) -> JSONValue {
        .array(parameters.map { ["$ref": .string("#/components/parameters/\($0.component)")] })
    }
}
