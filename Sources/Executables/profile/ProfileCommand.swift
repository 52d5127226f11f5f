import ArgumentParser
import ProfileService
import ServiceCommands

/// The program `profile`.
@main
struct ProfileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.service(
        ProfileServer.self,
        abstract: "Stores names, usernames and phone numbers.",
        [ImportProfiles.self, Work<ProfileServer>.self, Account<ProfileServer>.self]
    )
}
