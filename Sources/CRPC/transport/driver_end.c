#include "transport/driver.h"
#include "transport/linger.h"
#include "transport/listener.h"

#include <stdlib.h>
#include <unistd.h>

// The phases of a driver, and how it ends.

const uint8_t crpc_phase_moves[CRPC_PHASES] = {
    [CRPC_PHASE_CONNECTING] = CRPC_TO(CRPC_PHASE_HANDSHAKING) | CRPC_TO(CRPC_PHASE_OPEN) | CRPC_TO(CRPC_PHASE_CLOSED),
    [CRPC_PHASE_PROXYING] = CRPC_TO(CRPC_PHASE_HANDSHAKING) | CRPC_TO(CRPC_PHASE_TELLING) | CRPC_TO(CRPC_PHASE_OPEN) |
                            CRPC_TO(CRPC_PHASE_CLOSED),
    [CRPC_PHASE_TELLING] = CRPC_TO(CRPC_PHASE_OPEN) | CRPC_TO(CRPC_PHASE_CLOSED),
    [CRPC_PHASE_HANDSHAKING] = CRPC_TO(CRPC_PHASE_OPEN) | CRPC_TO(CRPC_PHASE_CLOSED),
    [CRPC_PHASE_OPEN] = CRPC_TO(CRPC_PHASE_CLOSED),
};

/// Whether what we said last may still be on its way to a peer that is there.
static bool driver_may_be_heard(const crpc_driver *driver) {
    int error = driver->protocol->error(driver);
    bool is_said = error == CRPC_OK || error == CRPC_ERROR_PROTOCOL || error == CRPC_ERROR_LIMIT;
    return driver->listener != NULL && is_said && driver->out.rest_length == 0 && !driver->end.has_peer_ended &&
           !driver->end.is_forced;
}

void crpc_driver_end(crpc_driver *driver) {
    // A FIN, or TLS's close_notify, would say that the answer is whole.
    bool cuts_short = driver->protocol->is_cut_short(driver), was_open = driver->phase == CRPC_PHASE_OPEN && !cuts_short;
    if (cuts_short) crpc_socket_set_resetting(driver->fd);
    driver->loop->turn.callback_depth += 1;
    if (was_open) crpc_driver_say_goodbye(driver); // the end of a call that ends with it is reported
    crpc_driver_set_phase(driver, CRPC_PHASE_CLOSED);
    driver->protocol->tell_end(driver);
    driver->loop->turn.callback_depth -= 1;
    crpc_watch_end(&driver->watch);
    crpc_timer_cancel(&driver->timer);
    crpc_tls_filter_end(&driver->tls);
    if (was_open && driver_may_be_heard(driver)) {
        crpc_linger(driver->loop, driver->fd, driver->address->network, driver->protocol->leaves_rest(driver));
    } else {
        (void)close(driver->fd);
    }
    if (driver->listener != NULL) crpc_listener_forget(driver->listener, driver);
    crpc_link_remove(&driver->resident.link);
    driver->protocol->end(driver);
    free(driver->early.bytes);
    free(driver->out.rest);
    free(driver);
}
