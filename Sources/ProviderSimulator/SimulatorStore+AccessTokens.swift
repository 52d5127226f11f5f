import HTTPJSON
import HTTPTypes
import JOSE

extension SimulatorStore {
    /// Google's `tokeninfo` of an access token: its client, user and scopes; numbers and booleans are strings.
    func googleTokenInfo(_ token: String?) throws(OAuthError) -> JSONObject {
        guard let access = live(token, .google) else {
            throw OAuthError(word: "invalid_token", sentence: "Invalid Value")
        }
        var body: JSONObject = [
            "azp": .string(access.clientID), "aud": .string(access.clientID), "sub": .string(access.person.subject),
            "scope": .string(GoogleScopes.text(tellsEmail: access.tellsEmail)),
            "exp": .string("\(access.expiresAtSeconds)"),
            "expires_in": .string("\(access.expiresAtSeconds - environment.nowSeconds())"),
        ]
        if access.tellsEmail, let email = access.person.email {
            body["email"] = .string(email)
            body["email_verified"] = .string("\(access.person.isEmailVerified)")
        }
        body["access_type"] = "online"
        return body
    }

    /// Google's `userinfo`: the token's user.
    func googleUserInfo(_ token: String?) throws(OAuthError) -> JSONObject {
        guard let access = live(token, .google) else {
            throw OAuthError(status: .unauthorized, word: "invalid_request", sentence: "Invalid Credentials")
        }
        let person = access.person
        var body: JSONObject = ["sub": .string(person.subject)]
        if let name = person.fullName { body["name"] = .string(name) }
        if let name = person.givenName { body["given_name"] = .string(name) }
        if let name = person.familyName { body["family_name"] = .string(name) }
        if access.tellsEmail, let email = person.email {
            body["email"] = .string(email)
            body["email_verified"] = .bool(person.isEmailVerified)
        }
        return body
    }

    /// Facebook's `debug_token`: the app of a token, and whether the token is valid.
    ///
    /// - Parameter appToken: `APPID|SECRET`; the secret of a registered app must be right.
    func facebookDebugToken(_ token: String?, appToken: String?) throws(FacebookError) -> JSONObject {
        guard let appToken, !appToken.isEmpty else {
            throw FacebookError(104, "An access token is required to request this resource.")
        }
        let parts = appToken.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { throw .cannotParse }
        if case .secret(let secret?)? = clients(.facebook, parts[0]).first?.credential,
            !ConstantTime.areEqual(parts[1], secret)
        {
            throw FacebookError(1, "Error validating application. Cannot get application info due to a system error.")
        }
        guard let token, !token.isEmpty else {
            throw FacebookError(100, "(#100) The parameter input_token is required.")
        }
        guard let access = accessTokens[token], access.provider == .facebook else {
            return Self.invalid(190, "Invalid OAuth access token - Cannot parse access token")
        }
        guard access.clientID == parts[0] else {
            // For another app's token the call fails and discloses nothing.
            throw FacebookError(100, "(#100) The App_id in the input_token did not match the Viewing App")
        }
        let isValid = environment.nowSeconds() < access.expiresAtSeconds
        var data: JSONObject = [
            "app_id": .string(access.clientID), "type": "USER", "application": "Simulated app",
            "data_access_expires_at": .integer(access.issuedAtSeconds + 7_776_000),
        ]
        if !isValid { data["error"] = .object(FacebookError.expired.debugBody) }
        data["expires_at"] = .integer(access.expiresAtSeconds)
        data["is_valid"] = .bool(isValid)
        data["issued_at"] = .integer(access.issuedAtSeconds)
        data["scopes"] = access.person.email == nil ? ["public_profile"] : ["email", "public_profile"]
        data["user_id"] = .string(access.person.subject)
        return ["data": .object(data)]
    }

    /// Facebook's `/me`: the fields of the token's person that were asked for and are known, the id always.
    ///
    /// - Parameter proof: `appsecret_proof`, the hexadecimal HMAC of the token under the app's secret; checked if it is given
    ///   and the app is registered.
    func facebookMe(_ token: String?, fields: String?, proof: String?) throws(FacebookError) -> JSONObject {
        guard let token, !token.isEmpty else {
            throw FacebookError(
                2500,
                "An active access token must be used to query information about the current user."
            )
        }
        guard let access = accessTokens[token], access.provider == .facebook else { throw .cannotParse }
        guard environment.nowSeconds() < access.expiresAtSeconds else { throw .expired }
        if let proof, case .secret(let secret?)? = clients(.facebook, access.clientID).first?.credential {
            let code = SHA256.authenticationCode(of: Array(token.utf8), key: Array(secret.utf8))
            guard ConstantTime.areEqual(proof, Hex.encode(code)) else {
                throw FacebookError(
                    100,
                    "Invalid appsecret_proof provided in the API argument",
                    type: "GraphMethodException"
                )
            }
        }
        let person = access.person
        var body = JSONObject()
        for field in (fields ?? "id,name").split(separator: ",") {
            switch field {
            case "name": body["name"] = person.fullName.map { .string($0) }
            case "first_name": body["first_name"] = person.givenName.map { .string($0) }
            case "last_name": body["last_name"] = person.familyName.map { .string($0) }
            case "email": body["email"] = person.email.map { .string($0) }
            default: break
            }
        }
        body["id"] = .string(person.subject)
        return body
    }

    private func live(_ token: String?, _ provider: Provider) -> AccessToken? {
        guard let token, let access = accessTokens[token], access.provider == provider,
            environment.nowSeconds() < access.expiresAtSeconds
        else { return nil }
        return access
    }

    private static func invalid(_ code: Int64, _ message: String) -> JSONObject {
        [
            "data": [
                "error": ["code": .integer(code), "message": .string(message)], "is_valid": false, "scopes": [],
            ]
        ]
    }
}
