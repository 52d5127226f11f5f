import API
import Foundation

extension AppMethods {
    /// Keeps an image as the user's avatar. Only a route calls it: a message of an RPC may not be as large as an image.
    func setAvatar(_ image: [UInt8], _ user: SignedInUser) async throws -> AppV1.Profile {
        var call = ProfileV1.SetAvatarRequest()
        call.image = Data(image)
        let options = user.caller.callOptions().proving(user.proofs.profile)
        return AppV1.Profile(try await profile.setAvatar(call, options: options).profile, of: user, avatars)
    }
}
