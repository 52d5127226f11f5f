/// What makes an HTTP request, written down a second time, for the fuzzer: from the RFCs, slowly, and over all fields at
/// once. Fields and their texts belong to the caller and must stay.
#ifndef CRPC_REQUEST_ORACLE_H
#define CRPC_REQUEST_ORACLE_H

#include "fuzz.h"

enum { ORACLE_FIELDS_MAX = 4096 };

typedef struct oracle_field {
    const uint8_t *name, *value;
    size_t name_length, value_length;
} oracle_field;

typedef struct oracle {
    oracle_field fields[ORACLE_FIELDS_MAX]; // of the head, and behind them of the trailers
    size_t count, judged;
    int64_t announced; // content-length; -1 for none
    uint64_t received;
    bool has_head, is_connect, is_over, is_broken;
} oracle;

void oracle_begin(oracle *oracle);
/// A field of the block that is coming in.
void oracle_add(oracle *oracle, const uint8_t *name, size_t name_length, const uint8_t *value, size_t value_length);
/// The block is whole.
void oracle_take_block(oracle *oracle, bool ends_stream);
void oracle_take_data(oracle *oracle, size_t length, bool ends_stream);

#endif
