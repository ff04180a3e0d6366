// Where the characters of a text that is read stand in the Markdown that it was made of.
#pragma once

#include <QStringView>
#include <vector>

namespace fovea::ui {

// For each character of `read` its place in `source`, rising; −1 where it comes from nowhere there: the dot
// of a list. What Markdown leaves out (marks, addresses of links, tags) is found by how the text goes on
// behind it, in time that grows with the length of both.
std::vector<int> places_in_source(QStringView source, QStringView read);

}  // namespace fovea::ui
