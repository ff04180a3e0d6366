// Whether an answer can be held to a form, before there is a model.
#pragma once

#include "engine/api/error.h"
#include "engine/api/request.h"

namespace fovea {

// ErrorKind::invalid or unsupported with a line, a byte or a JSON pointer of `where`; empty: the kind's name.
Result<void> check_form(const AnswerForm& form, Phrase where = {});

}  // namespace fovea
