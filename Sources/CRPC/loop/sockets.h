/// Sockets of TCP that do not block. Loop thread, or any thread for a socket that is on no loop. On errors errno says why.
#ifndef CRPC_SOCKETS_H
#define CRPC_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/// Connections that wait in the kernel to be accepted.
enum { CRPC_BACKLOG_MAX = 1024 };

/// Bytes of an address as text, with its port and a zero.
enum { CRPC_ADDRESS_LENGTH = 64 };

/// What reading and writing come to where no bytes go.
enum { CRPC_IO_ENDED = 0, CRPC_IO_WAITS = -1, CRPC_IO_FAILED = -2, CRPC_IO_TLS_FAILED = -3 };

/// Opens a listening socket, which is the caller's. Errors: SYSTEM, ADDRESS_IN_USE, ARGUMENT.
int crpc_socket_listen(
    const char *address, uint16_t port, bool shared_port, bool joins_port, int *fd, uint16_t *bound_port);
/// Begins to connect; the socket is the caller's. Errors: SYSTEM, ARGUMENT.
int crpc_socket_connect(const char *address, uint16_t port, int *fd);
/// Sends small writes at once, which is wished for and not needed.
void crpc_socket_set_nodelay(int fd);
/// Lets its close be an RST, by which the peer sees that something is missing. What it has not acknowledged is lost.
void crpc_socket_set_resetting(int fd);
/// What went wrong with it, as errno has it; 0 for nothing.
int crpc_socket_error(int fd);
/// Writes an address as text.
void crpc_socket_write_peer(const struct sockaddr_storage *address, char text[CRPC_ADDRESS_LENGTH]);

/// Reads once. Bytes read, or one of the above.
ssize_t crpc_socket_read(int fd, uint8_t *target, size_t length);
/// Writes once. Bytes written, or one of the above.
ssize_t crpc_socket_write(int fd, const uint8_t *bytes, size_t length);
/// Bytes that the kernel holds and the peer has not acknowledged; 0 where it does not say.
size_t crpc_socket_unsent(int fd);

#endif
