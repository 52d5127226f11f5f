/// Sockets after their connection. One that is closed while bytes of the peer are unread is reset, and the peer may lose what
/// we said last: why it was dismissed, or the end of an answer. So the sending half is closed, and the rest read and dropped
/// for a while. What is dropped is not decrypted. Loop thread; no callback.
#ifndef CRPC_LINGER_H
#define CRPC_LINGER_H

#include "crpc_loop.h"
#include "transport/addresses.h"

/// Takes over a socket to which all was said: drops what still comes until the peer closes it, or a limit is reached
/// (CRPC_LINGER_MS and its neighbours), or the loop is freed. `leaves_rest`: the peer may be sending the rest of a request that was
/// answered, for which the limits are higher (CRPC_LINGER_BODY_MS). Where CRPC_LINGERING_MAX of them linger, the oldest from the
/// same network ends, or else the oldest.
void crpc_linger(crpc_loop *loop, int fd, crpc_network network, bool leaves_rest);

/// Closes the socket that lingers for longest, since its file is needed. False if none lingers.
bool crpc_linger_end_oldest(crpc_loop *loop);

#endif
