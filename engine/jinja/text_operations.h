// What string methods and filters share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/jinja/value.h"

namespace fovea::jinja {

class Interpreter;

std::string_view strip_characters(Interpreter&, std::string_view text, std::string_view characters, bool left,
                                  bool right);
// str.split and its relatives; `most` < 0 splits everywhere.
std::vector<std::string_view> split_space(std::string_view, Int most);
std::vector<std::string_view> split_space_right(std::string_view, Int most);
std::vector<std::string_view> split_at(std::string_view, std::string_view separator, Int most);
std::vector<std::string_view> split_at_right(std::string_view, std::string_view separator, Int most);
std::vector<std::string_view> lines_of(std::string_view, bool keep_ends);
std::string replace_text(Interpreter&, std::string_view text, std::string_view from, std::string_view to,
                         Int most);
std::string justified(Interpreter&, std::string_view text, Int width, std::string_view fill,
                      char align);  // < > ^
Value text_list(Interpreter&, const std::vector<std::string_view>&, bool markup = false);

}  // namespace fovea::jinja
