#include "raw.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

// A connection that sends without a pause: what else is due on it is due all the same.

enum { FLOW_MESSAGE = 64 << 20, FLOW_DEADLINES = 20, FLOW_TIMEOUT_MS = 10 };

typedef struct reader {
    int fd;
    _Atomic(bool) is_done;
} reader;

/// Takes whatever comes, without looking at it.
static void *flow_read(void *context) {
    reader *reader = context;
    while (!atomic_load(&reader->is_done))
        if (recv(reader->fd, NULL, 1 << 20, MSG_DONTWAIT | MSG_TRUNC) < 0) (void)usleep(10);
    return NULL;
}

static void flow_send(call *call) {
    uint8_t *memory = malloc(CRPC_PREFIX_LENGTH + (size_t)FLOW_MESSAGE); // what is in it doesn't matter
    REQUIRE(memory != NULL);
    EXPECT_EQUAL(crpc_stream_send_message(call->stream, memory, FLOW_MESSAGE, false), CRPC_OK);
}

static void flow_go_on(call *call, rig_event event) {
    if (event == EVENT_WRITABLE) flow_send(call);
    if (event == EVENT_DEADLINE) EXPECT_EQUAL(call_finish(call, CRPC_STATUS_DEADLINE_EXCEEDED, ""), CRPC_OK);
}

TEST(deadlines_are_kept_while_a_connection_sends_without_a_pause) {
    static const uint8_t window[6] = {0, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0x7f, 0xff, 0xff, 0xff};
    rig_setup setup = rig_defaults();
    setup.server.buffered_bytes_max = UINT32_MAX;
    rig *rig = rig_start(&setup);
    rig->react = flow_go_on;
    raw *raw = raw_connect(rig);
    raw_send_frame(raw, NGHTTP2_SETTINGS, 0, 0, window, sizeof window);
    raw_send_window_update(raw, 0, 0x7fffffff - 65535);
    raw_send_request(raw, NGHTTP2_FLAG_END_HEADERS, 1, rig_paths[METHOD_HOLD], NULL, NULL);
    UNTIL(rig, rig->server_call_count == 1);
    reader reader = {.fd = raw->fd};
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, flow_read, &reader) == 0);
    flow_send(rig->server_calls[0]);
    for (int i = 1; i <= FLOW_DEADLINES; i++) {
        raw_send_request(raw, NGHTTP2_FLAG_END_HEADERS, 1 + 2 * i, rig_paths[METHOD_HOLD], "grpc-timeout", "10m");
        UNTIL(rig, rig->server_call_count == (size_t)i + 1);
        call *call = rig_server_call(rig);
        // Its moment is asked for in the turn in which it came, though there is more to send at once.
        const crpc_timer *timer = &crpc_driver_of(rig_server_peer(rig)->connection)->timer;
        EXPECT(timer->place != 0 && timer->due_ns <= call->deadline_ns);
        UNTIL(rig, call->deadlines == 1);
        raw_send_window_update(raw, 1, 1 << 20);
        raw_send_window_update(raw, 0, 1 << 20);
    }
    rig->react = NULL;
    atomic_store(&reader.is_done, true);
    (void)pthread_join(thread, NULL);
    raw_free(raw);
    rig_end(rig);
}
