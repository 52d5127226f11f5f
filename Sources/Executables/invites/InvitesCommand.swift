import ArgumentParser
import InvitesService
import ServiceCommands

/// The program `invites`.
@main
struct InvitesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.service(
        InvitesServer.self,
        abstract: "Keeps groups, their members and those they wait for.",
        [Work<InvitesServer>.self, Account<InvitesServer>.self]
    )
}
