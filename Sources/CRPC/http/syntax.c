#include "http/syntax.h"

const uint8_t crpc_token_lower[256] = {
    ['a'] = 'a', ['b'] = 'b', ['c'] = 'c', ['d'] = 'd', ['e'] = 'e', ['f'] = 'f', ['g'] = 'g', ['h'] = 'h', ['i'] = 'i',
    ['j'] = 'j', ['k'] = 'k', ['l'] = 'l', ['m'] = 'm', ['n'] = 'n', ['o'] = 'o', ['p'] = 'p', ['q'] = 'q', ['r'] = 'r',
    ['s'] = 's', ['t'] = 't', ['u'] = 'u', ['v'] = 'v', ['w'] = 'w', ['x'] = 'x', ['y'] = 'y', ['z'] = 'z',
    ['A'] = 'a', ['B'] = 'b', ['C'] = 'c', ['D'] = 'd', ['E'] = 'e', ['F'] = 'f', ['G'] = 'g', ['H'] = 'h', ['I'] = 'i',
    ['J'] = 'j', ['K'] = 'k', ['L'] = 'l', ['M'] = 'm', ['N'] = 'n', ['O'] = 'o', ['P'] = 'p', ['Q'] = 'q', ['R'] = 'r',
    ['S'] = 's', ['T'] = 't', ['U'] = 'u', ['V'] = 'v', ['W'] = 'w', ['X'] = 'x', ['Y'] = 'y', ['Z'] = 'z',
    ['0'] = '0', ['1'] = '1', ['2'] = '2', ['3'] = '3', ['4'] = '4', ['5'] = '5', ['6'] = '6', ['7'] = '7', ['8'] = '8',
    ['9'] = '9', ['!'] = '!', ['#'] = '#', ['$'] = '$', ['%'] = '%', ['&'] = '&', ['\''] = '\'', ['*'] = '*', ['+'] = '+',
    ['-'] = '-', ['.'] = '.', ['^'] = '^', ['_'] = '_', ['`'] = '`', ['|'] = '|', ['~'] = '~',
};

/// What a registered name has beside letters and digits, and `%`, which stands before two digits (RFC 3986 section 3.2.2).
static const uint8_t syntax_in_name[256] = {
    ['a' ... 'z'] = 1, ['A' ... 'Z'] = 1, ['0' ... '9'] = 1, ['-'] = 1, ['.'] = 1, ['_'] = 1, ['~'] = 1, ['!'] = 1,
    ['$'] = 1, ['&'] = 1, ['\''] = 1, ['('] = 1, [')'] = 1, ['*'] = 1, ['+'] = 1, [','] = 1, [';'] = 1, ['='] = 1,
    ['%'] = 1,
};

static bool syntax_is_digit(uint8_t c) { return c >= '0' && c <= '9'; }
static bool syntax_is_hex(uint8_t c) { return syntax_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); }

bool crpc_is_token(const uint8_t *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (crpc_token_lower[text[i]] == 0) return false;
    return length > 0;
}

bool crpc_is_lower_token(const uint8_t *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (text[i] == 0 || crpc_token_lower[text[i]] != text[i]) return false;
    return length > 0;
}

bool crpc_is_authority(const uint8_t *text, size_t length) {
    size_t at = 0;
    if (length > 0 && text[0] == '[') {
        at = 1;
        while (at < length && (syntax_is_hex(text[at]) || text[at] == ':' || text[at] == '.')) at += 1;
        if (at < 3 || at == length || text[at] != ']') return false;
        at += 1;
    } else {
        for (; at < length && syntax_in_name[text[at]]; at++)
            if (text[at] == '%' && (length - at < 3 || !syntax_is_hex(text[at + 1]) || !syntax_is_hex(text[at + 2])))
                return false;
        if (at == 0 && length > 0) return false; // a port of no host
    }
    if (at == length) return true;
    if (text[at] != ':') return false;
    for (at += 1; at < length; at++)
        if (!syntax_is_digit(text[at])) return false;
    return true;
}

int64_t crpc_read_content_length(const uint8_t *text, size_t length) {
    int64_t number = 0;
    if (length == 0) return -1;
    for (size_t i = 0; i < length; i++) {
        int digit = text[i] - '0';
        if (digit < 0 || digit > 9 || number > (INT64_MAX - digit) / 10) return -1;
        number = number * 10 + digit;
    }
    return number;
}
