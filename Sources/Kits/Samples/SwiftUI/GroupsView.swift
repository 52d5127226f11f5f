import SwiftUI
import VestibuleClient

struct GroupsView: View {
    @Environment(AppModel.self) private var model
    @State private var name = ""

    // cut: view
    var body: some View {
        NavigationStack {
            List {
                Section(model.profile?.displayName ?? "") {
                    ForEach(model.groups, id: \.groupID) { group in Text(group.name) }
                    TextField("New group", text: $name)
                        .onSubmit { Task { await model.createGroup(name) } }
                }
                Button("Sign out") { Task { await model.signOut() } }
                Button("Delete account", role: .destructive) { Task { await deleteAccount() } }
            }
            .navigationTitle("Groups")
        }
        // It ends with the view, and begins anew for another user.
        .task(id: model.userID) { await model.followGroups() }
    }
    // cut end

    // cut: ask-apple
    private func deleteAccount() async {
        do {
            guard let credentials = try await model.vestibule.appleCredentials() else { return }
            await model.deleteAccount(credentials)
        } catch {
            model.show(error)
        }
    }
    // cut end
}
