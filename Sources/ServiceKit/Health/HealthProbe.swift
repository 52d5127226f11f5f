import API
import RPC
import RPCTransport

/// Asks a gRPC server whether it is serving: the subcommand `healthcheck`, and whoever waits for a service.
public enum HealthProbe {
    /// Whether the server at an address answers that it is serving, within the time.
    public static func check(address: HostPort, timeout: Duration) async -> Bool {
        guard let group = try? EventLoopGroup(loopCount: 1, name: "probe") else { return false }
        var status: HealthV1.HealthCheckResponse.ServingStatus?
        if let channel = try? RPCChannel(target: address.description, group: group) {
            status = try? await HealthClient(channel).check(.init(), options: CallOptions(timeout: timeout)).status
            await channel.close()
        }
        await group.shutdown()
        return status == .serving
    }
}
