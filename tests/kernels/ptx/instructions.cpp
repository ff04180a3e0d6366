// What each instruction does, after NVIDIA's "Parallel Thread Execution ISA" (9.7).
#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>

#include "kernels/formats/half.h"

#include "lanes.h"
#include "thread.h"

namespace fovea::tests::ptx {

void unknown() {
  throw std::runtime_error("an instruction that is not known here:");
}

namespace {

using kernels::formats::bfloat16_to_float;
using kernels::formats::float_to_bfloat16;
using kernels::formats::float_to_half;
using kernels::formats::half_to_float;

using Name = std::vector<std::string_view>;
using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using S8 = std::int8_t;
using S16 = std::int16_t;
using S32 = std::int32_t;
using S64 = std::int64_t;

template <typename T>
struct Type {
  using type = T;
};

// f(Type<T>{}) for the type that a name says; bits are unsigned numbers.
template <typename F>
auto with_integer(std::string_view name, F&& f) {
  if (name == "s64") return f(Type<S64>{});
  if (name == "u64" || name == "b64") return f(Type<U64>{});
  if (name == "s32") return f(Type<S32>{});
  if (name == "u32" || name == "b32") return f(Type<U32>{});
  if (name == "s16") return f(Type<S16>{});
  if (name == "u16" || name == "b16") return f(Type<U16>{});
  if (name == "s8") return f(Type<S8>{});
  if (name == "u8" || name == "b8" || name == "pred") return f(Type<U8>{});
  unknown();
}
template <typename F>
auto with_type(std::string_view name, F&& f) {
  if (name == "f32") return f(Type<float>{});
  if (name == "f64") return f(Type<double>{});
  return with_integer(name, std::forward<F>(f));
}

// --- arithmetic ---

// to = Operation(from[0], …), each of them a T; wider where Result is.
template <typename T, auto operation>
Step unary(Thread& t, const Instruction& i) {
  t.set(i.to[0], operation(t.get<T>(i.from[0])));
  return Step::next;
}
// What a card is near to, and each kind of card in its own way: up to 2 units in the last place off, always
// the same for one operand. Zeros, infinities and what comes of them are exact. rcp.rn, which the PTX ISA
// rounds right, is treated no better.
template <auto operation>
Step near(Thread& t, const Instruction& i) {
  const auto a = t.get<float>(i.from[0]);
  auto value = static_cast<float>(operation(static_cast<double>(a)));
  U64 drawn = (t.seed() ^ t.get<U32>(i.from[0])) * 0x9E3779B97F4A7C15U;
  drawn = (drawn ^ drawn >> 32) * 0xD6E8FEB86659FD93U >> 32;
  const int units = static_cast<int>(drawn % 5) - 2;
  const float infinite = std::numeric_limits<float>::infinity();
  const bool exact = a == 0 || value == 0 || !std::isfinite(value);
  for (int k = 0; k < std::abs(units) && !exact; ++k) value = std::nextafter(value, units < 0 ? 0 : infinite);
  t.set(i.to[0], value);
  return Step::next;
}
Instruction::Run approximation(std::string_view name) {
  if (name == "rcp") return near<[](double a) { return 1 / a; }>;
  if (name == "rsqrt") return near<[](double a) { return 1 / std::sqrt(a); }>;
  if (name == "ex2") return near<[](double a) { return std::exp2(a); }>;
  unknown();
}

template <typename T, auto operation>
Step binary(Thread& t, const Instruction& i) {
  t.set(i.to[0], operation(t.get<T>(i.from[0]), t.get<T>(i.from[1])));
  return Step::next;
}
template <typename T, auto operation>
Step ternary(Thread& t, const Instruction& i) {
  t.set(i.to[0], operation(t.get<T>(i.from[0]), t.get<T>(i.from[1]), t.get<T>(i.from[2])));
  return Step::next;
}

template <typename T>
Step leading_zeros(Thread& t, const Instruction& i) {
  t.set(i.to[0], static_cast<U32>(std::countl_zero(t.get<T>(i.from[0]))));
  return Step::next;
}

// Integers wrap.
template <typename T, auto operation>
constexpr T wrapped(auto... values) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(operation(values...));
  } else {
    return static_cast<T>(operation(static_cast<U64>(values)...));
  }
}
template <typename T>
using Wide = std::conditional_t<std::is_signed_v<T>, std::conditional_t<sizeof(T) == 2, S32, S64>,
                                std::conditional_t<sizeof(T) == 2, U32, U64>>;

