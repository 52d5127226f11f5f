import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension InvitesMethods {
    /// Streams the group changes of a gateway's subscribers, for as long as the gateway takes them and this server runs.
    func watchGroups(
        _ requests: MessageReader<InvitesV1.WatchGroupsRequest>,
        responses: MessageWriter<InvitesV1.WatchGroupsResponse>,
        context: ServerContext
    ) async throws {
        try await context.answer {
            guard let stream = groupEvents.open() else {
                throw RPCError(.unavailable, "the server is stopping, or has too many subscribers")
            }
            defer { groupEvents.close(stream) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask { for try await request in requests { take(request, on: stream) } }
                group.addTask {
                    while let messages = await stream.next() {
                        for message in messages { try await responses.write(message) }
                    }
                    // The task below throws the reason.
                    try await Task.sleep(for: GroupEventStream.waitLimit)
                }
                // Also disconnects a gateway that takes nothing.
                group.addTask {
                    switch await stream.ended() {
                    case .behind: throw RPCError(.resourceExhausted, "the gateway is behind")
                    case .stopping: throw RPCError(.unavailable, "the server is stopping")
                    case nil: break
                    }
                }
                try await group.next()
                try Task.checkCancellation()
            }
        }
    }

    private func take(_ request: InvitesV1.WatchGroupsRequest, on stream: GroupEventStream) {
        switch request.action {
        case .begin(let begin):
            do throws(CallerProofError) {
                let userID = try currentCallers.current.user(proof: begin.callerProof)
                let (cursors, scope) = (currentCursors.current, GroupPosition.scope(of: userID))
                groupEvents.begin(
                    request.watchID,
                    of: userID,
                    // A position that isn't one of this account begins the stream anew.
                    from: begin.position.isEmpty ? .now : .after(try? cursors.open(begin.position, for: scope)),
                    positionKey: cursors.key(for: scope).bytes,
                    on: stream
                )
            } catch {
                groupEvents.refuse(request.watchID, error.rpcError.reason ?? "\(error)", on: stream)
            }
        case .end: groupEvents.end(request.watchID, on: stream)
        case nil: break
        }
    }
}
