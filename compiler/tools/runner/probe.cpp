//===- probe.cpp - Measures the figures of a target's row -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A separate program, which `nnc target-probe` builds and starts like the other
// programs of this folder, but without a module. It prints a line for each
// figure, in seconds and bytes; nnc computes the figures of the row from them.
//
//===----------------------------------------------------------------------===//

#include "runner.h"

#include "runtime/pool.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <unistd.h>

namespace runner {
namespace {

/// Returns the seconds of a call of `work`, the shortest of several
/// measurements that are each long enough to be timed. Other programs on the
/// machine can only lengthen measurements.
double timeCall(const std::function<void()> &work) {
  constexpr int stretches = 15;
  constexpr double shortest = 3e-4, enough = 0.1;
  double best = 1e9, begin = now();
  long calls = 1;
  for (int stretch = 0;
       stretch < stretches && (stretch == 0 || now() - begin < enough);) {
    double start = now();
    for (long call = 0; call < calls; ++call)
      work();
    double seconds = now() - start;
    if (seconds < shortest) {
      calls *= 4;
      continue;
    }
    best = std::min(best, seconds / double(calls));
    ++stretch;
  }
  return best;
}

/// Returns the clock rate in Hz, measured by a chain of dependent operations,
/// of which a core does one per cycle. The operations are not additions of a
/// constant, because Intel's cores since Golden Cove execute many of those at
/// once when they rename registers.
double measureClock() {
  constexpr int steps = 1024, operations = 16;
  double seconds = timeCall([] {
    unsigned long value = 0, key = 1;
    asm volatile("" : "+r"(key));
    for (int step = 0; step < steps; ++step)
#pragma GCC unroll 16
      for (int i = 0; i < operations; ++i) {
        value ^= key;
        asm volatile("" : "+r"(value)); // keeps them separate
      }
  });
  return steps * operations / seconds;
}

/// Returns the sizes in bytes of the data caches from level 1 on, as reported
/// by Linux.
std::vector<long> findCaches() {
  std::vector<long> sizes;
  for (int level = 1; level <= 3; ++level)
    for (int index = 0; index < 8; ++index) {
      std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" +
                           std::to_string(index) + "/";
      auto read = [&](const char *name) {
        char text[32] = "";
        if (std::FILE *file = std::fopen((folder + name).c_str(), "r")) {
          if (!std::fgets(text, sizeof text, file))
            text[0] = '\0';
          std::fclose(file);
        }
        return std::string(text);
      };
      long kibibytes = std::atol(read("size").c_str());
      if (std::atoi(read("level").c_str()) == level && kibibytes > 0 &&
          read("type") != "Instruction\n") {
        sizes.push_back(kibibytes * 1024);
        break;
      }
    }
  return sizes;
}

/// The memory of a thread, aligned to a page.
class Block {
public:
  explicit Block(std::size_t bytes)
      : memory(static_cast<char *>(std::aligned_alloc(4096, bytes)),
               std::free) {
    if (!memory)
      fail("there is no memory for the probe");
    std::fill_n(memory.get(), bytes, '\1'); // makes the system map it
  }
  char *data() const { return memory.get(); }

private:
  std::unique_ptr<char, decltype(&std::free)> memory;
};

typedef int Vector __attribute__((vector_size(vectorBytes)));

enum class Access { read, write, both };

/// Accesses `bytes` bytes in vectors: reads them, writes them, or reads one
/// half and writes the other.
void touch(char *memory, std::size_t bytes, Access access) {
  auto *vectors = reinterpret_cast<Vector *>(memory);
  std::size_t count = bytes / sizeof(Vector) / 8 * 8, half = count / 2;
  Vector first = vectors[0], sums[4] = {first, first, first, first};
  if (access == Access::read)
    for (std::size_t i = 0; i < count; i += 4)
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k)
        sums[k] += vectors[i + k];
  else if (access == Access::write)
    for (std::size_t i = 0; i < count; ++i)
      vectors[i] = first;
  else
    for (std::size_t i = 0; i < half; ++i)
      vectors[half + i] = vectors[i];
  Vector sum = sums[0] + sums[1] + sums[2] + sums[3];
  // The compiler must assume that the memory and the sum are used.
  asm volatile("" : : "r"(memory), "r"(&sum) : "memory");
}

/// Returns the total bandwidth in bytes per second of all threads of the pool,
/// each of which accesses its own memory.
double measureRate(const nnc_pool &pool, std::size_t bytes, Access access) {
  std::vector<Block> blocks;
  for (int thread = 0; thread < pool.threads; ++thread)
    blocks.emplace_back(bytes);
  struct Task {
    std::vector<Block> &blocks;
    std::size_t bytes;
    Access access;
  } task{blocks, bytes, access};
  double seconds = timeCall([&] {
    pool.run(
        pool.context,
        [](void *argument, int thread, int) {
          auto *own = static_cast<Task *>(argument);
          touch(own->blocks[thread].data(), own->bytes, own->access);
        },
        &task);
  });
  return double(bytes) * pool.threads / seconds;
}

/// Returns the bytes of the last-level cache that a core can read faster than
/// memory: the whole cache, or a part of it if many cores share it.
std::size_t findOwnPart(const nnc_pool &alone, std::size_t cache,
                        std::size_t before, std::size_t beyond) {
  const double memory = measureRate(alone, beyond, Access::read);
  while (cache > 8 * before &&
         measureRate(alone, cache / 2, Access::read) < 1.25 * memory)
    cache /= 2;
  return cache;
}

void printRates(const char *place, const nnc_pool &pool, std::size_t bytes) {
  std::printf("%s %.9g %.9g %.9g\n", place,
              measureRate(pool, bytes, Access::read),
              measureRate(pool, bytes, Access::write),
              measureRate(pool, bytes, Access::both));
}

} // namespace
} // namespace runner

int main(int argc, char **argv) {
  using namespace runner;
  int threads = argc > 1 ? std::atoi(argv[1]) : 0;
  if (threads < 1)
    threads = std::max(1, int(sysconf(_SC_NPROCESSORS_ONLN)));
  nnc::thread_pool<256> one, every;
  const nnc_pool alone = one.start(1), all = every.start(threads);
  std::printf("threads %d\n", all.threads);
  for (int bytes : {16, 32, 64})
    if (double peak = measurePeak(1, bytes))
      std::printf("peak %d %.9g\n", bytes, peak);
  // The clock is measured late, when the core has left its idle state long ago.
  std::printf("clock %.9g\n", measureClock());
  std::vector<long> caches = findCaches();
  // Levels are measured with half of their size, since other data is always
  // there too. Memory is measured with four times the last level, but no more
  // than fits small machines.
  std::size_t beyond = 64 << 20;
  for (std::size_t level = 0; level < caches.size(); ++level) {
    std::size_t bytes = caches[level];
    beyond = std::clamp(bytes * 4, beyond, std::size_t(256) << 20);
    if (level > 0 && level + 1 == caches.size())
      bytes = findOwnPart(alone, bytes, caches[level - 1], beyond);
    std::printf("cache %zu\n", bytes);
    printRates("rates", alone, bytes / 2);
  }
  printRates("memory", alone, beyond);
  printRates("shared_memory", all, beyond / all.threads);
  std::printf("barrier %.9g\n", timeCall([&] {
                all.run(all.context, [](void *, int, int) {}, nullptr);
              }));
}
