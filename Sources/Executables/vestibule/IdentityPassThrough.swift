import ArgumentParser

/// A command that runs the one of the same words of the program `identity`, with all its arguments.
protocol IdentityPassThrough: ParsableCommand {
    /// The words of the command behind the program's name.
    static var words: [String] { get }
    /// All that follows.
    var arguments: [String] { get }
}

extension IdentityPassThrough {
    func run() {
        let command = Self.words.joined(separator: " ")
        IdentityProgram.become(
            Self.words + arguments,
            of: "vestibule \(command)",
            inContainers: "docker compose run --rm --no-deps identity \(command)"
        )
    }
}