template <typename T>
Instruction::Run arithmetic(std::string_view name) {
  if (name == "add")
    return binary<T, [](T a, T b) { return wrapped<T, [](auto x, auto y) { return x + y; }>(a, b); }>;
  if (name == "sub")
    return binary<T, [](T a, T b) { return wrapped<T, [](auto x, auto y) { return x - y; }>(a, b); }>;
  if (name == "mul")
    return binary<T, [](T a, T b) { return wrapped<T, [](auto x, auto y) { return x * y; }>(a, b); }>;
  if (name == "neg") return unary<T, [](T a) { return wrapped<T, [](auto x) { return -x; }>(a); }>;
  // Of a number and none, the number.
  if constexpr (std::is_floating_point_v<T>) {
    if (name == "min") return binary<T, [](T a, T b) { return std::fmin(a, b); }>;
    if (name == "max") return binary<T, [](T a, T b) { return std::fmax(a, b); }>;
    if (name == "abs") return unary<T, [](T a) { return std::fabs(a); }>;
    if (name == "div") return binary<T, [](T a, T b) { return a / b; }>;
    if (name == "fma") return ternary<T, [](T a, T b, T c) { return std::fma(a, b, c); }>;
  } else {
    if (name == "min") return binary<T, [](T a, T b) { return std::min(a, b); }>;
    if (name == "max") return binary<T, [](T a, T b) { return std::max(a, b); }>;
    if (name == "div")
      return binary<T, [](T a, T b) { return b == 0 ? static_cast<T>(-1) : static_cast<T>(a / b); }>;
    if (name == "rem") return binary<T, [](T a, T b) { return b == 0 ? a : static_cast<T>(a % b); }>;
    if (name == "mad")
      return ternary<T, [](T a, T b, T c) {
        return wrapped<T, [](auto x, auto y, auto z) { return x * y + z; }>(a, b, c);
      }>;
    // What is shifted out at either end is gone; signs come from the left.
    if (name == "shl") {
      return [](Thread& t, const Instruction& i) {
        const U32 by = t.get<U32>(i.from[1]);
        t.set(i.to[0],
              by >= 8 * sizeof(T) ? T{0} : static_cast<T>(static_cast<U64>(t.get<T>(i.from[0])) << by));
        return Step::next;
      };
    }
    if (name == "shr") {
      return [](Thread& t, const Instruction& i) {
        const U32 by = t.get<U32>(i.from[1]);
        const T value = t.get<T>(i.from[0]);
        if (by >= 8 * sizeof(T)) {
          t.set(i.to[0], value < 0 ? static_cast<T>(-1) : T{0});
        } else {
          t.set(i.to[0], static_cast<T>(value >> by));
        }
        return Step::next;
      };
    }
  }
  unknown();
}

template <typename T>
Instruction::Run widening(std::string_view name) {
  using W = Wide<T>;
  if (name == "mul")
    return binary<T, [](T a, T b) { return static_cast<W>(static_cast<W>(a) * static_cast<W>(b)); }>;
  if (name == "mad") {
    return [](Thread& t, const Instruction& i) {
      const W product =
          static_cast<W>(static_cast<W>(t.get<T>(i.from[0])) * static_cast<W>(t.get<T>(i.from[1])));
      t.set(i.to[0], static_cast<W>(static_cast<U64>(product) + static_cast<U64>(t.get<W>(i.from[2]))));
      return Step::next;
    };
  }
  unknown();
}

template <typename T>
Instruction::Run logic(std::string_view name, bool predicate) {
  if (name == "and") return binary<T, [](T a, T b) { return static_cast<T>(a & b); }>;
  if (name == "or") return binary<T, [](T a, T b) { return static_cast<T>(a | b); }>;
  if (name == "xor") return binary<T, [](T a, T b) { return static_cast<T>(a ^ b); }>;
  if (name == "not" && predicate) return unary<T, [](T a) { return static_cast<T>(a == 0); }>;
  if (name == "not") return unary<T, [](T a) { return static_cast<T>(~a); }>;
  unknown();
}

// Rounds down.
float fma_down(float a, float b, float c) {
  std::fesetround(FE_DOWNWARD);
  const float result = std::fma(a, b, c);
  std::fesetround(FE_TONEAREST);
  return result;
}

