/// The inside of a listener: what it accepts (listener.c), which of its connections make room for others (listener_room.c). Owns
/// its connections. Loop thread. Callbacks: `on_empty`, from inside of the end of a connection.
#ifndef CRPC_LISTENER_INSIDE_H
#define CRPC_LISTENER_INSIDE_H

#include "crpc_listener.h"
#include "transport/driver.h"

struct crpc_listener {
    crpc_service service;
    crpc_loop *loop;
    crpc_resident resident;   // it ends with its loop
    crpc_listener_options options;
    int fd;
    uint16_t port;
    crpc_watch watch;
    crpc_timer resume;        // looks again whether to accept
    uint64_t paused_until_ns; // file descriptors ran out
    crpc_link connections;
    crpc_link shaking;        // those whose handshake is not done, the oldest first
    crpc_link idle;           // those without a call, the one that is so for longest first
    crpc_addresses addresses;
    crpc_proxy_network *proxies; // `options.proxy_count` of them
    uint32_t shaking_count;
    uint32_t leaving_count;   // of the connections, those that end to make room
    bool is_draining, is_accepting;
};

/// What connections tell their listener.
extern const crpc_h2_below crpc_listener_below;
extern const crpc_h1_below crpc_listener_h1_below;

/// A connection has begun. Past the greatest number of handshakes the oldest of them ends.
void crpc_listener_keep(crpc_listener *listener, crpc_driver *driver);
/// It is known where a connection comes from: `from`, or from where its socket does if that is NULL. False if it must end.
bool crpc_listener_place(crpc_listener *listener, crpc_driver *driver, const struct sockaddr_storage *from);
/// A connection of the listener has ended.
void crpc_listener_forget(crpc_listener *listener, crpc_driver *driver);

// ---- Room for those that wait to be accepted ----

/// Begins or stops to watch for connections, by whether one can be taken; sets a timer for when one can be.
void crpc_listener_update_accepting(crpc_listener *listener);
/// Whether another connection could be taken now.
bool crpc_listener_can_take(const crpc_listener *listener);
/// The same, and ends one with this turn to make room, if need be.
bool crpc_listener_makes_room(crpc_listener *listener);
/// Counts a connection from an address, which the caller gives back (`crpc_addresses_give_back`). NULL if the address has as many
/// as it may, or without memory.
crpc_address *crpc_listener_take_address(crpc_listener *listener, const struct sockaddr_storage *from);
/// Gives up a file for a connection that waits, if one does and there is one: a socket that lingers, at once, or a connection with
/// the end of this turn. Where accept reports that there are no files, it has not looked whether anybody waits.
bool crpc_listener_frees_file(crpc_listener *listener);

#endif
