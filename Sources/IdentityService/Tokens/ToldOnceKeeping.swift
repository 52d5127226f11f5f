import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// How long it may take to keep what was told.
    static let toldOnceLimit: Duration = .seconds(5)

    /// Whether a token whose key was not found may prove itself yet: the provider can't be asked now, or its keys can't be had
    /// and who sent the token left before that was known.
    ///
    /// Where there are keys, one that left says nothing: anybody can make up a token of an unknown key and hang up.
    func mayProveLater(_ error: any Error, provider: ProviderName) -> Bool {
        if case IdentityFault.providerUnavailable = error { return true }
        return error is CancellationError && !keys.isServing(provider)
    }

    /// Keeps name and e-mail until the credentials that they came with can be verified. The caller is told that the provider
    /// can't be reached, whether or not there was room.
    ///
    /// In a task and with a time of its own: a phone that left, or whose time the provider has used up, tells a name once all
    /// the same. The call waits for it, so there are no more of these than calls.
    func keepTold(
        fullName: String,
        email: String,
        key: [UInt8],
        provider: ProviderPolicy,
        context: ServerContext
    ) async {
        guard let told = ToldOnce(key: key, provider: provider.name, fullName: fullName, email: email) else { return }
        let (store, addressCode, now) = (store, addressKey.code(of: context.metadata), clock.nowMilliseconds)
        await Task {
            try? await store.keep(
                told,
                addressCode: addressCode,
                nowMilliseconds: now,
                deadline: .after(Self.toldOnceLimit)
            )
        }.value
    }
}