template <typename T>
Instruction::Run comparison(std::string_view name) {
  const auto is = [name](std::string_view wanted) { return name == wanted; };
  if (is("eq")) return binary<T, [](T a, T b) { return U8(a == b); }>;
  if (is("lt") || is("lo")) return binary<T, [](T a, T b) { return U8(a < b); }>;
  if (is("le")) return binary<T, [](T a, T b) { return U8(a <= b); }>;
  if (is("gt")) return binary<T, [](T a, T b) { return U8(a > b); }>;
  if (is("ge")) return binary<T, [](T a, T b) { return U8(a >= b); }>;
  if constexpr (std::is_floating_point_v<T>) {
    // Numbers; with a u also true where either is none.
    if (is("ne")) return binary<T, [](T a, T b) { return U8(a < b || a > b); }>;
    if (is("num")) return binary<T, [](T a, T b) { return U8(!std::isnan(a) && !std::isnan(b)); }>;
    if (is("ltu")) return binary<T, [](T a, T b) { return U8(!(a >= b)); }>;
    if (is("leu")) return binary<T, [](T a, T b) { return U8(!(a > b)); }>;
    if (is("gtu")) return binary<T, [](T a, T b) { return U8(!(a <= b)); }>;
    if (is("geu")) return binary<T, [](T a, T b) { return U8(!(a < b)); }>;
    if (is("neu")) return binary<T, [](T a, T b) { return U8(a != b); }>;
  } else {
    if (is("ne")) return binary<T, [](T a, T b) { return U8(a != b); }>;
  }
  unknown();
}

template <typename To, typename From>
Step convert_integer(Thread& t, const Instruction& i) {
  t.set(i.to[0], static_cast<To>(t.get<From>(i.from[0])));
  return Step::next;
}

Instruction::Run conversion(const Name& name) {
  const std::string_view to = name[name.size() - 2], from = name.back();
  const std::string_view how = name.size() > 3 ? name[1] : "";
  if (name.size() > 4) unknown();
  if (to == "f32" && from == "f16") return unary<U16, half_to_float>;
  if (how == "rn" && to == "f16" && from == "f32") return unary<float, float_to_half>;
  if (how == "rn" && to == "bf16" && from == "f32") return unary<float, float_to_bfloat16>;
  if (how == "sat" && to == "f32" && from == "f32")
    return unary<float, [](float a) { return std::isnan(a) ? 0.0F : std::clamp(a, 0.0F, 1.0F); }>;
  if (how == "rni" && to == "f32" && from == "f32")
    return unary<float, [](float a) { return std::nearbyint(a); }>;
  if (how == "rni" && to == "s32" && from == "f32") {
    return unary<float, [](float a) {
      constexpr double least = std::numeric_limits<S32>::min(), most = std::numeric_limits<S32>::max();
      return std::isnan(a) ? S32{0} : static_cast<S32>(std::clamp<double>(std::nearbyint(a), least, most));
    }>;
  }
  if (how.empty() && to == "f64" && from == "f32")
    return unary<float, [](float a) { return static_cast<double>(a); }>;
  if (how == "rn" && to == "f32" && from == "f64")
    return unary<double, [](double a) { return static_cast<float>(a); }>;
  if (how == "rn" && (to == "f32" || to == "f64")) {
    return with_integer(from, [to](auto type) -> Instruction::Run {
      using From = decltype(type)::type;
      if (to == "f32") return convert_integer<float, From>;
      return convert_integer<double, From>;
    });
  }
  if (!how.empty()) unknown();
  return with_integer(to, [from](auto wide) {
    return with_integer(from, [](auto type) -> Instruction::Run {
      return convert_integer<typename decltype(wide)::type, typename decltype(type)::type>;
    });
  });
}

// --- bits ---

// Four bytes of the eight of b:a; bit 3 of a choice gives the byte's sign instead.
U32 permute(U32 a, U32 b, U32 choices) {
  const U64 bytes = U64{b} << 32 | a;
  U32 result = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned choice = choices >> 4 * k & 0xFU;
    auto byte = static_cast<U8>(bytes >> 8 * (choice & 7U));
    if ((choice & 8U) != 0) byte = (byte & 0x80U) != 0 ? 0xFF : 0;
    result |= U32{byte} << 8 * k;
  }
  return result;
}

