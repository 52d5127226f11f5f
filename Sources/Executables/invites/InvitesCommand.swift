import ArgumentParser
import InvitesService
import ServiceCommands

/// The program `invites`.
@main
struct InvitesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.service(
        InvitesServer.self,
        abstract: "Stores groups, their members and pending members.",
        [Work<InvitesServer>.self, Account<InvitesServer>.self]
    )
}
