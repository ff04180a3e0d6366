// Looks at Markdown line by line without parsing it: which lines are code, and where a part begins that means
// the same whether or not it is parsed together with what is above it.
#pragma once

#include <QString>
#include <QStringView>

namespace fovea::ui {

class FenceTracker {
 public:
  // Takes the next line (without its line feed). True if it is code or a fence.
  bool feed(QStringView line);

  bool inside() const { return length_ > 0; }
  // The last line fed begins a new part: text at the margin after an empty line, outside code and lists.
  bool at_boundary() const { return boundary_; }
  // What was fed may define link addresses, which parts above use.
  bool may_define_links() const { return may_define_links_; }

 private:
  bool feed_inside(QStringView line, int indent);
  void lose_certainty();

  QChar mark_;
  int length_ = 0;  // of the opening fence; 0: outside
  int fence_indent_ = 0;
  bool fence_in_list_ = false;
  bool in_list_ = false;  // a list or a quote has begun and has not surely ended
  bool certain_ = true;   // false: a line could be read in two ways; only a parser knows from here on
  bool after_empty_ = true;
  bool boundary_ = false;
  bool label_ = false;            // a line of this paragraph begins with [
  bool suspected_label_ = false;  // code of a list, or what looks like it, holds "]:"
  bool may_define_links_ = false;
};

}  // namespace fovea::ui
