"""The direction of imports: which module may import which. A lower one never imports a higher one."""

import re

_SERVICE = {
    "API", "KeyRings", "Models", "Postgres", "RPC", "RPCTransport", "ServiceKit", "ServiceModels", "ServiceStore"}

# For each module of ours the modules of ours that it may import.
ALLOWED = {
    "AccountImport": {"COpenSSL", "JOSE", "Models"},
    "API": {"RPC"},
    "AppAttestation": {"Bytes", "Certificates", "JOSE", "WebAuthn"},
    "Backup": {"COpenSSL", "LocalPostgres", "Postgres", "ServiceKit", "ServiceStore"},
    "Bytes": set(),
    "Certificates": {"COpenSSL"},
    "Connect": {"HTTP", "RPC", "RPCTransport"},
    "Console": {"API", "HTTPJSON", "IdentityDomain", "JOSE", "OutgoingHTTP", "RPC", "RPCTransport", "ServiceKit", "WebPages"},
    "Deployment": {"Backup", "Certificates", "JOSE", "KeyRings", "LocalPostgres", "Postgres", "ServiceKit", "ServiceStore"},
    "DPoP": {"Bytes", "JOSE"},
    "GatewayService": {"API", "Connect", "DPoP", "HTTP", "HTTPJSON", "JOSE", "OTLP", "RPC", "RPCTransport", "ServiceKit", "WebPages"},
    "HTTP": {"RPC"},
    "HTTPJSON": {"HTTP", "JOSE", "RPC", "RPCTransport"},
    "IdentityDomain": {"JOSE", "Models"},
    "IdentityService": _SERVICE | {"AccountImport", "Bytes", "Certificates", "IdentityDomain", "JOSE", "OutgoingHTTP", "WebAuthn"},
    "Images": {"Bytes"},
    "InvitesDomain": {"Models"},
    "InvitesService": _SERVICE | {"Bytes", "InvitesDomain", "JOSE"},
    "JOSE": {"COpenSSL"},
    "KeyRings": {"JOSE", "ServiceKit"},
    "Load": {"API", "CTimerFD", "JOSE", "OutgoingHTTP", "RPC", "RPCTransport", "ServiceKit"},
    "Kits/Samples": {"API", "RPC", "RPCTransport", "SessionVerifier"},
    "Kits/Swift": set(),
    "LocalPostgres": set(),
    "LocalStack": {"Backup", "JOSE", "KeyRings", "LocalPostgres", "OutgoingHTTP", "RPCTransport", "ServiceKit"},
    "Models": {"CNames", "CPhoneNumber"},
    "OTLP": {"RPC", "RPCTransport"},
    "OutgoingHTTP": {"CCurl", "COpenSSL", "RPCTransport"},
    "Postgres": {"CLibPQ", "RPC", "RPCTransport"},
    "ProfileDomain": {"Models"},
    "ProfileService": _SERVICE | {"AccountImport", "Images", "ProfileDomain"},
    "ProtocPlugin": set(),
    "ProviderSimulator": {"HTTPJSON", "JOSE", "OutgoingHTTP", "RPCTransport", "ServiceKit", "WebPages"},
    "RPC": set(),
    "RPCTransport": {"CCrash", "CRPC", "HTTP", "RPC"},
    "SessionVerifier": {"API", "JOSE", "RPC", "RPCTransport"},
    "ServiceCommands": {"ServiceKit"},
    "ServiceKit": {"API", "Bytes", "Certificates", "Connect", "HTTP", "JOSE", "OTLP", "RPC", "RPCTransport"},
    "ServiceModels": {"API", "JOSE", "KeyRings", "Models", "Postgres", "RPC", "ServiceKit", "ServiceStore"},
    "ServiceStore": {"API", "Postgres", "RPC", "RPCTransport", "ServiceKit"},
    "WebAuthn": {"Bytes", "Certificates", "JOSE"},
    "WebPages": {"HTTPJSON", "JOSE"},
    "Executables/gateway": {"GatewayService", "ServiceCommands"},
    "Executables/identity": {"AccountImport", "IdentityService", "ServiceCommands", "ServiceKit"},
    "Executables/invites": {"InvitesService", "ServiceCommands"},
    "Executables/profile": {"ProfileService", "ServiceCommands", "ServiceKit"},
    "Executables/programs": set(),
    "Executables/simulator": {"ProviderSimulator", "ServiceCommands"},
    "Executables/vestibule": {
        "API", "Backup", "Console", "Deployment", "KeyRings", "Load", "LocalStack", "RPC", "RPCTransport", "ServiceCommands", "ServiceKit"},
}
C_MODULES = {"CCrash", "CCurl", "CLibPQ", "CNames", "CNghttp2", "COpenSSL", "CPhoneNumber", "CRPC", "CTimerFD"}
OURS = {name for name in ALLOWED if "/" not in name} | C_MODULES

_SYSTEM = {"Darwin", "Foundation", "FoundationEssentials", "Glibc", "Synchronization"}
# Modules without I/O: what they may import of others is listed too.
PURE = {
    "AppAttestation": set(),
    "Bytes": set(),
    "Certificates": _SYSTEM,
    "DPoP": {"Synchronization"},
    "HTTP": _SYSTEM | {"HTTPTypes"},
    "IdentityDomain": _SYSTEM,
    "Images": _SYSTEM,
    "InvitesDomain": _SYSTEM,
    "JOSE": _SYSTEM,
    "Models": _SYSTEM,
    "ProfileDomain": _SYSTEM,
    "RPC": _SYSTEM | {"SwiftProtobuf", "Tracing"},
    "WebAuthn": set(),
}

_IMPORT = re.compile(
    r"^[ \t]*(?:@\w+(?:\([^)]*\))?[ \t]+)*(?:(?:public|package|internal|private|fileprivate)[ \t]+)?import[ \t]+"
    r"(?:(?:struct|class|enum|protocol|typealias|func|let|var)[ \t]+)?(\w+)",
    re.MULTILINE)


def check(file):
    if not file.is_swift or file.folders[:1] != ["Sources"] or len(file.folders) < 2:
        return
    module = "/".join(file.folders[1:3]) if file.folders[1] in ("Executables", "Kits") else file.folders[1]
    if module not in ALLOWED:
        yield file.fault(0, f"{module} is not in Tests/Tidy/import_rules.py: say there what it may import")
        return
    for match in file.code_matches(_IMPORT):
        imported = match.group(1)
        if imported in OURS and imported not in ALLOWED[module]:
            yield file.fault(match.start(1), f"{module} doesn't import {imported}: imports go downward only")
        elif imported not in OURS and module in PURE and imported not in PURE[module]:
            yield file.fault(match.start(1), f"{module} has no I/O and doesn't import {imported}")
