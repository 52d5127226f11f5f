/// Which requests to a provider are made for unauthenticated callers: invented codes and tokens cost their sender nothing, us a
/// connection, and the provider its patience with us.
///
/// Questions are counted while they are asked, refusals by client and by address for a minute. An address with too many
/// refusals waits until they are forgotten. For a client with too many, from any addresses, only addresses without a refusal are let in:
/// users whose code is valid have none, and keep getting in while many addresses guess. A value without clock: all that
/// matters is a parameter.
public struct ExchangeAdmission: Sendable {
    /// What is decided.
    public enum Verdict: Sendable, Hashable {
        /// It may be asked; ``ended(client:address:wasRefused:nowMilliseconds:)`` must follow.
        case admitted
        /// As many questions are under way as may be.
        case busy
        /// Too many were refused; in so many milliseconds they are forgotten.
        case tooManyRefused(retryAfterMilliseconds: Int64)
    }

    /// The most questions to one provider at a time.
    public static let concurrentMax = 32
    /// The most of them for one client: a flood for one app leaves room for the others.
    public static let concurrentByClientMax = 24
    /// The most of them from one address, so that a slow provider leaves room for others too.
    public static let concurrentByAddressMax = 8
    /// The most refusals of one address in a window. An office behind one address has good codes.
    public static let refusalsByAddressMax = 10
    /// The most refusals for one client in a window, before those with a refusal must wait.
    public static let refusalsByClientMax = 120
    /// For how long refusals count, from the first one on.
    public static let windowMilliseconds: Int64 = 60_000
    /// The most addresses that are remembered. When there are more, all begin anew.
    public static let addressesMax = 4_096
    /// The most clients that are remembered: as many as a provider's audiences may be.
    public static let clientsMax = ProviderPolicy.namesMax

    private struct Refusals {
        var beganAt: Int64
        var count = 0
    }

    private var underWay = 0
    private var underWayByClient: [String: Int] = [:]
    private var underWayByAddress: [[UInt8]: Int] = [:]
    private var byClient: [String: Refusals] = [:]
    private var byAddress: [[UInt8]: Refusals] = [:]

    /// Nothing was asked yet.
    public init() {}

    /// Decides about a question.
    ///
    /// - Parameters:
    ///   - client: the audience that it is asked for: one of the provider's.
    ///   - address: a code of the address that it comes from; nil if that isn't known.
    public mutating func admit(client: String, address: [UInt8]?, nowMilliseconds: Int64) -> Verdict {
        let mine = address.flatMap { Self.current(byAddress[$0], nowMilliseconds) }
        if let mine, mine.count >= Self.refusalsByAddressMax {
            return .tooManyRefused(retryAfterMilliseconds: mine.beganAt + Self.windowMilliseconds - nowMilliseconds)
        }
        let all = Self.current(byClient[client], nowMilliseconds)
        if let all, all.count >= Self.refusalsByClientMax, address == nil || mine != nil {
            return .tooManyRefused(retryAfterMilliseconds: all.beganAt + Self.windowMilliseconds - nowMilliseconds)
        }
        guard underWay < Self.concurrentMax, underWayByClient[client, default: 0] < Self.concurrentByClientMax else {
            return .busy
        }
        if let address {
            guard underWayByAddress[address, default: 0] < Self.concurrentByAddressMax else { return .busy }
            underWayByAddress[address, default: 0] += 1
        }
        underWay += 1
        underWayByClient[client, default: 0] += 1
        return .admitted
    }

    /// A question that was admitted was answered, or will not be.
    ///
    /// - Parameter wasRefused: whether the provider said that the code or token is not good.
    public mutating func ended(client: String, address: [UInt8]?, wasRefused: Bool, nowMilliseconds: Int64) {
        underWay -= 1
        underWayByClient[client] = underWayByClient[client].flatMap { $0 > 1 ? $0 - 1 : nil }
        if let address { underWayByAddress[address] = underWayByAddress[address].flatMap { $0 > 1 ? $0 - 1 : nil } }
        guard wasRefused else { return }
        Self.count(client, in: &byClient, Self.clientsMax, nowMilliseconds)
        if let address { Self.count(address, in: &byAddress, Self.addressesMax, nowMilliseconds) }
    }

    /// The refusals of a window that is not over. A clock that was set back ends it too.
    private static func current(_ refusals: Refusals?, _ now: Int64) -> Refusals? {
        refusals.flatMap { $0.beganAt <= now && now < $0.beganAt + windowMilliseconds ? $0 : nil }
    }

    private static func count<Key: Hashable>(
        _ key: Key,
        in table: inout [Key: Refusals],
        _ keysMax: Int,
        _ now: Int64
    ) {
        var refusals = current(table[key], now) ?? Refusals(beganAt: now)
        refusals.count += 1
        if table[key] == nil, table.count >= keysMax {
            table = table.filter { current($0.value, now) != nil }
            if table.count >= keysMax { table = [:] }
        }
        table[key] = refusals
    }
}
