import CRPC
import RPC

/// A loop's part of a channel for one address: its connections, and the way back to one. Loop thread only.
final class Subchannel {
    let endpoint: Endpoint
    /// The place among the channel's addresses; nil once the address is none of them any more.
    var index: Int?
    private weak var channel: LoopChannel?
    private var machine: SubchannelState
    /// How often the next connection asks whether the server is there.
    private(set) var keepalive: KeepaliveInterval
    private var connecting: ClientConnection?
    /// Those that take calls. The first with room gets the next call, so that the others may fall idle.
    private var open: [ClientConnection] = []
    /// Those that finish their calls and take no new ones.
    private var draining: [ObjectIdentifier: ClientConnection] = [:]

    init(endpoint: Endpoint, index: Int?, channel: LoopChannel, configuration: ChannelConfiguration) {
        self.endpoint = endpoint
        self.index = index
        self.channel = channel
        keepalive = KeepaliveInterval(configuration.limits.keepaliveInterval)
        machine = SubchannelState(
            backoff: Backoff(first: configuration.backoffFirst, max: configuration.backoffMax),
            connectionsMax: configuration.connectionsPerAddressMax
        )
    }

    var state: ConnectivityState { machine.state }

    /// Whether nothing is left of it.
    var isEmpty: Bool { connecting == nil && open.isEmpty && draining.isEmpty }

    /// A connection that takes another call.
    var connectionWithRoom: ClientConnection? {
        for connection in open where connection.hasRoom { return connection }
        return nil
    }

    /// Begins to connect, if it may.
    func connect() {
        guard machine.canConnect, let channel else { return }
        machine.began()
        do {
            connecting = try ClientConnection(
                subchannel: self,
                loop: channel.loop,
                configuration: channel.configuration,
                tls: channel.tls,
                isExtra: !open.isEmpty
            )
            channel.changed(self)
        } catch {
            failed("\(error)")
        }
    }

    private func failed(_ reason: String) {
        connecting = nil
        guard machine.state != .shutdown else { return }
        let (wait, number) = machine.failed(random: .random(in: 0..<1))
        channel?.loop.schedule(after: wait) { [weak self] in
            guard let self, machine.waited(number) else { return }
            channel?.changed(self)
        }
        let message = "cannot connect to \(endpoint.target.authority): \(reason)"
        let error = RPCError(.unavailable, message, cause: CallNotSent())
        channel?.changed(self, error)
    }

    /// Waits no longer to connect again: the address answers another loop.
    func connectNow() {
        if machine.waitNoLonger() { channel?.changed(self) }
    }

    // MARK: What connections tell

    func opened(_ connection: ClientConnection) {
        guard connection === connecting else { return }
        connecting = nil
        machine.opened()
        open.append(connection)
        channel?.changed(self)
        channel?.onReady?(endpoint)
    }

    /// The connection takes no more calls; those there finish.
    func isDraining(_ connection: ClientConnection) {
        if connection.hasPingedTooOften { keepalive.double() }
        draining[ObjectIdentifier(connection)] = connection
        if connection === connecting {
            failed("the server takes no calls")
        } else {
            lost(connection)
        }
    }

    func closed(_ connection: ClientConnection, _ error: Int32) {
        draining[ObjectIdentifier(connection)] = nil
        if connection === connecting {
            failed(String(cString: crpc_error_text(error)))
        } else {
            lost(connection)
        }
        if isEmpty { channel?.emptied(self) }
    }

    private func lost(_ connection: ClientConnection) {
        guard let place = open.firstIndex(where: { $0 === connection }) else { return }
        open.remove(at: place)
        machine.lost()
        channel?.changed(self)
    }

    // MARK: The end

    /// Takes no more calls; those there finish.
    func shutDown() {
        machine.shutDown()
        for connection in open {
            draining[ObjectIdentifier(connection)] = connection
            connection.drain()
        }
        open = []
        connecting?.close()
    }

    /// Closes everything at once.
    func close() {
        machine.shutDown()
        connecting?.close()
        for connection in open { connection.close() }
        for connection in draining.values { connection.close() }
    }
}
