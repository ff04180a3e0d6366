// What tests/structure wants error_table.py to refuse.
FOVEA_ERROR(io, twice, "it (once, or \"twice\") is {what}", "Look");
FOVEA_PHRASE(untranslated, "nobody says this");
FOVEA_PHRASE(otherwise, "{one} and "
                        "{two:a|b}");
// FOVEA_PHRASE(in_a_comment, "no code");
