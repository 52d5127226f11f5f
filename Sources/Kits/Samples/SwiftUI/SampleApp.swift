import SwiftUI
import VestibuleClient

@main
struct SampleApp: App {
    // cut: client
    @State private var model = AppModel(
        Vestibule(url: URL(string: "https://api.example.com")!, store: KeychainStore())
    )
    // cut end

    var body: some Scene {
        WindowGroup {
            Group {
                if model.userID == nil { SignInView() } else { GroupsView() }
            }
            .environment(model)
            .task { await model.followSession() }
            .alert("That didn’t work", isPresented: .constant(model.message != nil)) {
                Button("OK") { model.message = nil }
            } message: {
                Text(model.message ?? "")
            }
        }
    }
}
