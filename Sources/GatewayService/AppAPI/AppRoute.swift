import API
import HTTPJSON
import HTTPTypes
import JOSE
import SwiftProtobuf

/// The JSON route of a method, as its proto describes it.
struct AppRoute: Sendable {
    let method: AppMethod
    let described: AppDescription.Method
    let httpMethod: HTTPRequest.Method
    let path: String
    /// The fields of the request by where a route reads them.
    let pathFields: [FieldShape]
    let queryFields: [FieldShape]
    let headerFields: [FieldShape]
    let bodyFields: [FieldShape]
    /// The shape of the response's body.
    let body: MessageShape

    private var options: OptionsV1.Route { described.options.route }

    /// The route of a method; nil if the proto gives it none.
    init?(_ method: AppMethod) {
        let described = method.described
        guard let rule = described.options.route.method else { return nil }
        self.method = method
        self.described = described
        (httpMethod, path) =
            switch rule {
            case .get(let path): (.get, path)
            case .put(let path): (.put, path)
            case .post(let path): (.post, path)
            case .patch(let path): (.patch, path)
            case .delete(let path): (.delete, path)
            }
        let variables = path.split(separator: "/").filter { $0.hasPrefix("{") }.map { $0.dropFirst().dropLast() }
        let fields = described.request.fields
        pathFields = variables.map { variable in
            guard let field = fields.first(where: { $0.protoName == variable }), case .text = field.kind,
                !field.isRepeated
            else { preconditionFailure("\(described.name) has no text \(variable)") }
            return field
        }
        let others = fields.filter { field in !field.isHidden && !variables.contains { $0 == field.protoName } }
        headerFields = others.filter { !$0.options.header.isEmpty }
        let rest = others.filter { $0.options.header.isEmpty }
        (queryFields, bodyFields) = httpMethod == .get ? (rest, []) : ([], rest)
        for field in rest where !field.isReadable {
            preconditionFailure("a route can't read the field \(field.protoName) of \(described.name)")
        }
        for field in headerFields where field.options.header != IdempotencyKey.header {
            preconditionFailure("no route reads the header \(field.options.header)")
        }
        let wrapped = described.options.route.body
        guard let body = try? wrapped.isEmpty ? described.response : described.response.unwrapping(wrapped) else {
            preconditionFailure("the response of \(described.name) has no message \(wrapped)")
        }
        self.body = body
    }

    /// The route, with its entry in the OpenAPI document.
    func endpoint(_ authentication: Authentication) -> Endpoint {
        Endpoint(operation) { request, context in
            switch method.answer {
            case .user(let answer):
                // Before anything of the request is looked at.
                let user = try await authentication.userOrReader(
                    .route(request, context),
                    isChange: described.changes,
                    act: method.act
                )
                var response = response(try await answer(try await message(request, context), user))
                if let outage = user.outage { response.headers[.outageGrace] = outage.seconds }
                return response
            case .anyone(let answer):
                if described.options.caller == .unspecified {
                    try Authentication.requiredCredentials(request.headers)
                }
                return response(try await answer(try await message(request, context), .route(request, context)))
            }
        }
    }

    /// The request's message in the encoding of protobuf.
    ///
    /// - Throws: `Problem` 400 with every fault of the body, and as `RouteContext.json(_:)`.
    private func message(_ request: Request, _ context: RouteContext) async throws -> [UInt8] {
        var message = RequestJSON()
        for field in pathFields { message.add(field.number, try context.parameters.require(field.protoName)) }
        for field in headerFields {
            if let key = try IdempotencyKey.of(request) { message.add(field.number, key) }
        }
        if !queryFields.isEmpty { try message.add(queryFields, of: request.uri.queryParameters) }
        guard !bodyFields.isEmpty else { return message.bytes }
        if options.bodyOptional {
            guard var input = try await context.optionalJSON(request) else { return message.bytes }
            message.add(bodyFields, of: &input)
            try input.finish()
        } else {
            var input = try await context.json(request)
            message.add(bodyFields, of: &input)
            try input.finish()
        }
        return message.bytes
    }

    private func response<M: Message>(_ message: M) -> Response {
        var status = HTTPResponse.Status(code: options.status == 0 ? 200 : Int(options.status))
        var isEmpty = status == .noContent
        if options.hasOther, let field = described.response.field(options.other.if), message.isTrue(field.number) {
            status = HTTPResponse.Status(code: Int(options.other.status))
            isEmpty = options.other.empty
        }
        if isEmpty { return Response(status: status) }
        return .json(status: status) { $0.addMembers(of: message, body) }
    }
}
