// One case of an operation: its inputs, how it is run on any device, and the error that it may show against
// the reference. The tests, the self test and the micro-benchmark use the same cases.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/api/device.h"
#include "kernels/cases/memory.h"

namespace fovea::kernels::cases {

// What one run must at least do, for the benchmark.
struct Work {
  double bytes = 0;       // read from memory when nothing is cached
  double operations = 0;  // multiplications and additions
};

class Case {
 public:
  virtual ~Case() = default;

  std::string name;  // "linear q4_0 17x96 3 tokens"
  Work work;

  // Whether the device has the operation.
  virtual bool applies(const Device&) const { return true; }
  // Puts the inputs into the device's memory; the result runs the operation once.
  virtual std::function<void(Stream&)> build(Memory&) const = 0;
  // The largest allowed difference of each element of Memory::outputs() from the reference's.
  virtual std::vector<double> tolerance(const std::vector<float>& reference) const = 0;
};

using Cases = std::vector<std::unique_ptr<Case>>;
using Random = std::mt19937;

// Cases for correctness: small, odd and extreme ones. `seed` changes the values, not the shapes.
Cases sweep_cases(unsigned seed);

// A case in the shape of a real model, made when it is wanted: their weights are large.
struct Benchmark {
  std::string name;
  std::function<std::unique_ptr<Case>()> make;
};
using Benchmarks = std::vector<Benchmark>;
Benchmarks benchmarks();

void add_matrix_sweep(Cases&, Random&);  // embed_rows, linear
void add_feed_forward_sweep(Cases&, Random&);
void add_host_share_sweep(Cases&, Random&);  // ask_host, add_answer
void add_repack_sweep(Cases&, Random&);
void add_attention_inputs_sweep(Cases&, Random&);
void add_attention_sweep(Cases&, Random&);
void add_vector_sweep(Cases&, Random&);     // rms_norm, add, soft_cap
void add_recurrent_sweep(Cases&, Random&);  // gating, short_convolution, gated_delta
void add_router_sweep(Cases&, Random&);
void add_top_k_sweep(Cases&, Random&);
void add_matrix_benchmarks(Benchmarks&);
void add_feed_forward_benchmarks(Benchmarks&);
void add_attention_inputs_benchmarks(Benchmarks&);
void add_attention_benchmarks(Benchmarks&);
void add_vector_benchmarks(Benchmarks&);
void add_recurrent_benchmarks(Benchmarks&);
void add_router_benchmarks(Benchmarks&);
void add_top_k_benchmarks(Benchmarks&);

// Runs the case once on a fresh copy of its inputs; the outputs. `damage` gets Memory::damage().
std::vector<float> run_once(const Case&, const Device&, Stream&, bool preferred_packing, std::string& damage);

// Where the outputs differ from the reference's by more than the tolerance; empty: nowhere. An element that
// the reference leaves unwritten must be unwritten, one that it writes must be written.
std::string difference(const std::vector<float>& outputs, const std::vector<float>& reference,
                       const std::vector<double>& tolerance);

// The largest error among them, as a share of what is allowed; infinite where nothing is, or an element is
// written that must not be or the other way round.
double worst_share(const std::vector<float>& outputs, const std::vector<float>& reference,
                   const std::vector<double>& tolerance);

std::vector<float> normals(Random&, std::int64_t count, double scale = 1);

}  // namespace fovea::kernels::cases
