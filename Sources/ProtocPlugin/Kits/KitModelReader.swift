import SwiftProtobuf
import SwiftProtobufPluginLibrary

/// Reads the model of the kits from the descriptors of the API for apps.
struct KitModelReader {
    /// Methods that the hand-written part of each kit calls: they change the session that it keeps, or stream.
    private static let methodsOfCore: Set = [
        "SignInWithProvider", "RefreshSession", "SignOut", "SignOutEverywhere", "LinkProvider", "DeleteMe",
        "WatchGroups", "SignInAsGuest", "CreateGuestChallenge", "AbsorbGuest",
    ]
    /// Methods that no kit has yet: an app calls the routes of passkeys and of recovery codes.
    private static let methodsOfNoKit: Set = [
        "SignInWithPasskey", "CreatePasskeyChallenge", "CreatePasskeyRegistration", "AddPasskey", "ListPasskeys",
        "RenamePasskey", "RemovePasskey", "CreateRecoveryCodes", "GetRecoveryCodes", "CreateRecoveryChallenge",
        "RecoverAccount",
    ]
    /// Codes that mean that the session is over, whatever was called.
    private static let codesOfEnd: Set = [
        "ACCOUNT_OPENED", "REFRESH_TOKEN_INVALID", "REFRESH_TOKEN_REUSED", "SESSION_EXPIRED", "SESSION_INVALID",
        "SESSION_REVOKED",
    ]
    /// Codes that mean it when a refresh gets them, beside all with 401 and the action of signing in.
    private static let codesOfEndOnRefresh: Set = ["ACCOUNT_BLOCKED"]
    private static let actions = [
        "refresh": "refresh", "signInAgain": "sign_in_again", "wait": "wait", "show": "show",
        "fixRequest": "fix_request",
        "retry": "retry",
    ]
    private static let errorEnum = "ErrorReason"

    let files: [FileDescriptor]
    let texts: [KitTexts]

    /// - Throws: what a kit can't express, or what is wrong with the options of an error.
    func model() throws -> KitModel {
        let methods = files.flatMap(\.services).flatMap(\.methods).filter { !Self.methodsOfNoKit.contains($0.name) }
        let requests = methods.compactMap(\.inputType)
        let responses = methods.compactMap(\.outputType)
        let sent = Self.reached(from: requests)
        let received = Self.reached(from: responses)
        let used = sent.union(received)
        let messages = try files.flatMap(\.messages).filter { used.contains($0.fullName) }.map { message in
            KitModel.Message(
                name: message.name,
                comment: Self.comment(of: message),
                fields: try message.fields.map(Self.field),
                isSent: sent.contains(message.fullName),
                isReceived: received.contains(message.fullName),
                isRequest: requests.contains { $0 === message },
                isResponse: responses.contains { $0 === message }
            )
        }
        return KitModel(
            services: files.flatMap(\.services).map(Self.service),
            messages: messages,
            enums: files.flatMap(\.enums).filter { $0.name != Self.errorEnum }.map(Self.enumeration),
            errors: try files.flatMap(\.enums).filter { $0.name == Self.errorEnum }.flatMap(Self.errors),
            texts: texts
        )
    }

    private static func comment(of descriptor: some ProvidesSourceCodeLocation) -> [String] {
        descriptor.protoSourceComments(commentPrefix: "").split(separator: "\n", omittingEmptySubsequences: false)
            .map { line in String(line.drop { $0 == " " }) }
            .reversed().drop { $0.isEmpty }.reversed()
    }

