#include "crpc_limits.h"

void crpc_limits_default(crpc_limits *limits) {
    *limits = (crpc_limits){
        .streams_max = 256,
        .message_bytes_max = 4u << 20,
        .header_bytes_max = 16384,
        .continuations_max = 8,
        .stream_window_bytes = 256u << 10,
        .connection_window_bytes = 1u << 20,
        .buffered_bytes_max = 24u << 20,
        .queued_frames_max = 8192,
        .credit_max = 10000,
        .credit_per_second = 2000,
        .handshake_timeout_ms = 10000,
        .idle_timeout_ms = 0,
        .write_stall_timeout_ms = 20000,
        .answer_stall_timeout_ms = 30000,
        .message_timeout_ms = 60000,
        .drain_timeout_ms = 20000,
        .connection_age_max_ms = 0,
        .connection_age_grace_ms = 20000,
        .keepalive_interval_ms = 0,
        .keepalive_timeout_ms = 20000,
        .keepalive_without_calls = false,
        .ping_interval_min_ms = 300000,
        .ping_strikes_max = 2,
        .permits_pings_without_calls = false,
    };
}
