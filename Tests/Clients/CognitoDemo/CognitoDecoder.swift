// What the Cognito demo's iOS app makes of our answer, with the type that it declares. Decodes a body of standard input; what
// was understood goes to standard output as JSON, and a body that the decoder refuses ends the program with status 1.
import Foundation

struct AuthResponse: Decodable {
    let idToken: String
    let accessToken: String
    let refreshToken: String?
    let expiresIn: Int

    enum CodingKeys: String, CodingKey {
        case idToken = "id_token"
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
        case expiresIn = "expires_in"
    }
}

do {
    let answer = try JSONDecoder().decode(AuthResponse.self, from: FileHandle.standardInput.readDataToEndOfFile())
    let result: [String: Any] = [
        "id_token": answer.idToken, "access_token": answer.accessToken, "refresh_token": answer.refreshToken ?? "",
        "expires_in": answer.expiresIn,
    ]
    FileHandle.standardOutput.write(try JSONSerialization.data(withJSONObject: result))
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
