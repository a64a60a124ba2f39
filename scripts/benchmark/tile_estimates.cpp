// Estimates the cycles of routines on tile registers (catalogue/matrix_tiles.h)
// for any values of the constants of costs/matrix_tiles.inc. fit_tiles.py puts
// a table in the place of that file, in which the constants are variables, and
// writes tile_constants.inc, a line NNC_CONSTANT(name) for each of them.
// clang++ has to be told -Wno-invalid-constexpr.
//
// It reads lines:
//
//   sample ROUTINE KB MULTIPLY_ADDS FIELD=VALUE...
//   estimate CONSTANT=VALUE...
//
// and answers the second kind with the cycles of all samples in a line.
#include "runtime/routines/catalogue/matrix_tiles.h"
#include "runtime/routines/convolution/conv2d/shape.h"
#include "runtime/routines/matrix/matmul/shape.h"

#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

using fields = std::map<std::string, int>;

template <class S> S make_shape(const fields &values) {
  S s{};
  s.visit([&](const char *name, int &field) { field = values.at(name); });
  return s;
}

/// Returns the share of the peak rate that a routine is estimated to reach.
double efficiency(const std::string &routine, int KB, const fields &values) {
  const bool is_bf16 = routine.find("bf16") != std::string::npos;
  const nnc::tile_limits &t = is_bf16 ? nnc::amxbf16_tile : nnc::amxint8_tile;
  const int bytes = is_bf16 ? 2 : 1;
  if (routine.rfind("matmul", 0) == 0)
    return nnc::tiles_efficiency_of_matmul(
        t, make_shape<nnc::matmul_shape>(values), bytes, KB);
  const auto s = make_shape<nnc::conv2d_shape>(values);
  const bool gathers = routine.find("_few_") != std::string::npos ||
                       routine.find("_first_") != std::string::npos;
  return gathers ? nnc::gathered_tiles_efficiency(t, s, bytes, KB)
                 : nnc::tiles_efficiency_of_conv2d(t, s, bytes, KB);
}

} // namespace

int main() {
  std::map<std::string, double *> constants;
#define NNC_CONSTANT(name) constants[#name] = &nnc::matrix_tile_costs::name;
#include "tile_constants.inc"
  std::vector<std::function<double()>> samples;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string kind, word;
    words >> kind;
    if (kind == "sample") {
      std::string routine;
      int KB = 0;
      double multiply_adds = 0;
      words >> routine >> KB >> multiply_adds;
      fields values;
      while (words >> word)
        values[word.substr(0, word.find('='))] =
            std::stoi(word.substr(word.find('=') + 1));
      // Vectors that a core is assumed to multiply in a cycle are those of the
      // table of instruction sets.
      const nnc::tile_limits &t = nnc::amxint8_tile;
      const double rate = t.core.vector_rate * t.lanes;
      samples.push_back([=] {
        return multiply_adds / (efficiency(routine, KB, values) * rate);
      });
      continue;
    }
    while (words >> word)
      *constants.at(word.substr(0, word.find('='))) =
          std::stod(word.substr(word.find('=') + 1));
    for (const auto &estimate : samples)
      std::printf("%.1f ", estimate());
    std::puts("");
    std::fflush(stdout);
  }
}
