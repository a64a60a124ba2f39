// Estimates launches of routines on blocks of a GPU's threads, as GpuCost.cpp
// does, for any values of the constants of the estimates.
//
//   block_estimates TARGET      such as cuda-sm90
//
// It is compiled with tables that test/runtime/cuda/timed_routines.py writes;
// NNC_TIMED_ROUTINES is a file that includes them. It reads lines:
//
//   sample ROUTINE PARAMS MULTIPLY_ADDS WEIGHT_BYTES ACTIVATION_BYTES
//   FIELD=VALUE... estimate CONSTANT=VALUE...
//
// PARAMS are separated by commas, or `-`; fields are those of the routine's
// shape, where the numbers of a list are separated by colons. For the second
// kind it prints the estimates of all samples in nanoseconds in a line, -1
// where a routine does not apply. Constants are those of costs/blocks.inc,
// launch_ns, and level2_rate, the bytes that leave the level-2 cache in a
// cycle; others keep their values. clang++ has to be told
// -Wno-invalid-constexpr, as constants become variables.
#define NNC_BLOCK_COST_TYPE double
#include "runtime/routines/catalogue/applies.h"
#include "runtime/routines/catalogue/blocks.h"
#include "runtime/routines/catalogue/expressions.h"
#include "runtime/routines/catalogue/shapes.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace {

namespace call_costs {
#define NNC_CALL_COST(name, value, unit, meaning)                              \
  [[maybe_unused]] constexpr double name = value;
#include "compiler/routines/costs.inc"
} // namespace call_costs

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

struct gpu {
  double level2_bytes, level2_rate, memory_mb_s, multiply_adds, mhz,
      multiprocessors, shared_kb, resident_threads, tensor_f16, tensor_i8,
      launch_ns;

  double hertz() const { return 1e6 * mhz; }
  double launch_seconds() const {
    return 1e-9 * launch_ns + call_costs::kGpuStartSeconds;
  }
  double level2_bandwidth() const {
    return call_costs::kGpuLevel2Share * level2_rate * hertz();
  }
  double seconds_to_move(double bytes) const {
    return bytes / (bytes <= call_costs::kGpuCachedShare * level2_bytes
                        ? level2_bandwidth()
                        : call_costs::kGpuMemoryShare * 1e6 * memory_mb_s);
  }
  nnc::core_limits limits(bool has_products, int element_bytes) const {
    nnc::core_limits l{};
    l.multiprocessors = multiprocessors;
    l.shared_bytes = 1024 * shared_kb;
    l.resident_threads = resident_threads;
    l.element_bytes = element_bytes;
    l.block_rate = multiply_adds / multiprocessors;
    if (has_products && element_bytes <= 2)
      l.block_rate = element_bytes == 1 ? tensor_i8 : tensor_f16;
    l.vector_rate = 1;
    l.rate = l.block_rate * multiprocessors;
    l.level2_bytes = level2_bytes;
    l.level2_rate = level2_bandwidth() / hertz();
    return l;
  }
};

/// Returns the GPU of a target, with no multiprocessors if it is none.
gpu gpu_of(const std::string &target) {
  struct row {
    const char *name;
    double level2_bytes, level2_rate, memory_mb_s, multiply_adds, mhz;
    const char *board = "";
    bool is_hidden = false;
    gpu more = {};
  };
#define CACHES(LEVEL1, LEVEL2, LEVEL3) LEVEL2
#define BANDWIDTH(LEVEL1, LEVEL2, LEVEL3) LEVEL2
#define MEMORY(MB_S) MB_S
#define SPEED(RATE, MHZ) RATE, MHZ
#define MULTIPROCESSORS(COUNT, SHARED, THREADS) COUNT, SHARED, THREADS
#define TENSORS(F16, I8) F16, I8
#define LAUNCH(NS) NS
#define GPU(ARCHITECTURE, ...)                                                 \
  "", false, gpu { 0, 0, 0, 0, 0, __VA_ARGS__ }
#define BOARD(NAME) NAME
#define TESTS_ONLY true
#define NNC_TARGET(NAME, TRIPLE, ISAS, NEEDS, VECTORS, ALIGN, CACHES,          \
                   BANDWIDTH, MEMORY, SPEED, COMPILER, FLAGS, EMULATOR, ...)   \
  row{NAME, CACHES, BANDWIDTH, MEMORY, SPEED, __VA_ARGS__},
  const row rows[] = {
#include "dialects/target/targets.inc"
  };
  for (const row &r : rows)
    if (target == r.name) {
      gpu found = r.more;
      found.level2_bytes = r.level2_bytes;
      found.level2_rate = r.level2_rate;
      found.memory_mb_s = r.memory_mb_s;
      found.multiply_adds = r.multiply_adds;
      found.mhz = r.mhz;
      return found;
    }
  return {};
}

//===----------------------------------------------------------------------===//
// Routines
//===----------------------------------------------------------------------===//

/// The fields of a shape by their names. Those that are no lists have one
/// number.
using field_values = std::map<std::string, std::vector<double>>;

