// Random weight matrices of every type, and what an inexact multiplication by them may be off by.
#pragma once

#include <span>
#include <vector>

#include "kernels/cases/case.h"

namespace fovea::kernels::cases {

constexpr Type all_types[] = {
    Type::f32,    Type::f16,   Type::bf16, Type::q4_0, Type::q4_1, Type::q5_0, Type::q5_1,
    Type::q8_0,   Type::q2_k,  Type::q3_k, Type::q4_k, Type::q5_k, Type::q6_k, Type::iq4_nl,
    Type::iq4_xs, Type::mxfp4, Type::q4_f, Type::q4_e, Type::q3_f, Type::q2_f,
};

// Values of about 1 / sqrt(columns), so that outputs are of the inputs' size.
HostWeight random_weight(Random&, Type, std::int64_t rows, std::int64_t columns);

// Codes at the ends of their range in every block (all bits of the codes set or clear), one scale throughout:
// what overflows 16-bit sums of products, if anything does. Quantised types only.
HostWeight extreme_weight(Type, std::int64_t rows, std::int64_t columns, bool high);

// Random codes with scales of the right size, made fast and without `values`: for benchmarks.
HostWeight benchmark_weight(Type, std::int64_t rows, std::int64_t columns);

// The same matrix with these rows zero.
HostWeight with_zero_rows(HostWeight, std::span<const std::int64_t> rows);

// Rounding errors of independent values are treated as random: each has a standard deviation, those of a sum
// add in squares, and a test allows six. (A worst case that adds absolute values would be √n times wider and
// hide real mistakes.)
//
// sigma of each element of x as a device may round it before it multiplies by weights of `type`: to 8 bits
// with one scale for each 256 elements at most (steps of max / 127, uniform error: / √12) for quantised
// types, to the nearest bf16 for bf16 (steps of 2^-7 of the power of two below), not at all for f32 and f16.
std::vector<double> input_sigma(Type type, std::span<const double> x);

// y = W x with an error of sigma[i] in x[i]: sigma of each y. It includes float summation in any order. Types
// with a minimum count twice: q · d and the minimum are multiplied apart, and q · d alone is larger than w.
std::vector<double> output_sigma(const HostWeight&, std::span<const double> x, std::span<const double> sigma);

std::vector<double> multiply(const HostWeight&, std::span<const double> x);

}  // namespace fovea::kernels::cases
