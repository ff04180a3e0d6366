// Numbers as short text, in the user's notation.
#pragma once

#include <QString>
#include <concepts>
#include <cstdint>

namespace fovea::ui {

// "1.24 GB": powers of ten with three digits that matter, as a desktop's file manager and the shops have it.
// The command line writes powers of two (fovea::size_text).
QString bytes_text(double bytes);
template <std::integral Count>
QString bytes_text(Count bytes) {
  return bytes_text(static_cast<double>(bytes));
}
QString rate_text(double bytes_per_second);            // "31 MB/s"
QString percent_text(double share, int decimals = 0);  // "71 %"
QString number_text(double value, int decimals = 1);   // "23.4"
QString count_text(std::int64_t count);                // "12,345"
QString duration_text(double seconds);                 // "0:42", "3:05"
QString milliseconds_text(double seconds);             // "31 ms"

}  // namespace fovea::ui
