/// RSA moduli of chips whose primes can be told from their product (CVE-2017-15361, "ROCA"): each prime is a power of 65537
/// modulo every small prime, and so is the modulus. Such a key of 2048 bits is factored for some tens of thousands of
/// dollars, so that a signature by it proves little.
///
/// An ordinary modulus looks like this by chance once in some 2^27; its owner makes another.
enum RSAWeakness {
    /// Of the primes up to 167 those that tell something (Nemec and others, "The Return of Coppersmith's Attack", 2017):
    /// modulo the others every number is a power of 65537.
    private static let primes: [UInt32] = [11, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157]

    /// For each prime, which remainders are powers of 65537.
    private static let powers: [(prime: UInt32, isPower: [Bool])] = primes.map { prime in
        var isPower = [Bool](repeating: false, count: Int(prime))
        var power: UInt32 = 1
        repeat {
            isPower[Int(power)] = true
            power = power * (65537 % prime) % prime
        } while power != 1
        return (prime, isPower)
    }

    /// Whether the modulus, big-endian, has that structure. Some 4,000 steps for 2048 bits: for when a key is read.
    static func hasGuessablePrimes(modulus: [UInt8]) -> Bool {
        powers.allSatisfy { prime, isPower in
            isPower[Int(modulus.reduce(0) { ($0 << 8 | UInt32($1)) % prime })]
        }
    }
}