S32 dot_of_bytes(S32 a, S32 b, S32 sum) {
  for (unsigned k = 0; k < 4; ++k)
    sum = static_cast<S32>(static_cast<U32>(sum) +
                           static_cast<U32>(static_cast<S8>(a >> 8 * k) * static_cast<S8>(b >> 8 * k)));
  return sum;
}

// The high half of b:a, shifted to the left.
U32 shift_both(U32 a, U32 b, U32 by) {
  return static_cast<U32>((U64{b} << 32 | a) << (by & 31U) >> 32);
}

// a's low bits at a place of b.
template <typename T>
Step insert_bits(Thread& t, const Instruction& i) {
  constexpr U32 bits = 8 * sizeof(T);
  const U32 place = t.get<U32>(i.from[2]) & 0xFFU, count = t.get<U32>(i.from[3]) & 0xFFU;
  const T ones = count >= bits ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << count) - 1);
  const T mask = place >= bits ? T{0} : static_cast<T>(ones << place);
  const T moved = place >= bits ? T{0} : static_cast<T>(t.get<T>(i.from[0]) << place);
  t.set(i.to[0], static_cast<T>((t.get<T>(i.from[1]) & static_cast<T>(~mask)) | (moved & mask)));
  return Step::next;
}

// --- moves ---

template <typename T>
Step choose_one(Thread& t, const Instruction& i) {
  t.set(i.to[0], t.get<T>(i.from[t.get<U8>(i.from[2]) != 0 ? 0 : 1]));
  return Step::next;
}

// Of one register to one, of several to a wide one, of a wide one to several.
template <typename T>
Step move(Thread& t, const Instruction& i) {
  const std::size_t parts = std::max(i.to.size(), i.from.size());
  const std::size_t bits = 8 * sizeof(T) / parts;
  const U64 mask = bits == 64 ? ~U64{0} : (U64{1} << bits) - 1;
  U64 value = 0;
  for (std::size_t k = 0; k < i.from.size(); ++k)
    value |= (t.get<U64>(i.from[k]) & (i.from.size() > 1 ? mask : ~U64{0}))
             << (i.from.size() > 1 ? bits * k : 0);
  for (std::size_t k = 0; k < i.to.size(); ++k) {
    if (i.to.size() > 1) {
      t.set(i.to[k], value >> bits * k & mask);
    } else {
      t.set(i.to[k], static_cast<T>(value));
    }
  }
  return Step::next;
}

template <typename T, Space space>
Step load(Thread& t, const Instruction& i) {
  const auto count = static_cast<S64>(i.to.size());
  const Slot address = t.get<U64>(i.from[0]) + static_cast<Slot>(i.offset);
  const std::byte* const from = t.reach(space, address, count * static_cast<S64>(sizeof(T)), i.access);
  for (S64 k = 0; k < count; ++k) {
    T value;
    std::memcpy(&value, from + k * static_cast<S64>(sizeof(T)), sizeof value);
    t.set(i.to[static_cast<std::size_t>(k)], value);
  }
  return Step::next;
}
template <typename T, Space space>
Step store(Thread& t, const Instruction& i) {
  const auto count = static_cast<S64>(i.from.size()) - 1;
  const Slot address = t.get<U64>(i.from[0]) + static_cast<Slot>(i.offset);
  std::byte* const to = t.reach(space, address, count * static_cast<S64>(sizeof(T)), i.access);
  for (S64 k = 0; k < count; ++k) {
    const T value = t.get<T>(i.from[static_cast<std::size_t>(k + 1)]);
    std::memcpy(to + k * static_cast<S64>(sizeof(T)), &value, sizeof value);
  }
  return Step::next;
}
template <Space space>
Step add_atomically(Thread& t, const Instruction& i) {
  std::byte* const at =
      t.reach(space, t.get<U64>(i.from[0]) + static_cast<Slot>(i.offset), 4, Access::atomic);
  U32 before = 0;
  std::memcpy(&before, at, 4);
  const U32 after = before + t.get<U32>(i.from[1]);
  std::memcpy(at, &after, 4);
  t.set(i.to[0], before);
  return Step::paused;
}

template <bool loads>
Access access_of(const Name& name) {
  const auto has = [&name](std::string_view part) { return std::ranges::find(name, part) != name.end(); };
  if (has("volatile")) return loads ? Access::strong_read : Access::strong_write;
  if (has("nc")) return Access::constant;
  return loads ? Access::read : Access::write;
}

