#include "cphonenumber.h"

#include <cstring>
#include <set>
#include <string>

#include <phonenumbers/logger.h>
#include <phonenumbers/phonenumber.pb.h>
#include <phonenumbers/phonenumberutil.h>

namespace {

using i18n::phonenumbers::Logger;
using i18n::phonenumbers::PhoneNumber;
using i18n::phonenumbers::PhoneNumberUtil;

// The library writes to standard output unless told otherwise, and what it writes contains the numbers it was given.
class SilentLogger : public Logger {
public:
    void WriteMessage(const std::string &) override {}
    void WriteLevel() override {}
};

// The library's one instance. Initialisation of a function's static is done once, whichever thread comes first
// ([stmt.dcl]); if it throws, the next call tries again.
const PhoneNumberUtil &library() {
    static PhoneNumberUtil *const instance = [] {
        PhoneNumberUtil *util = PhoneNumberUtil::GetInstance();
        util->SetLogger(new SilentLogger());  // the library owns it from here
        return util;
    }();
    return *instance;
}

bool is_known(const char *region) {
    // A region is looked up by its two capitals; the bound keeps a text that isn't one from being searched.
    if (region == nullptr || strnlen(region, 3) != 2) {
        return false;
    }
    static const std::set<std::string> regions = [] {
        std::set<std::string> found;
        library().GetSupportedRegions(&found);
        return found;
    }();
    return regions.count(region) > 0;
}

cphone_kind kind_of(PhoneNumberUtil::PhoneNumberType type) {
    switch (type) {
    case PhoneNumberUtil::FIXED_LINE:
        return CPHONE_KIND_FIXED_LINE;
    case PhoneNumberUtil::MOBILE:
        return CPHONE_KIND_MOBILE;
    case PhoneNumberUtil::FIXED_LINE_OR_MOBILE:
        return CPHONE_KIND_FIXED_LINE_OR_MOBILE;
    case PhoneNumberUtil::VOIP:
        return CPHONE_KIND_VOIP;
    case PhoneNumberUtil::TOLL_FREE:
    case PhoneNumberUtil::PREMIUM_RATE:
    case PhoneNumberUtil::SHARED_COST:
    case PhoneNumberUtil::PERSONAL_NUMBER:
    case PhoneNumberUtil::PAGER:
    case PhoneNumberUtil::UAN:
    case PhoneNumberUtil::VOICEMAIL:
    case PhoneNumberUtil::UNKNOWN:
        return CPHONE_KIND_OTHER;
    }
    return CPHONE_KIND_OTHER;
}

cphone_result parse(const char *text, size_t length, const char *default_region, cphone_number *number) {
    if (!is_known(default_region)) {
        return CPHONE_UNKNOWN_REGION;
    }
    const PhoneNumberUtil &util = library();
    PhoneNumber parsed;
    const std::string input = length == 0 ? std::string() : std::string(text, length);
    if (util.Parse(input, default_region, &parsed) != PhoneNumberUtil::NO_PARSING_ERROR) {
        return CPHONE_NOT_A_NUMBER;
    }
    if (parsed.has_extension()) {
        return CPHONE_HAS_EXTENSION;
    }
    if (!util.IsValidNumber(parsed)) {
        return CPHONE_NOT_ASSIGNED;
    }

    std::string e164;
    std::string region;
    util.Format(parsed, PhoneNumberUtil::E164, &e164);
    util.GetRegionCodeForNumber(parsed, &region);
    // Germany's plan as the library has it takes up to 17 digits, which E.164 has no room for: nobody can be called so.
    if (e164.size() > 1 + CPHONE_DIGITS_MAX) {
        return CPHONE_NOT_ASSIGNED;
    }
    // A valid number is "+" and digits, and has a region; a library that says otherwise is broken.
    if (e164.size() < 2 || e164[0] != '+' || region.size() < 2 || region.size() > 3) {
        return CPHONE_FAILED;
    }
    number->digit_count = e164.size() - 1;
    std::memcpy(number->digits, e164.c_str() + 1, number->digit_count + 1);
    std::memcpy(number->region, region.c_str(), region.size() + 1);
    number->kind = kind_of(util.GetNumberType(parsed));
    return CPHONE_OK;
}

}  // namespace

extern "C" bool cphone_prepare(void) {
    try {
        return is_known("PH");
    } catch (...) {
        return false;
    }
}

extern "C" bool cphone_region_is_known(const char *region) {
    try {
        return is_known(region);
    } catch (...) {
        return false;
    }
}

extern "C" enum cphone_result cphone_parse(const char *text, size_t length, const char *default_region,
                                           struct cphone_number *number) {
    if (length > CPHONE_INPUT_BYTES_MAX) {
        return CPHONE_TOO_LONG;
    }
    try {
        return parse(text, length, default_region, number);
    } catch (...) {
        return CPHONE_FAILED;
    }
}
