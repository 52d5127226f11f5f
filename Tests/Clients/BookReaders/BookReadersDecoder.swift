// What the book readers' app makes of our answers: `success` and `failure` read a body of standard input with the casts that
// the app has, which forgive much and so hide much. What was understood goes to standard output as JSON; a body that is no
// JSON object ends the program with status 1.
import Foundation

enum BodyError: Error {
    case noObject
}

func understood(_ decoder: String, _ body: Data) throws -> [String: Any] {
    guard let json = try JSONSerialization.jsonObject(with: body) as? [String: Any] else { throw BodyError.noObject }
    if decoder == "failure" {
        let data = json["data"] as? [String: Any]
        return [
            "code": json["code"] as? String ?? "", "message": json["message"] as? String ?? "",
            "status": data?["status"] as? Int ?? 0,
        ]
    }
    return [
        "success": json["success"] as? Bool ?? false,
        "userID": json["user_id"] as? Int ?? 0,
        "username": json["username"] as? String ?? "",
        "email": json["email"] as? String ?? "",
        "token": json["token"] as? String ?? "",
        "displayName": json["display_name"] as? String ?? "",
    ]
}

do {
    let arguments = CommandLine.arguments
    let result = try understood(arguments.count > 1 ? arguments[1] : "", FileHandle.standardInput.readDataToEndOfFile())
    FileHandle.standardOutput.write(try JSONSerialization.data(withJSONObject: result))
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
