// What the drivers' app makes of our answers, with the types that it declares. `sign-in` and `refresh` decode a body of
// standard input, `expiry` reads the end of a token. What was understood goes to standard output as JSON; a body that the
// app's decoder refuses ends the program with status 1.
import Foundation

struct User: Decodable {
    let id: String
    let email: String?
    let name: String?
}

struct AppleSignInResponse: Decodable {
    let success: Bool
    let token: String
    let user: User
}

struct RefreshResponse: Decodable {
    let success: Bool
    let token: String
}

enum TokenError: Error {
    case malformed
}

/// When a token ends, read as apps do: without a look at its signature.
func expiry(of token: String) throws -> Date {
    let parts = token.split(separator: ".")
    guard parts.count == 3 else { throw TokenError.malformed }
    var text = parts[1].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    text += String(repeating: "=", count: (4 - text.count % 4) % 4)
    guard let data = Data(base64Encoded: text),
        let claims = try JSONSerialization.jsonObject(with: data) as? [String: Any],
        let seconds = claims["exp"] as? TimeInterval
    else { throw TokenError.malformed }
    return Date(timeIntervalSince1970: seconds)
}

func understood(_ decoder: String, _ body: Data) throws -> [String: Any] {
    switch decoder {
    case "sign-in":
        let answer = try JSONDecoder().decode(AppleSignInResponse.self, from: body)
        return [
            "success": answer.success, "token": answer.token, "id": answer.user.id,
            "email": answer.user.email ?? "", "name": answer.user.name ?? "",
        ]
    case "refresh":
        let answer = try JSONDecoder().decode(RefreshResponse.self, from: body)
        return ["success": answer.success, "token": answer.token]
    case "expiry":
        let end = try expiry(of: String(decoding: body, as: UTF8.self))
        let isSoon = end.timeIntervalSinceNow < 24 * 60 * 60
        return ["expires_at": end.timeIntervalSince1970, "needs_refresh": isSoon]
    default:
        throw TokenError.malformed
    }
}

do {
    let arguments = CommandLine.arguments
    let result = try understood(arguments.count > 1 ? arguments[1] : "", FileHandle.standardInput.readDataToEndOfFile())
    FileHandle.standardOutput.write(try JSONSerialization.data(withJSONObject: result))
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
