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

/// The properties of the module, taken from its own header.
struct Model {
  std::size_t inputFields, outputFields; ///< pointers in its two structs
  const std::size_t *arenaBytes;         ///< bytes of each part of the arena
  std::size_t arenas;                    ///< the number of these parts
  std::size_t alignment;
  bool parallel; ///< whether it takes a thread pool
  /// Whether the last input is the contents of a file with the weights, in the
  /// CPU's memory, that a module of CUDA loads before its first run.
  bool takesWeightsFile;
  /// Whether a run of a module of CUDA can be captured into a graph.
  bool canBeCaptured;
  /// Whether a module of CUDA takes inputs and outputs in the CPU's memory.
  bool hasPortsOnCpu;
  /// The GPU architectures whose machine code the module has, such as 80 for
  /// sm_80, or empty.
  std::vector<int> architectures;
  std::size_t stateBytes; ///< the size of struct <name>_state, or 0
  /// Calls <name>_reset; does nothing if the module has no state.
  void (*reset)(void *state);
  /// Calls <name>_place, which sets the pointers of inputs and outputs that lie
  /// in the arena; does nothing if the module has no such function.
  void (*place)(const void **inputs, void **outputs, void *const *arenas);
  /// Calls <name>_run; inputs and outputs are the structs' pointers in order.
  int (*run)(const void *const *inputs, void *const *outputs, void *state,
             void *const *arenas);
};

extern const Model model;

/// The bytes of the input that is the same in all runs: the file of weights of
/// a module that takes one, as long as it is.
extern std::size_t fixedBytes;

/// Sets the sizes that `model.run` passes to the module, in the order of the
/// struct of inputs.
void useSizes(const std::vector<std::int32_t> &sizes);

/// Makes `model.run` use this many threads from now on. If `pin` is set, each
/// thread is bound to a core of its own.
void useThreads(int threads, bool pin);

/// An observer that is called after each layer of a run.
class Watcher {
public:
  virtual ~Watcher() = default;
  virtual void layerDone(int layer, const void *output, std::size_t bytes) = 0;
};

/// The current observer, or null.
extern Watcher *watcher;

/// An observer that writes each layer's output to a file: the layer's index and
/// the size in bytes (each an int64 in the byte order of this machine), then
/// the bytes.
class LayerDump : public Watcher {
public:
  explicit LayerDump(const std::string &path);
  ~LayerDump() override;
  void layerDone(int layer, const void *output, std::size_t bytes) override;

private:
  void *file;
};

/// A simulated thread pool, which measures the work of each thread: the shares
/// of all threads run on this thread, one after the other, and each is timed.
class Simulation : public Watcher {
public:
  explicit Simulation(int threads) : threads(threads) {}
  const int threads;

  /// Starts the measurement of a run. Must be called at the beginning of each
  /// run.
  void start();
  void shareDone(int thread, double seconds);
  void layerDone(int layer, const void *output, std::size_t bytes) override;
  /// Prints a line for each layer: the seconds outside of the pool, of all
  /// shares, and of the largest share of each call of the pool, summed over the
  /// calls.
  void print();

private:
  using Samples = std::vector<double>;
  struct Layer {
    Samples rest;
    std::vector<std::vector<Samples>> launches; ///< for each thread
  };
  std::vector<Layer> layers;
  std::vector<Samples> launches; ///< launches of the current layer and run
  double shared = 0, last = 0;
};

/// Returns the seconds that the pool needs to hand work to its threads and to
/// learn that they are done. The time is longer if the cores share no cache,
/// and 0 for one thread.
double measureHandover();

/// Makes `model.run` divide its work among the simulation's threads from now
/// on.
void useSimulation(Simulation &simulation);

/// Returns the time in seconds on a monotonic clock.
double now();

/// The size in bytes of the widest vectors that this program is built for.
#if defined(__AVX512F__)
constexpr int vectorBytes = 64;
#elif defined(__AVX__)
constexpr int vectorBytes = 32;
#else
constexpr int vectorBytes = 16;
#endif

/// Returns the f32 multiply-adds per second that `threads` threads reach
/// together, with vectors of `bytes` bytes, or 0 if there are no such vectors.
double measurePeak(int threads, int bytes = vectorBytes);

/// Returns the peak resident memory of this program in bytes, as reported by
/// the system, or 0 if it is not known.
std::size_t peakResidentBytes();

/// Prints a message and ends the program as a failure, with exit code `code`.
[[noreturn]] void fail(const std::string &message, int code = 1);

/// The exit code of a program whose GPU is absent or cannot run the module. It
/// is that of nnc for the same.
constexpr int noGpuCode = 8;

/// Read or write a whole file. A failure ends the program.
std::vector<char> readFile(const std::string &path);
void writeFile(const std::string &path, const void *data, std::size_t bytes);

} // namespace runner

#endif // NNC_TOOLS_RUNNER_H
