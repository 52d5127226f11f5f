/// Who may call the operators' methods, and under which name the audit log has what they do.
public struct OperatorCallers: Sendable, Hashable {
    /// Operators, whose name is that in their certificate.
    public let operators: CallerTrust
    /// Consoles, which act for operators whom they name.
    public let consoles: CallerTrust

    /// Callers that are trusted.
    public init(operators: CallerTrust, consoles: CallerTrust) {
        self.operators = operators
        self.consoles = consoles
    }

    /// The operator's name; nil where callers have none.
    ///
    /// A console's call counts only if it names an operator, also where the console's certificate is an operator's too.
    ///
    /// - Parameter claimed: the name that the call says; counts only for consoles.
    /// - Throws: `notAnOperator`.
    public func name(certificateNames: [String], claimed: String?) throws(IdentityError) -> String? {
        switch consoles {
        case .named where consoles.believes(certificateNames):
            // No console speaks as one whose certificate says who it is.
            guard let name = claimed.flatMap({ OperatorName($0) }), !operators.believes([name.value]) else {
                throw .operation(.notAnOperator)
            }
            return name.value
        case .everybody:
            // In development: a command names nobody.
            if let claimed {
                guard let name = OperatorName(claimed) else { throw .operation(.notAnOperator) }
                return name.value
            }
        case .named, .nobody: break
        }
        guard operators.believes(certificateNames) else { throw .operation(.notAnOperator) }
        return operators.name(in: certificateNames)
    }
}
