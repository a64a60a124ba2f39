//===- cpu.cpp - The CPU as the device that the module runs on ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "device.h"
#include "layer_times.h"
#include "runner.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace runner {
namespace {

/// Repeats `work` within the limits on runs and seconds, three times at least.
/// `run` replaces the run of the work. Returns the number of runs.
template <class Run>
int repeat(const device::Work &work, int runs, double seconds, Run run) {
  double begin = now();
  int done = 0;
  for (; done < runs && (done < 3 || now() - begin < seconds); ++done) {
    work.prepare();
    run();
  }
  return done;
}

/// An observer that times each layer from the end of the preceding one.
class LayerClock : public Watcher {
public:
  void start() { last = now(); }
  void layerDone(int layer, const void *, std::size_t) override {
    times.add(layer, now() - last);
    last = now(); // leaves out the time that this took
  }
  void print() { times.print(); }

private:
  double last = 0;
  LayerTimes times;
};

} // namespace

void device::open() {}

void *device::allocate(std::size_t bytes, std::size_t alignment) {
  alignment = std::max<std::size_t>(alignment, 64);
  void *memory =
      std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
  if (!memory)
    fail("there is too little memory for " + std::to_string(bytes) + " bytes");
  return memory;
}

void device::release(void *memory) { std::free(memory); }

void *device::allocateOnCpu(std::size_t bytes, std::size_t alignment) {
  return allocate(bytes, alignment);
}

void device::releaseOnCpu(void *memory) { release(memory); }

void device::fill(void *to, char value, std::size_t bytes) {
  std::memset(to, value, bytes);
}

void device::copy(void *to, const void *from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

void device::upload(void *to, const void *from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

void device::download(void *to, const void *from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

void device::wait() {}

void *device::stream() { return nullptr; }

void device::failCall(int status, const std::string &what) {
  fail(what + "the module returned " + std::to_string(status));
}

int device::timeRuns(const Work &work, int runs, double seconds) {
  return repeat(work, runs, seconds, [&] {
    double start = now();
    work.run();
    std::printf("run %.9g\n", now() - start);
  });
}

void device::timeLayers(const Work &work, int runs, double seconds) {
  LayerClock layers;
  watcher = &layers;
  repeat(work, runs, seconds, [&] {
    layers.start();
    work.run();
  });
  watcher = nullptr;
  layers.print();
}

double device::measurePeak(int threads) { return runner::measurePeak(threads); }

void device::printFigures() {
  std::printf("resident %zu\n", peakResidentBytes());
}

} // namespace runner
