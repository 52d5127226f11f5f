import SwiftProtobufPluginLibrary

/// The Swift names of what the protos declare.
///
/// A message or enum of a package that is generated in this run is called by its alias (`IdentityV1.SignInRequest`);
/// any other by the name that `protoc-gen-swift` gave it (`SwiftProtobuf.Google_Protobuf_Empty`).
struct SwiftNames {
    private let namer = SwiftProtobufNamer()
    /// For each package of this run, the first of its files: the one that declares the namespace.
    private let declaringFiles: [String: String]
    private let generatedFiles: Set<String>

    init(files: [FileDescriptor]) {
        generatedFiles = Set(files.map(\.name))
        declaringFiles = Dictionary(grouping: files, by: \.package).compactMapValues { $0.map(\.name).min() }
    }

    /// Whether `file` is the one of its package that declares the namespace; the others extend it.
    func declaresNamespace(_ file: FileDescriptor) -> Bool {
        declaringFiles[file.package] == file.name
    }

    /// The namespace of a package: `IdentityV1` for `vestibule.identity.v1`, `GoogleRpc` for `google.rpc`.
    ///
    /// Before a version stands one word, which is what people call the package; without one the whole path stands.
    func namespace(ofPackage package: String) -> String {
        var parts = package.split(separator: ".")
        if let last = parts.last, isVersion(last) { parts = parts.suffix(2) }
        return parts.map { NamingUtils.toUpperCamelCase(String($0)) }.joined()
    }

    /// The name of a top-level message inside its package's namespace.
    func alias(of message: Descriptor) -> String {
        Self.memberTypeName(message.name, suffix: "Message")
    }

    /// The name of a top-level enum inside its package's namespace.
    func alias(of enumeration: EnumDescriptor) -> String {
        Self.memberTypeName(enumeration.name, suffix: "Enum")
    }

    /// The type that `protoc-gen-swift` wrote for a message.
    func generatedName(of message: Descriptor) -> String { namer.fullName(message: message) }

    /// The type that `protoc-gen-swift` wrote for an enum.
    func generatedName(of enumeration: EnumDescriptor) -> String { namer.fullName(enum: enumeration) }

    /// The shortest name by which a stub can call a message.
    func name(of message: Descriptor) -> String {
        guard message.containingType == nil, isGenerated(message.file) else { return generatedName(of: message) }
        return namespace(ofPackage: message.file.package) + "." + alias(of: message)
    }

    /// Whether the message's file is generated in this run, and so belongs to the same module.
    func isGenerated(_ file: FileDescriptor) -> Bool { generatedFiles.contains(file.name) }

    /// The Swift method of an RPC: `signIn` for `SignIn`, `getJWKS` for `GetJWKS`, `urlFor` for `URLFor`.
    func methodName(of method: MethodDescriptor) -> String {
        Self.escaped(Self.loweringFirstWord(method.name))
    }

    /// A name as it may be declared.
    static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// The property of `<Service>Methods` that describes an RPC; never one of the two that every such enum has.
    func descriptorName(of method: MethodDescriptor) -> String {
        let name = methodName(of: method)
        return Self.descriptorMembers.contains(name) ? name + "Method" : name
    }

    private static let descriptorMembers: Set = ["all", "serviceName"]

    /// Words that can't name a function without backticks.
    private static let keywords: Set = [
        "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
        "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import",
        "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol",
        "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch", "throw",
        "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    /// Words that can't name a type inside another type.
    private static let reservedTypeNames: Set = ["Any", "Protocol", "Self", "Type"]

    private static func memberTypeName(_ name: String, suffix: String) -> String {
        reservedTypeNames.contains(name) ? name + suffix : name
    }

    /// Lowers the first letter; of a leading abbreviation all letters but the one that begins the next word.
    private static func loweringFirstWord(_ name: String) -> String {
        let capitals = name.prefix { $0.isUppercase }
        let isWholeName = capitals.count == name.count
        let loweredCount = capitals.count > 1 && !isWholeName ? capitals.count - 1 : capitals.count
        return name.prefix(loweredCount).lowercased() + name.dropFirst(loweredCount)
    }

    /// `v1`, `v2beta1`: the form that the last part of a versioned package has.
    private func isVersion(_ part: Substring) -> Bool {
        part.first == "v" && part.dropFirst().first?.isNumber == true
    }
}
