import AuthenticationServices
import SwiftUI
import VestibuleClient

// cut: sign-in
struct SignInView: View {
    @Environment(AppModel.self) private var model
    @State private var nonce = SignInNonce()

    var body: some View {
        SignInWithAppleButton(.signIn) { request in
            nonce = SignInNonce()
            request.requestedScopes = [.fullName, .email]
            request.nonce = nonce.sha256
        } onCompletion: { result in
            // A user who cancels has done nothing wrong.
            guard case .success(let authorization) = result,
                let credential = authorization.credential as? ASAuthorizationAppleIDCredential,
                let credentials = Credentials(credential, nonce: nonce)
            else { return }
            Task {
                do {
                    try await model.vestibule.signIn(credentials, deviceName: UIDevice.current.name)
                } catch {
                    model.show(error)
                }
            }
        }
        .frame(height: 50)
        .padding()
    }
}
// cut end