/// Sets a field, or the elements of a list, to the numbers from `next` on, as
/// many as there are.
template <class V>
void set_field(V &field, const double *&next, const double *end) {
  if constexpr (std::is_array<V>::value)
    for (auto &element : field)
      set_field(element, next, end);
  else if (next != end)
    field = static_cast<V>(*next++);
}

template <class S> S shape_of(const field_values &fields) {
  S s{};
  s.visit([&](const char *name, auto &field) {
    const auto found = fields.find(name);
    if (found == fields.end())
      return;
    const double *first = found->second.data();
    set_field(field, first, first + found->second.size());
  });
  return s;
}

/// A candidate of a routine: its efficiency for a shape, 0 if it does not
/// apply.
struct candidate {
  bool has_products;
  int element_bytes;
  std::function<double(const field_values &, const nnc::core_limits &)>
      efficiency;
};

std::string without_spaces(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}
/// The key of a candidate whose parameters are written as in the tables.
std::string key_of(const std::string &routine, std::string params) {
  params = without_spaces(params.substr(1, params.size() - 2)); // no brackets
  if (!params.empty())
    params.pop_back(); // the last comma
  return routine + " " + (params.empty() ? "-" : params);
}

enum element_size { byte = 1, f16 = 2, f32 = 4 };
enum class work { products, others };
#define NNC_GPU_FAMILY(NAME, KIND, THREADS)                                    \
  constexpr work work_of_##NAME = work::KIND;
#include "compiler/routines/gpu_families.inc"
#undef NNC_GPU_FAMILY

std::map<std::string, candidate> candidates() {
  std::map<std::string, candidate> all;
#define NNC_UNWRAP(...) __VA_ARGS__
#define NNC_TIMED(KIND, FAMILY, ROUTINE, TYPE, NAMES, VALUES, APPLIES,         \
                  SCRATCH, EFFICIENCY)                                         \
  all[key_of(#ROUTINE, #VALUES)] = {                                           \
      work_of_##FAMILY == work::products, int(element_size::TYPE),             \
      [](const field_values &fields, const nnc::core_limits &core) {           \
        [[maybe_unused]] const auto s = shape_of<nnc::FAMILY##_shape>(fields); \
        nnc::tile_limits tile = nnc::sse4_tile;                                \
        tile.core = core;                                                      \
        NNC_UNWRAP NAMES return APPLIES ? double EFFICIENCY : 0.0;             \
      }};
#include NNC_TIMED_ROUTINES
  return all;
}

struct sample {
  const candidate *routine;
  double multiply_adds, weight_bytes, activation_bytes;
  field_values fields;
};

double estimate_ns(const gpu &gpu, const sample &s) {
  if (!s.routine)
    return -1;
  const nnc::core_limits limits =
      gpu.limits(s.routine->has_products, s.routine->element_bytes);
  const double efficiency = s.routine->efficiency(s.fields, limits);
  if (efficiency <= 0)
    return -1;
  const double computing =
      s.multiply_adds / (efficiency * limits.rate * gpu.hertz());
  const double moving = gpu.seconds_to_move(s.weight_bytes) +
                        gpu.seconds_to_move(s.activation_bytes);
  return 1e9 * (gpu.launch_seconds() + std::max(computing, moving));
}

field_values read_values(std::istream &words) {
  field_values values;
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    std::istringstream numbers(word.substr(equals + 1));
    for (std::string number; std::getline(numbers, number, ':');)
      values[word.substr(0, equals)].push_back(std::stod(number));
  }
  return values;
}

/// Sets constants. Returns the name of one that is not known, or "".
std::string set_constants(gpu &gpu, const field_values &values) {
  std::map<std::string, double *> known = {{"launch_ns", &gpu.launch_ns},
                                           {"level2_rate", &gpu.level2_rate}};
#define NNC_BLOCK_COST(name, value, unit, meaning)                             \
  nnc::block_costs::name = value;                                              \
  known[#name] = &nnc::block_costs::name;
#include "runtime/routines/costs/blocks.inc"
  for (const auto &[name, value] : values) {
    if (known.count(name) == 0)
      return name;
    *known[name] = value.front();
  }
  return "";
}

} // namespace

int main(int count, char **arguments) {
  const gpu usual = gpu_of(count > 1 ? arguments[1] : "");
  if (usual.multiprocessors == 0) {
    std::cerr << "expected the name of a GPU's target, such as cuda-sm90\n";
    return 1;
  }
  const auto all = candidates();
  std::vector<sample> samples;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command, routine, params;
    words >> command;
    if (command == "sample") {
      sample s{};
      words >> routine >> params >> s.multiply_adds >> s.weight_bytes >>
          s.activation_bytes;
      s.fields = read_values(words);
      const auto found = all.find(routine + " " + params);
      s.routine = found == all.end() ? nullptr : &found->second;
      samples.push_back(s);
      continue;
    }
    gpu varied = usual;
    const std::string unknown = set_constants(varied, read_values(words));
    if (!unknown.empty()) {
      std::cerr << "there is no constant '" << unknown << "'\n";
      return 1;
    }
    for (const sample &s : samples)
      std::printf("%.6g ", estimate_ns(varied, s));
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}
