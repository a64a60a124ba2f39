//===- simulation.cpp - A simulated thread pool ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "runner.h"

#include <algorithm>
#include <cstdio>

namespace runner {

static double median(std::vector<double> &values) {
  auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void Simulation::start() {
  launches.clear();
  shared = 0;
  last = now();
}

void Simulation::shareDone(int thread, double seconds) {
  if (thread == 0)
    launches.emplace_back();
  launches.back().push_back(seconds);
  shared += seconds;
}

void Simulation::layerDone(int index, const void *, std::size_t) {
  double time = now() - last - shared;
  if (std::size_t(index) >= layers.size())
    layers.resize(index + 1);
  Layer &layer = layers[index];
  layer.rest.push_back(std::max(time, 0.0));
  layer.launches.resize(launches.size(), std::vector<Samples>(threads));
  for (std::size_t i = 0; i < launches.size(); ++i)
    for (int t = 0; t < threads; ++t)
      layer.launches[i][t].push_back(launches[i][t]);
  start();
}

void Simulation::print() {
  for (std::size_t index = 0; index < layers.size(); ++index) {
    double sum = 0, largest = 0;
    for (std::vector<Samples> &shares : layers[index].launches) {
      double most = 0;
      for (Samples &share : shares) {
        double seconds = median(share);
        sum += seconds;
        most = std::max(most, seconds);
      }
      largest += most;
    }
    Samples &rest = layers[index].rest;
    std::printf("simulated %zu %.9g %.9g %.9g\n", index,
                rest.empty() ? 0.0 : median(rest), sum, largest);
  }
}

} // namespace runner
