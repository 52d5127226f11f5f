import IdentityDomain
import JOSE
import ServiceKit

/// Judges the content of a clients file as identity does at its start.
struct ClientsJudge: Sendable {
    private let place: CommandPlace
    /// Those of the configured providers, as far as they can be read.
    private let audiences: Set<String>

    init(_ place: CommandPlace) {
        self.place = place
        let configuration = try? Configuration.load(
            only: ProviderSettings.keys,
            path: place.configurationPath,
            environment: place.environment
        )
        let providers = configuration.map { ProviderSettings($0).providers } ?? []
        audiences = Set(providers.flatMap { $0.policy.audiences.keys })
    }

    /// The clients of a content, sorted by their ids.
    ///
    /// - Throws: all faults, each in a line.
    func read(_ content: [UInt8]) throws(CommandError) -> [OAuthClient] {
        do throws(ConfigurationErrors) {
            let configuration = try place.configuration(
                [IdentityKeys.clientsFile],
                environment: [IdentityKeys.clientsFile.name: place.path],
                contents: [place.path: content]
            )
            return try ClientsFile.read(configuration[IdentityKeys.clientsFile], audiences: audiences)
                .values.sorted { $0.id < $1.id }
        } catch {
            throw CommandError(lines: error.faults.map { "\(place.path): \($0.problem)" })
        }
    }

    /// The faults of a content.
    func faults(_ content: [UInt8]) -> [String] {
        do throws(CommandError) {
            _ = try read(content)
            return []
        } catch {
            return error.lines
        }
    }
}
