import SwiftProtobufPluginLibrary

/// The codes of errors: constants for apps, and a table of what each means.
struct KotlinKitErrors {
    let errors: [KitModel.ErrorCode]

    func print(to printer: inout CodePrinter) {
        printer.print(
            "",
            "/** Codes of errors that the server answers: see [VestibuleException.code]. */",
            "public object ErrorCode {"
        )
        printer.withIndentation { printer in
            for (index, error) in errors.enumerated() {
                if index > 0 { printer.print("") }
                printer.print(lines: KotlinKit.documentation(error.comment))
                printer.print("public const val \(error.code): String = \"\(error.code)\"")
            }
        }
        printer.print("}", "")
        printer.print(
            "/** A line for each code: its status, its action, and whether it ends the session always or on a refresh. */"
        )
        printer.print("internal const val ERROR_LINES: String = \"\"\"")
        for error in errors {
            let ends = error.endsSession ? " ends" : error.endsSessionOnRefresh ? " endsOnRefresh" : ""
            printer.print("\(error.code) \(error.httpStatus) \(error.action)\(ends)")
        }
        printer.print("\"\"\"")
    }
}

/// The texts of errors for people.
struct KotlinKitTexts {
    let texts: [KitTexts]

    func print(to printer: inout CodePrinter) {
        printer.print(
            "",
            "/** The texts of errors, a line for each code. Loaded when a text is needed. */",
            "internal object ErrorTextLines {"
        )
        printer.withIndentation { printer in
            printer.print("/** The texts of a language; null for a language that isn't there. */")
            printer.print("fun of(language: String): String? = when (language) {")
            for text in texts { printer.printIndented("\"\(text.language)\" -> \(constant(text))") }
            printer.printIndented("else -> null")
            printer.print("}")
        }
        for text in texts {
            printer.print("")
            printer.withIndentation { $0.print("private const val \(constant(text)) = \"\"\"") }
            for (code, sentence) in text.sentences { printer.print("\(code) \(escaped(sentence))") }
            printer.print("\"\"\"")
        }
        printer.print("}")
    }

    private func constant(_ text: KitTexts) -> String {
        "LINES_\(text.language.uppercased().replacing("-", with: "_"))"
    }

    /// Texts of Kotlin in three quotes know no escapes.
    private func escaped(_ sentence: String) -> String {
        sentence.replacing("$", with: "${'$'}").replacing("\"\"\"", with: "”")
    }
}
