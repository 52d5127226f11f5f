"""Compares our reading of phone numbers with that of PyPI's phonenumbers, which is a port of the library that ours asks."""

import importlib.metadata
import subprocess
import sys
import unicodedata

import phonenumbers as oracle
from phonenumbers import PhoneNumberFormat as Notation
from phonenumbers import PhoneNumberType as Type

KINDS = {
    Type.MOBILE: "mobile", Type.FIXED_LINE: "fixed-line", Type.FIXED_LINE_OR_MOBILE: "fixed-line-or-mobile", Type.VOIP: "voip"}
# What numbers are written with. Ours takes no text with anything else in it, however kind the library is.
WRITTEN_WITH = {"Nd", "Zs", "Pd", "Ps", "Pe", "Cf"}
ALSO_WRITTEN_WITH = "./\t\uff0e\u2212"
PLUSES = "+\uff0b"
TEXT_BYTES_MAX = 128
DIGITS_MAX = 30
E164_DIGITS_MAX = 15
FULL_WIDTH = str.maketrans("0123456789+-()", "０１２３４５６７８９＋－（）")
ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")


def is_plausible(text):
    """Whether a text is one that ours lets through to the library: the one rule in which it is stricter."""
    digits, has_plus = 0, False
    for character in text:
        if unicodedata.category(character) == "Nd":
            digits += 1
        elif character in PLUSES:
            if has_plus or digits:
                return False
            has_plus = True
        elif unicodedata.category(character) not in WRITTEN_WITH and character not in ALSO_WRITTEN_WITH:
            return False
    return 0 < digits <= DIGITS_MAX and len(text.encode()) <= TEXT_BYTES_MAX


def expected(region, text):
    """What ours should say, and the region that the number is of."""
    if not is_plausible(text):
        return "notANumber", "-"
    try:
        number = oracle.parse(text, region)
    except oracle.NumberParseException:
        return "notANumber", "-"
    if number.extension is not None:
        return "notANumber", "-"
    digits = oracle.format_number(number, Notation.E164)[1:]
    # Germany's plan takes more than E.164 has room for: there is no such number.
    if not oracle.is_valid_number(number) or len(digits) > E164_DIGITS_MAX:
        return "notAssigned", "-"
    kind = KINDS.get(oracle.number_type(number))
    if kind is None:
        return "kindNotAllowed", "-"
    found = oracle.region_code_for_number(number)
    return f"{digits} {kind} {'true' if len(found) == 2 else 'false'}", found


def notations(number, region):
    """How people write a number: each with the region that they are in."""
    e164 = oracle.format_number(number, Notation.E164)
    international = oracle.format_number(number, Notation.INTERNATIONAL)
    yield region, e164
    yield "US" if region != "US" else "PH", e164
    yield region, international
    yield region, international.translate(FULL_WIDTH)
    yield region, international.translate(ARABIC)
    yield region, oracle.format_number(number, Notation.RFC3966)
    yield region, "(" + international + ")"
    yield region, "\u202a" + international + "\u202c"
    yield region, international + " ext. 5"
    yield region, international + ";ext=5"
    yield region, e164[1:]
    yield region, "00" + e164[1:]
    for other in ("US", "PH", "DE", "AU"):
        yield other, oracle.format_out_of_country_calling_number(number, other)
    national = oracle.format_number(number, Notation.NATIONAL)
    yield region, national
    yield region, "".join(filter(str.isdigit, national))
    yield region, oracle.national_significant_number(number)
    yield region, "0" + oracle.national_significant_number(number)
    yield "PH" if region != "PH" else "SG", national
    yield region, "call " + national


def spoiled(number, region):
    """A number with a digit wrong, missing or too many."""
    e164 = oracle.format_number(number, Notation.E164)
    yield region, e164 + "0"
    yield region, e164 + "0000000"
    yield region, "+" + e164
    yield region, e164.replace("+", "+0")
    for index in range(1, len(e164)):
        yield region, e164[:index] + e164[index + 1:]
        yield region, e164[:index] + str((int(e164[index]) + 1 + index % 8) % 10) + e164[index + 1:]


def examples():
    """The oracle's own numbers, one of each kind that each region has, and one that each region can't have."""
    for region in sorted(oracle.SUPPORTED_REGIONS):
        seen = set()
        for kind in sorted(Type.values()):
            number = oracle.example_number_for_type(region, kind)
            if number is not None and str(number) not in seen:
                seen.add(str(number))
                yield region, number
        number = oracle.invalid_example_number(region)
        if number is not None:
            yield region, number
    for code in sorted(oracle.COUNTRY_CODES_FOR_NON_GEO_REGIONS):
        number = oracle.example_number_for_non_geo_entity(code)
        if number is not None:
            yield "PH", number


def cases():
    seen = set()
    for region, number in examples():
        for make in (notations, spoiled):
            for case in make(number, region):
                if case not in seen and "\n" not in case[1]:
                    seen.add(case)
                    yield case


def main(program, version):
    tried = [(region, text, *expected(region, text)) for region, text in cases()]
    lines = "".join(f"{region}\t{found}\t{text}\n" for region, text, _, found in tried)
    answers = subprocess.run([program], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
    if len(answers) != len(tried):
        sys.exit(f"{len(answers)} answers to {len(tried)} numbers")
    of_oracle = importlib.metadata.version("phonenumbers")
    has_same_plans = version.startswith(of_oracle)
    if not has_same_plans:
        print(f"numbering plans of {version or 'an unknown version'}, not {of_oracle}: only what both take is compared")
    failed, taken = 0, 0
    for (region, text, wanted, _), answer in zip(tried, answers):
        taken += " " in answer
        if not has_same_plans:
            if " " not in wanted or " " not in answer:
                continue
            wanted, answer = wanted.split()[0], answer.split()[0]
        if answer != wanted:
            failed += 1
            if failed <= 40:
                print(f"{text!a} in {region}: {answer}, but the oracle says {wanted}")
    print(f"{len(tried)} numbers of {len(oracle.SUPPORTED_REGIONS)} regions, of which ours takes {taken}")
    print(f"{len(tried) - failed} passed, {failed} failed")
    return 1 if failed or taken < len(tried) // 5 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
