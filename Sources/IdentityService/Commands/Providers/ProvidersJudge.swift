import IdentityDomain
import JOSE
import ServiceKit

/// Judges the content of a providers file as identity does at its start, by the configured issuer and whether providers are simulated.
struct ProvidersJudge: Sendable {
    private let place: CommandPlace
    private let environment: [String: String]
    /// The configured issuer of our own tokens.
    var issuer: String? { environment[IdentityKeys.issuer.name] }

    init(_ place: CommandPlace) throws(CommandError) {
        self.place = place
        do throws(ConfigurationErrors) {
            let configuration = try Configuration.load(
                only: [IdentityKeys.issuer, IdentityKeys.simulatedProviders],
                path: place.configurationPath,
                environment: place.environment
            )
            var environment = [
                IdentityKeys.providersFile.name: place.path,
                IdentityKeys.simulatedProviders.name: "\(configuration[IdentityKeys.simulatedProviders])",
            ]
            environment[IdentityKeys.issuer.name] = configuration[IdentityKeys.issuer]
            self.environment = environment
        } catch {
            throw CommandError(lines: error.faults.map(\.description))
        }
    }

    /// The providers of a content, sorted by their names, and hints.
    ///
    /// - Parameter others: the contents of other files that are yet to be written.
    /// - Throws: all faults, each in a line.
    func read(
        _ content: [UInt8],
        others: [String: [UInt8]] = [:]
    ) throws(CommandError) -> (providers: [ProviderConfiguration], hints: [String]) {
        let settings = ProviderSettings(try configuration(content, others))
        // A file without providers is reported by another key, and no fault of the file.
        let faults = settings.faults.filter { $0.key == place.key }
        guard faults.isEmpty else { throw CommandError(lines: faults.map(line)) }
        return (settings.providers, settings.hints.map(line))
    }

    /// The faults of a content.
    func faults(_ content: [UInt8], others: [String: [UInt8]] = [:]) -> [String] {
        do throws(CommandError) {
            _ = try read(content, others: others)
            return []
        } catch {
            return error.lines
        }
    }

    /// The rules for URLs and ids.
    func rules() throws(CommandError) -> ProviderRules { ProviderRules(try configuration(Self.none, [:])) }

    private static let none = Array(#"{"providers": []}"#.utf8)

    private func configuration(
        _ content: [UInt8],
        _ others: [String: [UInt8]]
    ) throws(CommandError) -> Configuration {
        do throws(ConfigurationErrors) {
            return try place.configuration(
                ProviderSettings.keys,
                environment: environment,
                contents: others.merging([place.path: content]) { _, new in new }
            )
        } catch {
            throw CommandError(lines: error.faults.map(line))
        }
    }

    private func line(_ fault: ConfigurationError) -> String { "\(place.path): \(fault.problem)" }
}
