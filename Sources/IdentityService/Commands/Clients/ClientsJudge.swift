import IdentityDomain
import JOSE
import KeyRings
import ServiceKit

/// Judges the content of a clients file as identity does at its start.
struct ClientsJudge: Sendable {
    private let place: CommandPlace
    /// Those of the configured providers, as far as they can be read.
    private let audiences: Set<String>
    /// Whether there is a key for RS256, as far as the folder of keys can be read.
    private let signsRS256: Bool

    init(_ place: CommandPlace) {
        self.place = place
        let configuration = try? Configuration.load(
            only: ProviderSettings.keys + [IdentityKeys.keysFolder],
            path: place.configurationPath,
            environment: place.environment
        )
        let providers = configuration.map { ProviderSettings($0).providers } ?? []
        signsRS256 = configuration?[IdentityKeys.keysFolder].map(Self.hasRSAKey) ?? true
        audiences = Set(providers.flatMap { $0.policy.audiences.keys })
    }

    private static func hasRSAKey(_ folder: String) -> Bool {
        do throws(FileError) {
            return try KeyFolder(path: folder).read(.rsa) != nil
        } catch {
            return true
        }
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
            guard let file = configuration[IdentityKeys.clientsFile] else { return [] }
            return try ClientsFile(file: file, audiences: audiences, signsRS256: signsRS256).clients()
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