    private static func service(_ service: ServiceDescriptor) -> KitModel.Service {
        let stem = service.name.hasSuffix("Service") ? String(service.name.dropLast("Service".count)) : service.name
        // People call the user's own account and sessions in the singular.
        let member = ["Group", "Key"].contains(stem) ? stem.lowercased() + "s" : stem.lowercased()
        return KitModel.Service(
            name: service.name,
            member: member,
            comment: comment(of: service),
            methods: service.methods.filter { !methodsOfNoKit.contains($0.name) }.map { method in
                KitModel.Method(
                    name: method.name,
                    path: "\(service.fullName)/\(method.name)",
                    comment: comment(of: method),
                    request: method.inputType.name,
                    response: method.outputType.name,
                    caller: caller(of: method),
                    isIdempotent: MethodOptions(method).isIdempotent,
                    streamsResponses: method.serverStreaming,
                    idempotencyKey: method.inputType.fields.first { $0.name == "idempotency_key" }.map(jsonName),
                    isOfCore: methodsOfCore.contains(method.name)
                )
            }
        )
    }

    private static func caller(of method: MethodDescriptor) -> KitModel.Caller {
        let options = WireFields(method.options.getExtensionValue(ext: MethodOptions.app))
        return KitModel.Caller(rawValue: options.number(1)) ?? .user
    }

    private static func field(_ field: FieldDescriptor) throws -> KitModel.Field {
        let options = WireFields(field.options.getExtensionValue(ext: KitOptions.json))
        let isNullable = options.number(3) != 0
        let isMessage = field.type == .message
        let hasPresence = field.hasPresence && (!isMessage || field.realContainingOneof != nil)
        let isOptional = !field.isRepeated && (hasPresence || isNullable)
        return KitModel.Field(
            name: field.name,
            jsonName: jsonName(field),
            comment: comment(of: field),
            type: try type(of: field),
            isRepeated: field.isRepeated,
            isOptional: isOptional,
            hasPresence: field.hasPresence,
            mayBeLeftOut: isOptional || options.number(4) != 0,
            oneof: field.realContainingOneof?.name
        )
    }

    private static func jsonName(_ field: FieldDescriptor) -> String {
        field.jsonName ?? NamingUtils.toJsonFieldName(field.name)
    }

    private static func type(of field: FieldDescriptor) throws -> KitModel.FieldType {
        switch field.type {
        case .bool: return .bool
        case .int32: return .int32
        case .int64: return .int64
        case .string: return .string
        case .enum: return .enumeration(field.enumType?.name ?? "")
        case .message where field.messageType?.wellKnownType == .timestamp: return .timestamp
        case .message where !field.isMap: return .message(field.messageType?.name ?? "")
        default: throw GeneratorError.unfitForKits(field: field.fullName)
        }
    }

    /// The full names of messages, and of those that are parts of them.
    private static func reached(from messages: [Descriptor]) -> Set<String> {
        var names: Set<String> = []
        var rest = messages
        while let message = rest.popLast() {
            guard names.insert(message.fullName).inserted else { continue }
            rest += message.fields.compactMap(\.messageType)
        }
        return names
    }

    private static func enumeration(_ enumeration: EnumDescriptor) -> KitModel.Enumeration {
        KitModel.Enumeration(
            name: enumeration.name,
            comment: comment(of: enumeration),
            values: enumeration.values.map { value in
                KitModel.Enumeration.Value(
                    name: value.name,
                    shortName: ErrorTableStub.name(of: value, in: enumeration),
                    number: value.number,
                    comment: comment(of: value)
                )
            }
        )
    }

    private static func errors(_ enumeration: EnumDescriptor) throws -> [KitModel.ErrorCode] {
        try enumeration.values.compactMap { value in
            guard let options = try ErrorValueOptions(value) else { return nil }
            let code = ErrorTableStub.name(of: value, in: enumeration)
            return KitModel.ErrorCode(
                code: code,
                httpStatus: options.http,
                action: actions[options.action] ?? options.action,
                endsSession: codesOfEnd.contains(code),
                endsSessionOnRefresh: codesOfEndOnRefresh.contains(code)
                    || options.http == 401 && options.action == "signInAgain",
                comment: comment(of: value)
            )
        }
    }
}
