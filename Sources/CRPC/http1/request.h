/// Requests on a connection of HTTP/1.x: heads and bodies as they come, and the exchanges that they become. Inside of this floor;
/// thread and callbacks as connection.h says.
#ifndef CRPC_H1_REQUEST_H
#define CRPC_H1_REQUEST_H

#include "http/held.h"
#include "http1/http1_connection.h"

extern const crpc_exchange_table crpc_h1_exchange_table;

/// Takes what waits, as far as it can be taken now.
void crpc_h1_take_waiting(crpc_h1 *h1);
/// The head that was begun, if one was, did not come in time.
void crpc_h1_miss_head(crpc_h1 *h1);
/// The body cannot be read on: tells so, if anybody wants to know.
void crpc_h1_break_body(crpc_h1 *h1, int error);
/// The exchange has ended; then another request may come, if the connection goes on.
void crpc_h1_close_exchange(crpc_h1 *h1, bool is_complete);
/// Answers in the place of the layer above.
void crpc_h1_refuse(crpc_h1 *h1, uint32_t status);

/// Counts what the client makes us hold.
static inline void crpc_h1_count_held(crpc_h1 *h1) {
    size_t now = h1->output.queued_bytes + h1->waiting.capacity + h1->request.unread_bytes + h1->request.kept_bytes;
    if (now != h1->held_bytes) crpc_service_hold(h1->service, &h1->held_bytes, now - h1->held_bytes);
}
/// Sets a moment.
static inline void crpc_h1_set_due(crpc_h1 *h1, crpc_h1_due due, uint64_t ns) {
    h1->due_ns[due] = ns;
    if (ns != 0 && ns < h1->next_ns) h1->next_ns = ns;
}
/// Sets one for so long after now; 0 ms for none.
static inline void crpc_h1_limit(crpc_h1 *h1, crpc_h1_due due, uint32_t ms) {
    crpc_h1_set_due(h1, due, ms == 0 ? 0 : h1->turn->now_ns + crpc_ns_of_ms(ms));
}

#endif
