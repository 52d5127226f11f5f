import SwiftProtobufPluginLibrary

/// What `--vestibule_opt` may say. The names and values equal those of `protoc-gen-swift`.
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
    private static let sourceSuffix = ".proto"
    private static let outputSuffix = ".vestibule.swift"

    private(set) var fileNaming = FileNaming.fullPath

    /// Reads the options; an unknown one is an error, so that a misspelt word can't pass unnoticed.
    init(parameter: any CodeGeneratorParameter) throws {
        for (key, value) in parameter.parsedPairs {
            guard key == Self.fileNamingKey else { throw GeneratorFault.unknownOption(key) }
            guard let naming = FileNaming(rawValue: value) else {
                throw GeneratorFault.unknownOptionValue(
                    key: key,
                    value: value,
                    allowed: FileNaming.allCases.map(\.rawValue)
                )
            }
            fileNaming = naming
        }
    }

    /// The name of the file that holds the stubs of `file`, relative to the output folder.
    func outputName(for file: FileDescriptor) -> String {
        var stem = file.name[...]
        if stem.hasSuffix(Self.sourceSuffix) { stem = stem.dropLast(Self.sourceSuffix.count) }
        let name =
            switch fileNaming {
            case .fullPath: String(stem)
            case .pathToUnderscores: String(stem.map { $0 == "/" ? "_" : $0 })
            case .dropPath: stem.split(separator: "/").last.map(String.init) ?? String(stem)
            }
        return name + Self.outputSuffix
    }
}

/// Why nothing was generated; protoc prints the description.
enum GeneratorFault: Error, CustomStringConvertible {
    case unknownOption(String)
    case unknownOptionValue(key: String, value: String, allowed: [String])

    var description: String {
        switch self {
        case .unknownOption(let key):
            "unknown option '\(key)'"
        case .unknownOptionValue(let key, let value, let allowed):
            "option '\(key)' can't be '\(value)'; it is one of \(allowed.joined(separator: ", "))"
        }
    }
}