template <bool loads>
Instruction::Run access(const Name& name) {
  const auto has = [&name](std::string_view part) { return std::ranges::find(name, part) != name.end(); };
  for (const std::string_view part : name) {
    constexpr std::string_view known[] = {"ld", "st", "global", "shared", "local",   "param",
                                          "nc", "cg", "v2",     "v4",     "volatile"};
    if (std::ranges::find(known, part) == std::end(known) && part != name.back()) unknown();
  }
  return with_type(name.back(), [&]<typename Of>(Of) -> Instruction::Run {
    using T = Of::type;
    if constexpr (loads) {
      return has("global")   ? load<T, Space::global>
             : has("shared") ? load<T, Space::shared>
             : has("local")  ? load<T, Space::local>
             : has("param")  ? load<T, Space::param>
                             : load<T, Space::generic>;
    } else {
      return has("global")   ? store<T, Space::global>
             : has("shared") ? store<T, Space::shared>
             : has("local")  ? store<T, Space::local>
             : has("param")  ? store<T, Space::param>
                             : store<T, Space::generic>;
    }
  });
}

// 16 bytes, of which so many come from memory.
template <U32 bytes>
Step copy_later(Thread& t, const Instruction& i) {
  const U32 count = i.from.size() > 3 ? t.get<U32>(i.from[3]) : t.get<U32>(i.from[2]);
  if (t.get<U32>(i.from[2]) != bytes || (count != 0 && count != bytes))
    throw std::runtime_error("a copy of another size");
  t.copy_later(t.get<U32>(i.from[0]), count == 0 ? std::nullopt : std::optional(t.get<U64>(i.from[1])),
               bytes);
  return Step::next;
}

template <Slot window, bool to_generic>
Step change_space(Thread& t, const Instruction& i) {
  const Slot address = t.get<U64>(i.from[0]);
  t.set(i.to[0], to_generic ? address + window : address - window);
  return Step::next;
}

// --- lanes together ---

Step wait_for_lanes(Thread&, const Instruction&) {
  return Step::warp;
}

Step nothing(Thread&, const Instruction&) {
  return Step::next;
}

}  // namespace

