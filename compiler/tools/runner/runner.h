//===- runner.h - The program that nnc builds around an emitted module ----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// `nnc run`, `verify` and `bench` build these sources together with the emitted
// folder and start the result, natively or in an emulator. They use the module
// through its header, as a user does. nnc reads and writes the user's files;
// here tensors are raw bytes.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_RUNNER_H
#define NNC_TOOLS_RUNNER_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// What the module tells about itself, in the way of its own header.
struct Model {
  std::size_t inputFields, outputFields; ///< pointers in its two structs
  std::size_t arenaBytes, alignment;
  bool parallel; ///< takes a pool of threads
  /// Calls <name>_run; inputs and outputs are the structs' pointers in order.
  int (*run)(const void *const *inputs, void *const *outputs, void *arena);
};

extern const Model model;

/// Makes `model.run` use this many threads from now on, if `pin`, each on a
/// core of its own.
void useThreads(int threads, bool pin);

/// Called after each layer of a run.
class Watcher {
public:
  virtual ~Watcher() = default;
  virtual void layerDone(int layer, const void *output, std::size_t bytes) = 0;
};

/// Who watches, or null.
extern Watcher *watcher;

/// Writes each layer's output to a file: its index and its size in bytes
/// (int64, as this machine has them), then the bytes.
class LayerDump : public Watcher {
public:
  explicit LayerDump(const std::string &path);
  ~LayerDump() override;
  void layerDone(int layer, const void *output, std::size_t bytes) override;

private:
  void *file;
};

/// What each thread of a pool would have to do: the shares of all threads run
/// on this one, one after the other, and are timed.
class Simulation : public Watcher {
public:
  explicit Simulation(int threads) : threads(threads) {}
  const int threads;

  /// At the beginning of each run.
  void start();
  void shareDone(int thread, double seconds);
  void layerDone(int layer, const void *output, std::size_t bytes) override;
  /// A line for each layer: seconds outside of the pool, of all shares, and of
  /// the largest share of each call of the pool, summed.
  void print();

private:
  using Samples = std::vector<double>;
  struct Layer {
    Samples rest;
    std::vector<std::vector<Samples>> launches; ///< of each thread
  };
  std::vector<Layer> layers;
  std::vector<Samples> launches; ///< of this layer in this run
  double shared = 0, last = 0;
};

/// Seconds that the pool takes to hand its threads work and to learn that it is
/// done: more where the cores that they are on have no cache together. 0 for
/// one thread.
double measureHandover();

/// Makes `model.run` cut its work for the simulation's threads from now on.
void useSimulation(Simulation &simulation);

/// Seconds on a clock that only goes forward.
double now();

/// Bytes of the widest vectors that this program is built for.
#if defined(__AVX512F__)
constexpr int vectorBytes = 64;
#elif defined(__AVX__)
constexpr int vectorBytes = 32;
#else
constexpr int vectorBytes = 16;
#endif

/// Multiply-adds a second that `threads` threads reach together, in vectors of
/// f32; 0 where there are none of so many bytes.
double measurePeak(int threads, int bytes = vectorBytes);

/// The most memory that this program has had at once, as the system counts what
/// is resident; 0 where that is not known.
std::size_t peakResidentBytes();

/// Ends the program with a message.
[[noreturn]] void fail(const std::string &message);

/// Whole files. A failure ends the program.
std::vector<char> readFile(const std::string &path);
void writeFile(const std::string &path, const void *data, std::size_t bytes);

} // namespace runner

#endif // NNC_TOOLS_RUNNER_H
