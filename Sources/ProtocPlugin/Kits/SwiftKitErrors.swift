import SwiftProtobufPluginLibrary

/// The codes of errors: constants for apps, and a table of what each means.
struct SwiftKitErrors {
    let errors: [KitModel.ErrorCode]

    func print(to printer: inout CodePrinter) {
        printer.print("", "extension VestibuleError.Code {")
        printer.withIndentation { printer in
            for error in errors {
                printer.print(lines: SwiftKit.documentation(error.comment))
                // As a function of the kit's, each would cost a hundred bytes.
                printer.print("@_alwaysEmitIntoClient")
                printer.print("public static var \(SwiftKit.caseName(error.code)): Self { \"\(error.code)\" }")
            }
        }
        printer.print("}", "", "extension ErrorTable {")
        printer.withIndentation { printer in
            printer.print(
                "/// A line for each code: its action, and whether it ends the session always or on a refresh."
            )
            printer.print("static let lines = \"\"\"")
            printer.withIndentation { printer in
                for error in errors {
                    let ends = error.endsSession ? " ends" : error.endsSessionOnRefresh ? " endsOnRefresh" : ""
                    printer.print("\(error.code) \(error.action)\(ends)")
                }
                printer.print("\"\"\"")
            }
        }
        printer.print("}")
    }
}

/// The texts of errors for people.
struct SwiftKitTexts {
    let texts: [KitTexts]

    func print(to printer: inout CodePrinter) {
        printer.print("", "extension ErrorTexts {")
        printer.withIndentation { printer in
            printer.print("/// The texts of a language, a line for each code; nil for a language that isn't there.")
            printer.print("static func lines(of language: String) -> String? {")
            printer.withIndentation { printer in
                printer.print("switch language {")
                for text in texts { printer.print("case \"\(text.language)\": \(variable(text))") }
                printer.print("default: nil", "}")
            }
            printer.print("}")
            for text in texts {
                printer.print("", "private static let \(variable(text)) = #\"\"\"")
                printer.withIndentation { printer in
                    for (code, sentence) in text.sentences { printer.print("\(code) \(sentence)") }
                    printer.print("\"\"\"#")
                }
            }
        }
        printer.print("}")
    }

    private func variable(_ text: KitTexts) -> String { "lines_\(text.language)".camelCased }
}

extension String {
    fileprivate var camelCased: String { NamingUtils.toLowerCamelCase(replacing("-", with: "_").lowercased()) }
}
