//===- layer_times.h - The times of a module's layers ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_RUNNER_LAYER_TIMES_H
#define NNC_TOOLS_RUNNER_LAYER_TIMES_H

#include <algorithm>
#include <cstdio>
#include <vector>

namespace runner {

/// The times that each layer took, in seconds.
class LayerTimes {
public:
  void add(int layer, double seconds) {
    if (std::size_t(layer) >= times.size())
      times.resize(layer + 1);
    times[layer].push_back(seconds);
  }
  /// Prints a line with the median of each layer.
  void print() {
    for (std::size_t layer = 0; layer < times.size(); ++layer) {
      std::vector<double> &all = times[layer];
      auto middle = all.begin() + all.size() / 2;
      std::nth_element(all.begin(), middle, all.end());
      std::printf("layer %zu %.9g\n", layer, all.empty() ? 0.0 : *middle);
    }
  }

private:
  std::vector<std::vector<double>> times;
};

} // namespace runner

#endif // NNC_TOOLS_RUNNER_LAYER_TIMES_H
