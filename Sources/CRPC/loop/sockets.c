#include "loop/sockets.h"

#include "crpc_error.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int socket_parse(const char *address, uint16_t port, struct sockaddr_storage *storage, socklen_t *length) {
    memset(storage, 0, sizeof *storage);
    struct sockaddr_in *v4 = (struct sockaddr_in *)storage;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)storage;
    if (inet_pton(AF_INET, address, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
        *length = sizeof *v4;
        return CRPC_OK;
    }
    if (inet_pton(AF_INET6, address, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(port);
        *length = sizeof *v6;
        return CRPC_OK;
    }
    return CRPC_ERROR_ARGUMENT;
}

static uint16_t socket_port_of(const struct sockaddr_storage *storage) {
    return ntohs(
        storage->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)storage)->sin6_port
                                       : ((const struct sockaddr_in *)storage)->sin_port);
}

static int socket_open(int family) { return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

int crpc_socket_listen(
    const char *address, uint16_t port, bool shared_port, bool joins_port, int *fd, uint16_t *bound_port) {
    struct sockaddr_storage storage;
    socklen_t length;
    int error = socket_parse(address, port, &storage, &length);
    if (error != CRPC_OK) return error;
    int s = socket_open(storage.ss_family);
    if (s < 0) return CRPC_ERROR_SYSTEM;
    int on = 1;
    // SO_REUSEADDR lets a restarted server take a port whose old connections are still in TIME_WAIT. SO_REUSEPORT
    // before bind joins other listeners; after it, it only lets others join.
    bool ok = setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
              (!joins_port || setsockopt(s, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0) &&
              bind(s, (struct sockaddr *)&storage, length) == 0 &&
              (!shared_port || setsockopt(s, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0) &&
              listen(s, CRPC_BACKLOG_MAX) == 0;
    length = sizeof storage;
    if (!ok || getsockname(s, (struct sockaddr *)&storage, &length) != 0) {
        int saved = errno;
        (void)close(s);
        errno = saved;
        return saved == EADDRINUSE ? CRPC_ERROR_ADDRESS_IN_USE : CRPC_ERROR_SYSTEM;
    }
    *bound_port = socket_port_of(&storage);
    *fd = s;
    return CRPC_OK;
}

int crpc_socket_connect(const char *address, uint16_t port, int *fd) {
    struct sockaddr_storage storage;
    socklen_t length;
    int error = socket_parse(address, port, &storage, &length);
    if (error != CRPC_OK) return error;
    int s = socket_open(storage.ss_family);
    if (s < 0) return CRPC_ERROR_SYSTEM;
    int on = 1;
    bool ok = setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0 &&
              (connect(s, (struct sockaddr *)&storage, length) == 0 || errno == EINPROGRESS);
    if (!ok) {
        int saved = errno;
        (void)close(s);
        errno = saved;
        return CRPC_ERROR_SYSTEM;
    }
    *fd = s;
    return CRPC_OK;
}

void crpc_socket_write_peer(const struct sockaddr_storage *address, char text[CRPC_ADDRESS_LENGTH]) {
    char digits[INET6_ADDRSTRLEN] = "";
    bool is_v6 = address->ss_family == AF_INET6;
    const void *raw = is_v6 ? (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr
                            : (const void *)&((const struct sockaddr_in *)address)->sin_addr;
    if (inet_ntop(address->ss_family, raw, digits, sizeof digits) == NULL) digits[0] = 0;
    (void)snprintf(text, CRPC_ADDRESS_LENGTH, is_v6 ? "[%s]:%u" : "%s:%u", digits, (unsigned)socket_port_of(address));
}

void crpc_socket_set_nodelay(int fd) {
    int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void crpc_socket_set_resetting(int fd) {
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
}

int crpc_socket_error(int fd) {
    int error = 0;
    socklen_t length = sizeof error;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

static ssize_t socket_failure(void) {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? CRPC_IO_WAITS : CRPC_IO_FAILED;
}

ssize_t crpc_socket_read(int fd, uint8_t *target, size_t length) {
    ssize_t count = recv(fd, target, length, 0);
    return count >= 0 ? count : socket_failure();
}

ssize_t crpc_socket_write(int fd, const uint8_t *bytes, size_t length) {
    ssize_t count = send(fd, bytes, length, MSG_NOSIGNAL);
    return count >= 0 ? count : socket_failure();
}

size_t crpc_socket_unsent(int fd) {
    int unsent = 0;
    return ioctl(fd, SIOCOUTQ, &unsent) == 0 ? (size_t)unsent : 0;
}
