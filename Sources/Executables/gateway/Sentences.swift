import ArgumentParser
import GatewayService

/// `gateway sentences`: what the pages say, as a file to change or to translate.
struct Sentences: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sentences",
        abstract: "Print the sentences of the pages in a language.",
        discussion: """
            It is a file for VESTIBULE_GATEWAY_LANGUAGES_FOLDER, such as de.json: change or translate what you want, and \
            leave out the rest. See docs/apps/page-languages.md.
            """
    )

    @Argument(help: ArgumentHelp("One of \(PageSentences.languages.joined(separator: ", ")).", valueName: "language"))
    var language = "en"

    func run() throws {
        guard let json = PageSentences.json(language) else {
            throw ValidationError(
                "There is no language \(language): it is one of \(PageSentences.languages.joined(separator: ", "))."
            )
        }
        print(json)
    }
}
