#include "crpc_error.h"
#include "crpc_wire.h"

static const struct {
    uint8_t unit;
    uint64_t nanoseconds;
} timeout_units[] = {
    {'n', 1u}, {'u', 1000u}, {'m', 1000000u}, {'S', 1000000000u}, {'M', 60000000000u}, {'H', 3600000000000u},
};
enum { UNIT_COUNT = sizeof timeout_units / sizeof timeout_units[0], TIMEOUT_NUMBER_MAX = 99999999 };

int crpc_timeout_parse(const uint8_t *text, size_t length, uint64_t *nanoseconds) {
    if (length < 2 || length > CRPC_TIMEOUT_LENGTH_MAX) return CRPC_ERROR_PROTOCOL;
    uint64_t number = 0;
    for (size_t i = 0; i < length - 1; i++) {
        if (text[i] < '0' || text[i] > '9') return CRPC_ERROR_PROTOCOL;
        number = number * 10 + (uint64_t)(text[i] - '0');
    }
    for (int i = 0; i < UNIT_COUNT; i++) {
        if (timeout_units[i].unit != text[length - 1]) continue;
        // 99,999,999 hours would not fit; what is over 292 years is as good as that.
        bool fits = number <= UINT64_MAX / 2 / timeout_units[i].nanoseconds;
        *nanoseconds = fits ? number * timeout_units[i].nanoseconds : UINT64_MAX / 2;
        return CRPC_OK;
    }
    return CRPC_ERROR_PROTOCOL;
}

size_t crpc_timeout_format(uint64_t nanoseconds, uint8_t text[CRPC_TIMEOUT_LENGTH_MAX]) {
    int unit = 0;
    uint64_t number = nanoseconds;
    while (number > TIMEOUT_NUMBER_MAX && unit < UNIT_COUNT - 1) {
        unit += 1;
        number = nanoseconds / timeout_units[unit].nanoseconds + (nanoseconds % timeout_units[unit].nanoseconds != 0);
    }
    if (number > TIMEOUT_NUMBER_MAX) number = TIMEOUT_NUMBER_MAX;
    uint8_t digits[CRPC_TIMEOUT_LENGTH_MAX];
    size_t count = 0;
    do {
        digits[count++] = (uint8_t)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    for (size_t i = 0; i < count; i++) text[i] = digits[count - 1 - i];
    text[count] = timeout_units[unit].unit;
    return count + 1;
}
