/// The API for apps as the writers of client kits see it, in an order that depends on nothing but the protos. No writer reads
/// descriptors or options by itself.
struct KitModel {
    let services: [Service]
    /// Messages that the methods use, in the order of the protos.
    let messages: [Message]
    /// Enums that the messages use. Errors are in ``errors``.
    let enums: [Enumeration]
    let errors: [ErrorCode]
    /// Texts of errors for people, a list for each language, English first.
    let texts: [KitTexts]

    struct Service {
        /// `GroupService`.
        let name: String
        /// `groups`: the name by which apps reach the service's methods.
        let member: String
        /// Lines without a prefix; so are all comments of the model.
        let comment: [String]
        let methods: [Method]
    }

    struct Method {
        /// `CreateGroup`.
        let name: String
        /// `vestibule.app.v1.GroupService/CreateGroup`: what stands behind the server's URL.
        let path: String
        let comment: [String]
        /// The name of a message in ``KitModel/messages``.
        let request: String
        let response: String
        let caller: Caller
        /// Whether the call may be repeated after it may have reached the server.
        let isIdempotent: Bool
        let streamsResponses: Bool
        /// The JSON name of the request's field for an idempotency key. The kit fills it in for each call, which makes the call
        /// idempotent.
        let idempotencyKey: String?
        /// Whether the method opens, continues or ends sessions, or streams: the hand-written part of a kit calls it, and apps call
        /// that part.
        let isOfCore: Bool
    }

    /// Who calls a method.
    enum Caller: UInt64 {
        /// A user, by an access token.
        case user = 0
        /// Anybody, without a token.
        case anyone = 1
        /// A user by an access token, or anybody without one.
        case userOrAnyone = 2
    }

    struct Message {
        /// `CreateGroupRequest`.
        let name: String
        let comment: [String]
        let fields: [Field]
        /// Whether apps send it: a request, or a part of one.
        let isSent: Bool
        /// Whether apps receive it: a response, or a part of one.
        let isReceived: Bool
        /// Whether it is the request or the response of a method, and not a part of one.
        let isRequest: Bool
        let isResponse: Bool
    }

    struct Field {
        /// `phone_number`: the proto's name, which errors use.
        let name: String
        /// `phoneNumber`: the name in JSON of protobuf, on the wire.
        let jsonName: String
        let comment: [String]
        let type: FieldType
        let isRepeated: Bool
        /// Whether it can be absent, which is something else than a value. A text that is empty means absent then, as does a number
        /// that is 0, unless the field has presence.
        let isOptional: Bool
        /// Whether the field has presence (protobuf): an empty value is sent then, and otherwise left out.
        let hasPresence: Bool
        /// Whether a request may leave it out.
        let mayBeLeftOut: Bool
        /// The group of fields of which at most one is there.
        let oneof: String?
    }

    enum FieldType: Hashable {
        case bool
        /// A number in JSON.
        case int32
        /// A text or a number in JSON.
        case int64
        case string
        /// A text in JSON, RFC 3339.
        case timestamp
        /// One of ``KitModel/messages``, by name.
        case message(String)
        /// One of ``KitModel/enums``, by name; its value's name in JSON.
        case enumeration(String)
    }

    struct Enumeration {
        /// `GroupRole`.
        let name: String
        let comment: [String]
        let values: [Value]

        struct Value {
            /// `GROUP_ROLE_OWNER`: what stands in JSON.
            let name: String
            /// `OWNER`: the name without the enum's.
            let shortName: String
            let number: Int32
            let comment: [String]
        }
    }

    struct ErrorCode {
        /// `PHONE_TAKEN`.
        let code: String
        let httpStatus: Int32
        /// `refresh`, `sign_in_again`, `wait`, `show`, `fix_request` or `retry`.
        let action: String
        /// Whether the code ends the session, on a call and on a refresh alike. On a refresh so do all codes with 401 and
        /// `sign_in_again`, and ``endsSessionOnRefresh``.
        let endsSession: Bool
        let endsSessionOnRefresh: Bool
        let comment: [String]
    }
}

/// The texts of errors in one language.
struct KitTexts {
    /// BCP 47.
    let language: String
    /// By code, sorted: codes of the server, and those of the kits' own. `OTHER` is for the codes that have no text of their own.
    let sentences: [(code: String, sentence: String)]
}

/// A file that a run for a kit writes.
struct KitFile {
    let name: String
    let contents: String
}

/// Writes the generated part of a kit in one language.
protocol KitWriter {
    static func files(of model: KitModel) throws -> [KitFile]
}

/// The kits, by the values of the option `Kit`.
enum Kit: String, CaseIterable {
    case swift
    case javascript
    case kotlin

    func files(of model: KitModel) throws -> [KitFile] {
        switch self {
        case .swift: try SwiftKit.files(of: model)
        case .javascript: try JavaScriptKit.files(of: model)
        case .kotlin: try KotlinKit.files(of: model)
        }
    }
}
