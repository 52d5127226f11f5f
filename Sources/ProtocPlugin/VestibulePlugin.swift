import SwiftProtobuf
import SwiftProtobufPluginLibrary

/// The protoc plugin behind `make proto`: writes, beside the messages of the stock `protoc-gen-swift`, the service
/// stubs that the module RPC runs; in a run with the option `Doubles`, what tests put in place of those services.
///
/// protoc starts it with a request on standard input and reads the files from standard output. All files of a module
/// belong in one run, so that a package that spreads over several files gets one namespace.
@main
struct VestibulePlugin: CodeGenerator {
    var customOptionExtensions: [any AnyMessageExtension] {
        [
            MethodOptions.connectGet, MethodOptions.gateway, MethodOptions.app, ServiceOptions.forwarded,
            ErrorValueOptions.http, ErrorValueOptions.grpc, ErrorValueOptions.action, KitOptions.json,
        ]
    }

    var supportedFeatures: [Google_Protobuf_Compiler_CodeGeneratorResponse.Feature] { [.proto3Optional] }

    func generate(
        files: [FileDescriptor],
        parameter: any CodeGeneratorParameter,
        protoCompilerContext: any ProtoCompilerContext,
        generatorOutputs: any GeneratorOutputs
    ) throws {
        let options = try GeneratorOptions(parameter: parameter)
        for method in files.flatMap(\.services).flatMap(\.methods) { try MethodOptions(method).check() }
        if let kit = options.kit {
            let texts = try options.texts.map { try KitTextsReader(folder: $0).texts() } ?? []
            for file in try kit.files(of: KitModelReader(files: files, texts: texts).model()) {
                try generatorOutputs.add(fileName: file.name, contents: file.contents)
            }
            return
        }
        let names = SwiftNames(files: files)
        for file in files {
            guard let contents = try FileStubs(file: file, names: names, content: options.content).contents() else {
                continue
            }
            try generatorOutputs.add(fileName: options.outputName(for: file), contents: contents)
        }
        if let name = options.descriptorSet {
            let contents = try DescriptorSetStub(name: name, files: files).contents()
            try generatorOutputs.add(fileName: options.outputName(for: name), contents: contents)
        }
    }
}
