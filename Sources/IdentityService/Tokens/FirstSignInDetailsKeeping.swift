import IdentityDomain
import JOSE
import Models
import RPC
import ServiceKit

/// Name and e-mail that an app got only once, as they come with credentials.
struct SubmittedDetails: Sendable {
    let fullName: String
    let email: String
    /// The device; empty if the app names none.
    let deviceName: String
}

extension IdentityMethods {
    /// How long storing the details may take.
    static let firstSignInDetailsLimit: Duration = .seconds(5)

    /// Verifies a token that came with a name. If that fails for now, the details are stored for the user: with the token sealed
    /// while the provider's keys can't be had, and as verified where only the nonce or the code is wrong. Apple's next token is another
    /// one, and comes without the name.
    ///
    /// - Parameters:
    ///   - text: the token as it came.
    ///   - check: what else the claims must fulfil.
    /// - Throws: `TokenRejection`, `IdentityError.providerUnavailable`, or what `check` throws.
    func verifiedClaims(
        _ token: ProviderToken,
        _ text: String,
        nonce: String,
        code: String,
        told: SubmittedDetails,
        policy: ProviderPolicy,
        context: ServerContext,
        check: (ProviderClaims) throws -> Void = { _ in }
    ) async throws -> ProviderClaims {
        let now = clock.nowSeconds
        let key: VerificationKey
        do {
            key = try await keys.key(id: token.keyID, algorithm: token.algorithm, of: policy.name)
        } catch {
            guard mayProveLater(error, provider: policy.name) else { throw error }
            let named = try token.plausibleClaims(policy: policy, nowSeconds: now, nonce: nil, code: "")
            await keepTold(told, key: token.fingerprint, of: named, token: text, policy, context)
            _ = try token.plausibleClaims(policy: policy, nowSeconds: now, nonce: nonce, code: code)
            throw error
        }
        do {
            let claims = try token.claims(verifiedWith: key, policy: policy, nowSeconds: now, nonce: nonce, code: code)
            try check(claims)
            return claims
        } catch {
            if !told.fullName.isEmpty,
                let named = try? token.claims(verifiedWith: key, policy: policy, nowSeconds: now, nonce: nil, code: "")
            {
                await keepTold(told, key: token.fingerprint, of: named, token: nil, policy, context)
            }
            throw error
        }
    }

    /// Whether a token whose key was not found may prove itself yet: the provider can't be asked now, or its keys can't be had
    /// and who sent the token left before that was known.
    ///
    /// Where there are keys, one that left says nothing: anybody can make up a token of an unknown key and hang up.
    private func mayProveLater(_ error: any Error, provider: ProviderName) -> Bool {
        if case IdentityError.providerUnavailable = error { return true }
        return error is CancellationError && !keys.isServing(provider)
    }

    /// Keeps name and e-mail until the person signs in. The caller gets the error of the try, whether or not there was room.
    ///
    /// In a task and with a time of its own: a phone that left, or whose time the provider has used up, tells a name once all
    /// the same. The call waits for it, so there are no more of these than calls.
    ///
    /// - Parameters:
    ///   - claims: whom the token names; nil for a code alone.
    ///   - token: the token, if it is to be verified yet.
    func keepTold(
        _ words: SubmittedDetails,
        key: [UInt8],
        of claims: ProviderClaims?,
        token: String?,
        _ provider: ProviderPolicy,
        _ context: ServerContext
    ) async {
        let person = claims.map {
            FirstSignInDetails.Person(subject: $0.subject, clientID: $0.audience, deviceName: words.deviceName)
        }
        let told = FirstSignInDetails(
            key: key,
            provider: provider.name,
            fullName: words.fullName,
            email: words.email,
            person: person,
            unverifiedToken: token
        )
        guard let told else { return }
        let sealed = told.unverifiedToken.map { ownKeys.current.toldOnceSeal.seal($0, key: key) }
        let (store, addressCode, now) = (store, addressKey.code(of: context.metadata), clock.nowMilliseconds)
        await Task {
            try? await store.keep(
                told,
                sealedToken: sealed,
                addressCode: addressCode,
                nowMilliseconds: now,
                deadline: .after(Self.firstSignInDetailsLimit)
            )
        }.value
    }

    /// Gives a new account the name that the same app told for the same person in a try before, if it has none.
    ///
    /// The oldest that a token of the provider's vouches for counts. A failure leaves the account as it is, since the person is signed
    /// in: then the next repetition of the sign-in looks again.
    ///
    /// - Parameter isInBrowser: whether it was begun in a browser, which names no device.
    /// - Returns: the name; nil if there is none.
    func nameToldBefore(
        _ signIn: SignIn,
        isInBrowser: Bool,
        userID: UserID,
        policy: ProviderPolicy,
        context: ServerContext
    ) async -> String? {
        guard [.nonce, .code, .fresh].contains(signIn.proof) else { return nil }
        let person = FirstSignInDetails.Person(
            subject: signIn.subject,
            clientID: signIn.clientID,
            deviceName: isInBrowser ? "" : signIn.deviceName ?? ""
        )
        do {
            let names = try await store.keptNames(
                of: person,
                policy.name,
                before: userID,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            guard let name = names.first(where: { isVouchedFor($0, person, policy) })?.fullName else { return nil }
            let isTaken = try await store.take(
                name,
                toldFor: person,
                policy.name,
                of: userID,
                deadline: context.deadline
            )
            return isTaken ? name : nil
        } catch {
            return nil
        }
    }

    /// Whether a token of the provider's came with a name, was good then, and names the person and the app. The nonce may have been
    /// wrong. No key is fetched for it: a made-up token could name an unknown one.
    private func isVouchedFor(_ name: KeptName, _ person: FirstSignInDetails.Person, _ policy: ProviderPolicy) -> Bool {
        guard let sealed = name.sealedToken else { return true }
        guard let text = ownKeys.current.toldOnceSeal.open(sealed, key: name.key),
            let token = try? ProviderToken(parsing: text, policy: policy),
            let key = keys.knownKey(id: token.keyID, algorithm: token.algorithm, of: policy.name),
            let claims = try? token.claims(
                verifiedWith: key,
                policy: policy,
                nowSeconds: name.toldAtMilliseconds / 1000,
                nonce: nil,
                code: ""
            )
        else { return false }
        return claims.subject == person.subject && claims.audience == person.clientID
    }
}
