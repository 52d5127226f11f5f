import Foundation
import SwiftProtobufPluginLibrary

/// What `--vestibule_opt` may say. `FileNaming` and its values equal those of `protoc-gen-swift`.
struct GeneratorOptions {
    /// How the name of a generated file follows from that of its proto.
    enum FileNaming: String, CaseIterable {
        /// `vestibule/identity/v1/identity.vestibule.swift`
        case fullPath = "FullPath"
        /// `vestibule_identity_v1_identity.vestibule.swift`
        case pathToUnderscores = "PathToUnderscores"
        /// `identity.vestibule.swift`
        case dropPath = "DropPath"
    }

    private static let fileNamingKey = "FileNaming"
    private static let descriptorSetKey = "DescriptorSet"
    private static let doublesKey = "Doubles"
    private static let kitKey = "Kit"
    private static let textsKey = "Texts"
    private static let sourceSuffix = ".proto"
    private static let stubsSuffix = ".vestibule.swift"
    private static let doublesSuffix = ".doubles.swift"

    private(set) var fileNaming = FileNaming.fullPath
    /// The name of the enum that is to carry the files' descriptors; nil for none.
    private(set) var descriptorSet: String?
    /// Stubs, unless `Doubles` names the module that has them: then what stands in for those services in tests.
    private(set) var content = FileStubs.Content.stubs
    /// The kit whose files are written, and nothing else; nil for none.
    private(set) var kit: Kit?
    /// The folder of the gateway's pages, whose languages have the texts of errors for kits.
    private(set) var texts: URL?

    /// Reads the options; an unknown one is an error, so that a misspelt word can't pass unnoticed.
    init(parameter: any CodeGeneratorParameter) throws {
        for (key, value) in parameter.parsedPairs {
            switch key {
            case Self.fileNamingKey: fileNaming = try Self.fileNaming(value)
            case Self.descriptorSetKey: descriptorSet = try Self.typeName(value, of: key)
            case Self.doublesKey: content = .doubles(stubsModule: try Self.typeName(value, of: key))
            case Self.kitKey: kit = try Self.kit(value)
            case Self.textsKey: texts = URL(filePath: value, directoryHint: .isDirectory)
            default: throw GeneratorError.unknownOption(key)
            }
        }
    }

    private static func fileNaming(_ value: String) throws -> FileNaming {
        guard let naming = FileNaming(rawValue: value) else {
            let allowed = FileNaming.allCases.map(\.rawValue)
            throw GeneratorError.unknownOptionValue(key: fileNamingKey, value: value, allowed: allowed)
        }
        return naming
    }

    private static func kit(_ value: String) throws -> Kit {
        guard let kit = Kit(rawValue: value) else {
            throw GeneratorError.unknownOptionValue(key: kitKey, value: value, allowed: Kit.allCases.map(\.rawValue))
        }
        return kit
    }

    private static func typeName(_ value: String, of key: String) throws -> String {
        let isName = value.first?.isUppercase == true && value.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        guard isName else {
            throw GeneratorError.unknownOptionValue(
                key: key,
                value: value,
                allowed: ["the names of types"]
            )
        }
        return value
    }

    private var outputSuffix: String {
        switch content {
        case .stubs: Self.stubsSuffix
        case .doubles: Self.doublesSuffix
        }
    }

    /// The name of a generated file for what is no single proto's.
    func outputName(for name: String) -> String { name + outputSuffix }

    /// The name of the file that is written for `file`, relative to the output folder.
    func outputName(for file: FileDescriptor) -> String {
        var stem = file.name[...]
        if stem.hasSuffix(Self.sourceSuffix) { stem = stem.dropLast(Self.sourceSuffix.count) }
        let name =
            switch fileNaming {
            case .fullPath: String(stem)
            case .pathToUnderscores: String(stem.map { $0 == "/" ? "_" : $0 })
            case .dropPath: stem.split(separator: "/").last.map(String.init) ?? String(stem)
            }
        return name + outputSuffix
    }
}

/// Why nothing was generated; protoc prints the description.
enum GeneratorError: Error, CustomStringConvertible {
    case unknownOption(String)
    case unknownOptionValue(key: String, value: String, allowed: [String])
    case unfitForGet(method: String)
    case unfitForGateway(method: String)
    case unfitError(value: String)
    case unfitForKits(field: String)
    case unreadableTexts(file: String)

    var description: String {
        switch self {
        case .unknownOption(let key):
            "unknown option '\(key)'"
        case .unknownOptionValue(let key, let value, let allowed):
            "option '\(key)' can't be '\(value)'; it is one of \(allowed.joined(separator: ", "))"
        case .unfitForGet(let method):
            "\(method) can't have connect_get: that is for unary methods with idempotency_level = NO_SIDE_EFFECTS"
        case .unfitForGateway(let method):
            "\(method) can't have this gateway role: roles are for methods of forwarded services, and forwarded methods are unary"
        case .unfitError(let value):
            "\(value) needs a status from 400 to 599 (http), an action, and a code of gRPC, if any (grpc)"
        case .unfitForKits(let field):
            "\(field) has a type that client kits can't have"
        case .unreadableTexts(let file):
            "\(file) doesn't have the texts of errors in the form that kits read"
        }
    }
}
