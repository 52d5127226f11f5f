import SwiftProtobufPluginLibrary

/// A message as a Kotlin data class, which reads and writes JSON.
struct KotlinKitMessage {
    /// Fields that descriptions don't show.
    private static let secrets: Set = [
        "access_token", "assertion", "authorization_code", "code_verifier", "id_token", "nonce", "refresh_token",
        "token",
    ]

    let message: KitModel.Message

    func print(to printer: inout CodePrinter) {
        printer.print("")
        printer.print(lines: KotlinKit.documentation(message.comment))
        printer.print("public data class \(message.name)(")
        printer.withIndentation { printer in
            for field in message.fields {
                printer.print(lines: KotlinKit.documentation(field.comment))
                printer.print("public val \(field.kotlinName): \(field.kotlinType) = \(field.kotlinDefault),")
            }
        }
        printer.print(") {")
        printer.withIndentation { printer in
            if message.fields.contains(where: { Self.secrets.contains($0.name) }) {
                printer.print("/** Has no field: some are secrets. */")
                printer.print("override fun toString(): String = \"\(message.name)\"", "")
            }
            if message.isSent {
                printer.print("internal fun toJson(): JSONObject = present(")
                for field in message.fields { printer.printIndented("\(field.kotlinPair),") }
                printer.print(")", "")
            }
            printer.print("public companion object {")
            printer.withIndentation { printer in
                printer.print("internal fun fromJson(json: JSONObject): \(message.name) = \(message.name)(")
                for field in message.fields { printer.printIndented("\(field.kotlinName) = \(field.kotlinRead),") }
                printer.print(")")
            }
            printer.print("}")
        }
        printer.print("}")
    }
}

/// An enum as a Kotlin enum class with a value for those of later versions.
struct KotlinKitEnum {
    let enumeration: KitModel.Enumeration

    func print(to printer: inout CodePrinter) {
        printer.print("")
        printer.print(lines: KotlinKit.documentation(enumeration.comment))
        printer.print("public enum class \(enumeration.name)(internal val wireName: String) {")
        printer.withIndentation { printer in
            for value in enumeration.values {
                printer.print(lines: KotlinKit.documentation(value.comment))
                printer.print("\(value.shortName)(\"\(value.name)\"),", "")
            }
            printer.print("/** A value that this version of the kit doesn't know. It can't be sent. */")
            printer.print("UNRECOGNIZED(\"\"),", ";", "")
            printer.print("internal fun toJson(): String? = enumToJson(this, wireName)", "")
            printer.print("internal companion object {")
            printer.printIndented("fun of(name: String?): \(enumeration.name) = enumOf(entries, name) { it.wireName }")
            printer.print("}")
        }
        printer.print("}")
    }
}
