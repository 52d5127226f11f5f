import ArgumentParser
import IdentityService
import ServiceCommands

/// The program `identity`.
@main
struct IdentityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.service(
        IdentityServer.self,
        abstract: "Verifies sign-ins, and stores accounts and sessions.",
        [
            Check.self, Clients.self, Providers.self, EndSessions.self, AfterRestore.self, AppleTransfer.self,
            ImportAccounts.self,
            Work<IdentityServer>.self,
            Account<IdentityServer>.self,
        ]
    )
}
