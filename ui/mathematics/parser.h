// The state of the parser that its parts share: reader.cpp has rows and arguments, macros.cpp and boxes.cpp
// what macros mean, environments.cpp what stands between \begin and \end.
#pragma once

#include "ui/mathematics/tree.h"

namespace fovea::ui {

class MathParser {
 public:
  explicit MathParser(QStringView source) : source_(source) {}
  std::optional<MathNode> parse();

 private:
  // Where a row ends, besides at the source's end.
  enum class Until : std::uint8_t { end, brace, bracket, right, cell, line };  // line: of \substack{…}

  class Depth {
   public:
    explicit Depth(MathParser& parser) : parser_(parser) {
      if (++parser_.depth_ > kDeepestMath) parser_.failed_ = true;
    }
    ~Depth() { --parser_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    MathParser& parser_;
  };

  // reader.cpp
  MathNode row(Until until);
  bool ends(Until until);
  bool infix(MathNode& out, Until until);
  void add_atom(MathNode& out);
  MathNode nucleus(bool whole_number);
  MathNode letter(QChar c);
  MathNode with_scripts(MathNode base);
  MathNode primes();
  MathNode argument();
  MathNode group();
  bool optional_row(MathNode& out);
  QString raw_group();
  QString raw_optional();
  QStringView read_name();
  QStringView peek_name() const;
  bool peek(QChar c);
  bool at_end() const { return position_ >= source_.size(); }
  void skip_spaces();
  bool take(QStringView text);
  MathNode in_face(MathFace face);

  // macros.cpp
  MathNode macro();
  bool symbol_macro(QStringView name, MathNode& out);
  bool fraction_macro(QStringView name, MathNode& out);
  bool face_macro(QStringView name, MathNode& out);
  bool accent_macro(QStringView name, MathNode& out);
  bool stack_macro(QStringView name, MathNode& out);
  bool class_macro(QStringView name, MathNode& out);
  MathNode words(MathFace face);
  MathNode unknown(qsizetype begin);

  // boxes.cpp
  bool space_macro(QStringView name, MathNode& out);
  bool box_macro(QStringView name, MathNode& out);
  MathNode delimiter();
  MathNode fenced();
  MathNode sized(QStringView name);

  // environments.cpp
  MathNode environment();
  MathNode table_of(const QString& name);
  void read_rows(MathNode& table, const QString& name, bool aligned);
  MathNode lines(MathNode first);
  bool line_end();

  QStringView source_;
  qsizetype position_ = 0;
  int depth_ = 0;
  MathFace face_ = MathFace::italic;
  bool keeps_role_ = false;  // the next group keeps its symbol's class
  bool failed_ = false;
};

// Nodes that all parts make.
MathNode math_symbol(const QString& text, MathClass role = MathClass::ordinary,
                     MathFace face = MathFace::upright);
MathNode math_space(double em);
MathNode math_nothing();  // of a macro that shows nothing

// What \left, \big and the environments may stretch; empty: it is no delimiter.
bool is_stretching(const QString& text);

}  // namespace fovea::ui