void choose(Instruction& i, const Name& name) {
  const std::string_view what = name[0], type = name.back();
  const auto part = [&name](std::size_t n) { return n < name.size() ? name[n] : std::string_view(); };
  const auto of_type = [&](auto f) { i.run = with_type(type, f); };
  const auto of_integers = [&](auto f) { i.run = with_integer(type, f); };
  const auto together = [&](Instruction::RunTogether run, int mask) {
    i.run = wait_for_lanes;
    i.together = run;
    i.mask = mask;
  };

  if (what == "ld") {
    i.run = access<true>(name);
    i.access = access_of<true>(name);
  } else if (what == "st") {
    i.run = access<false>(name);
    i.access = access_of<false>(name);
  } else if (what == "mov") {
    of_type([]<typename Of>(Of) -> Instruction::Run {
      using T = Of::type;
      if constexpr (std::is_floating_point_v<T>) {
        return move<std::conditional_t<sizeof(T) == 4, U32, U64>>;
      } else {
        return move<T>;
      }
    });
  } else if (what == "selp") {
    of_type([]<typename Of>(Of) -> Instruction::Run { return choose_one<typename Of::type>; });
  } else if (what == "cvt") {
    i.run = conversion(name);
  } else if (what == "setp" && name.size() == 3) {
    of_type([&]<typename Of>(Of) { return comparison<typename Of::type>(part(1)); });
  } else if (what == "and" || what == "or" || what == "xor" || what == "not") {
    of_integers([&]<typename Of>(Of) { return logic<typename Of::type>(what, type == "pred"); });
  } else if (part(1) == "wide") {
    of_integers([&]<typename Of>(Of) -> Instruction::Run {
      if constexpr (sizeof(typename Of::type) == 2 || sizeof(typename Of::type) == 4)
        return widening<typename Of::type>(what);
      unknown();
    });
  } else if (what == "fma" && part(1) == "rm" && type == "f32") {
    i.run = ternary<float, fma_down>;
  } else if (what == "ex2" || what == "rsqrt") {
    if (part(1) != "approx" || type != "f32") unknown();
    i.run = approximation(what);
  } else if (what == "rcp" && part(1) == "rn" && type == "f32") {
    i.run = approximation(what);
  } else if (what == "add" || what == "sub" || what == "mul" || what == "mad" || what == "div" ||
             what == "rem" || what == "min" || what == "max" || what == "neg" || what == "abs" ||
             what == "fma" || what == "shl" || what == "shr") {
    const bool plain = name.size() == 2 || (name.size() == 3 && (part(1) == "lo" || part(1) == "rn"));
    if (!plain) unknown();
    of_type([&]<typename Of>(Of) { return arithmetic<typename Of::type>(what); });
  } else if (what == "dp4a" && part(1) == "s32" && type == "s32") {
    i.run = ternary<S32, dot_of_bytes>;
  } else if (what == "prmt" && name.size() == 2) {
    i.run = ternary<U32, permute>;
  } else if (what == "shf" && part(1) == "l" && part(2) == "wrap") {
    i.run = ternary<U32, shift_both>;
  } else if (what == "clz") {
    i.run = type == "b64" ? leading_zeros<U64> : leading_zeros<U32>;
  } else if (what == "bfi") {
    i.run = type == "b64" ? insert_bits<U64> : insert_bits<U32>;
  } else if (what == "atom" && part(2) == "add" && type == "u32" &&
             (part(1) == "global" || part(1) == "shared")) {
    i.run = part(1) == "global" ? add_atomically<Space::global> : add_atomically<Space::shared>;
  } else if (what == "cvta" && type == "u64") {
    const std::string_view space = name[name.size() - 2];
    const bool to_generic = part(1) != "to";
    if (space == "global") {
      i.run = change_space<0, true>;
    } else if (space == "shared") {
      i.run = to_generic ? change_space<shared_window, true> : change_space<shared_window, false>;
    } else if (space == "local") {
      i.run = to_generic ? change_space<local_window, true> : change_space<local_window, false>;
    } else {
      unknown();
    }
  } else if (what == "cp" && part(1) == "async") {
    if (part(2) == "cg") {
      i.run = copy_later<16>;
    } else if (part(2) == "ca") {
      i.run = copy_later<4>;
    } else if (part(2) == "commit_group") {
      i.run = [](Thread& t, const Instruction&) {
        t.commit_copies();
        return Step::next;
      };
    } else if (part(2) == "wait_group") {
      i.run = [](Thread& t, const Instruction& one) {
        t.wait_for_copies(t.get<U32>(one.from[0]));
        return Step::next;
      };
    } else {
      unknown();
    }
  } else if (what == "bra") {
    i.run = [](Thread& t, const Instruction& one) {
      t.jump(one.target);
      return Step::branched;
    };
  } else if (what == "call") {
    i.run = [](Thread& t, const Instruction& one) {
      t.call(one);
      return Step::branched;
    };
  } else if (what == "ret") {
    i.run = [](Thread& t, const Instruction&) { return t.give_back() ? Step::branched : Step::ended; };
  } else if (what == "bar" && part(1) == "sync") {
    i.run = [](Thread&, const Instruction&) { return Step::block; };
  } else if (what == "bar" && part(1) == "warp") {
    together(order_lanes, 0);
  } else if (what == "shfl" && part(2) == "bfly") {
    together(exchange, 3);
  } else if (what == "redux" && part(2) == "max" && type == "u32") {
    together(largest, 1);
  } else if (what == "ldmatrix" && part(3) == "m8n8" && part(4) == "x4" && part(5) == "shared" &&
             type == "b16") {
    together(load_matrices, -1);
  } else if (what == "mma") {
    together(matrices(name), -1);
  } else if (what == "nanosleep") {
    i.run = [](Thread& t, const Instruction&) {
      t.sleep();
      return Step::next;
    };
  } else if (what == "membar" && (part(1) == "gl" || part(1) == "sys")) {
    i.run = [](Thread& t, const Instruction&) {
      t.fence();
      return Step::paused;
    };
  } else if (what == "griddepcontrol" && part(1) == "wait") {
    i.run = [](Thread& t, const Instruction&) {
      t.wait_for_earlier();
      return Step::next;
    };
  } else if (what == "prefetch" || what == "griddepcontrol" || (what == "membar" && part(1) == "cta")) {
    i.run = nothing;  // of no effect on what is computed, and no order between blocks
  } else {
    unknown();
  }
}

}  // namespace fovea::tests::ptx
