/// What functions of this layer can fail with. Fatal for the object concerned, never for the process.
#ifndef CRPC_ERROR_H
#define CRPC_ERROR_H

typedef enum crpc_error {
    CRPC_OK = 0,
    /// No memory, or a maximum of this layer itself; LIMIT is for configured ones.
    CRPC_ERROR_MEMORY = -1,
    /// A system call failed; errno says why.
    CRPC_ERROR_SYSTEM = -2,
    /// The peer broke HTTP/2 or gRPC.
    CRPC_ERROR_PROTOCOL = -3,
    /// TLS: a certificate, a key or a handshake is not acceptable.
    CRPC_ERROR_TLS = -4,
    /// The object has ended, or will take nothing new.
    CRPC_ERROR_CLOSED = -5,
    /// An argument is not acceptable.
    CRPC_ERROR_ARGUMENT = -6,
    /// A limit that the configuration names was reached.
    CRPC_ERROR_LIMIT = -7,
    /// The time limit passed.
    CRPC_ERROR_TIMEOUT = -8,
    /// The address is in use by another socket.
    CRPC_ERROR_ADDRESS_IN_USE = -9,
} crpc_error;

/// A constant text for an error code. Any thread.
const char *crpc_error_text(int error);

#endif
