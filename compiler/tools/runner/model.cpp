//===- model.cpp - The emitted module, as the runner sees it --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// This file is built with -DNNC_MODEL=resnet50 -DNNC_MODEL_CONSTANTS=RESNET50,
// with -DNNC_MODEL_PARALLEL=1 for a module with threads, with
// -DNNC_MODEL_STATE=1 for one that keeps values between runs, and with
// -DNNC_MODEL_PLACED=1 for one whose inputs and outputs are in the arena.
// NNC_MODEL_ARENAS is the bytes of the arena, or, with -DNNC_MODEL_MEMORIES=1,
// of its part in each of several memories. With -DNNC_MODEL_SIZES=N, the struct
// of inputs ends in N sizes. With -DNNC_MODEL_CUDA=1, the module is CUDA, with
// machine code for -DNNC_MODEL_ARCHITECTURES=80,90; a GPU runs it, or the CPU
// emulates one. NNC_MODEL_LOADS is then 1 if it holds weights, and 2 if its
// weights are a file, which is the last of the inputs. NNC_MODEL_CAPTURED is 1
// if a run can be captured into a graph.
//
//===----------------------------------------------------------------------===//

#include "device.h"
#include "runner.h"

#include <algorithm>
#include <cstring>
#include <memory>

// Angle brackets prevent that a module called "runner" is mistaken for the
// header above.
#define NNC_HEADER(name) <name.h>
#define NNC_PASTE2(a, b) a##b
#define NNC_PASTE(a, b) NNC_PASTE2(a, b)
#include NNC_HEADER(NNC_MODEL_HEADER)

#ifndef NNC_MODEL_PARALLEL
#define NNC_MODEL_PARALLEL 0
#endif
#ifndef NNC_MODEL_STATE
#define NNC_MODEL_STATE 0
#endif
#ifndef NNC_MODEL_PLACED
#define NNC_MODEL_PLACED 0
#endif
#ifndef NNC_MODEL_CUDA
#define NNC_MODEL_CUDA 0
#endif
#ifndef NNC_MODEL_ARCHITECTURES
#define NNC_MODEL_ARCHITECTURES
#endif
#ifndef NNC_MODEL_CAPTURED
#define NNC_MODEL_CAPTURED 0
#endif
#ifndef NNC_MODEL_PORTS_ON_CPU
#define NNC_MODEL_PORTS_ON_CPU 0
#endif
#ifndef NNC_MODEL_LOADS
#define NNC_MODEL_LOADS 0
#endif
#ifndef NNC_MODEL_SIZES
#define NNC_MODEL_SIZES 0
#endif
#ifndef NNC_MODEL_MEMORIES
#define NNC_MODEL_MEMORIES 0
#endif
#ifndef NNC_MODEL_ARENAS
#define NNC_MODEL_ARENAS NNC_PASTE(NNC_MODEL_CONSTANTS, _ARENA_BYTES)
#endif
#include "runtime/pool.h"

namespace runner {

std::size_t fixedBytes = 0;

namespace {

using Inputs = NNC_PASTE(NNC_MODEL, _inputs);
using Outputs = NNC_PASTE(NNC_MODEL, _outputs);

// The structs consist of pointers, followed by the sizes, if any. In a CUDA
// module with weights, the last pointer is to the weights.
constexpr std::size_t sizeBytes = NNC_MODEL_SIZES * sizeof(std::int32_t);
constexpr std::size_t allPointers =
    (sizeof(Inputs) - sizeBytes) / sizeof(void *);
constexpr std::size_t inputPointers = allPointers - (NNC_MODEL_LOADS == 1);
std::int32_t sizes[NNC_MODEL_SIZES + 1];
static_assert(sizeof(Inputs) % sizeof(void *) == 0, "");
static_assert(sizeof(Outputs) % sizeof(void *) == 0, "");

constexpr std::size_t arenaBytes[] = {NNC_MODEL_ARENAS};

#if NNC_MODEL_MEMORIES
using Arenas = NNC_PASTE(NNC_MODEL, _arenas);
static_assert(sizeof(Arenas) ==
                  sizeof arenaBytes / sizeof arenaBytes[0] * sizeof(void *),
              "");

/// The arena as the module takes it: a struct of its parts.
class Arena {
public:
  explicit Arena(void *const *parts) {
    std::memcpy(&arenas, parts, sizeof arenas);
  }
  operator const Arenas *() const { return &arenas; }

private:
  Arenas arenas;
};
#else
/// The arena as the module takes it: a single pointer.
class Arena {
public:
  explicit Arena(void *const *parts) : arena(parts[0]) {}
  operator void *() const { return arena; }

private:
  void *arena;
};
#endif

#if NNC_MODEL_PARALLEL
nnc::thread_pool<256> threads;
nnc_pool pool = {1, nullptr, nullptr};
#endif

#if NNC_MODEL_STATE
using State = NNC_PASTE(NNC_MODEL, _state);
constexpr std::size_t stateBytes = sizeof(State);
#define NNC_STATE_ARGUMENT static_cast<State *>(state),

void reset(void *state) {
  NNC_PASTE(NNC_MODEL, _reset)(static_cast<State *>(state));
}
#else
constexpr std::size_t stateBytes = 0;
#define NNC_STATE_ARGUMENT

void reset(void *) {}
#endif

#if NNC_MODEL_CUDA
#define NNC_STREAM_ARGUMENT , device::stream()
#else
#define NNC_STREAM_ARGUMENT
#endif

#if NNC_MODEL_LOADS
#if NNC_MODEL_LOADS == 2
#define NNC_BYTES_ARGUMENT , fixedBytes
#else
#define NNC_BYTES_ARGUMENT
#endif

/// Loads the weights into memory of the GPU when it is called first, and
/// returns this memory. `file` is the contents of their file, or null for a
/// module that holds them.
const void *loadWeights(const void *file) {
  static void *const weights = [file] {
    void *memory =
        device::allocate(NNC_PASTE(NNC_MODEL_CONSTANTS, _WEIGHT_BYTES),
                         NNC_PASTE(NNC_MODEL_CONSTANTS, _ALIGN));
    int status = NNC_PASTE(NNC_MODEL, _load_weights)(
        memory, file NNC_BYTES_ARGUMENT, device::stream());
    if (status != 0)
      device::failCall(status, "the weights could not be loaded: ");
    device::wait();
    return memory;
  }();
  return weights;
}
#endif

void place([[maybe_unused]] const void **inputFields,
           [[maybe_unused]] void **outputFields,
           [[maybe_unused]] void *const *arenas) {
#if NNC_MODEL_PLACED
  Inputs inputs;
  Outputs outputs;
  std::memcpy(&inputs, inputFields, inputPointers * sizeof(void *));
  std::memcpy(&outputs, outputFields, sizeof outputs);
  NNC_PASTE(NNC_MODEL, _place)(&inputs, &outputs, Arena(arenas));
  std::memcpy(inputFields, &inputs, inputPointers * sizeof(void *));
  std::memcpy(outputFields, &outputs, sizeof outputs);
#endif
}

int run(const void *const *inputFields, void *const *outputFields,
        [[maybe_unused]] void *state, void *const *arenas) {
  Inputs inputs;
  Outputs outputs;
  std::memcpy(&inputs, inputFields, inputPointers * sizeof(void *));
#if NNC_MODEL_LOADS
  inputs.weights = loadWeights(NNC_MODEL_LOADS == 2 ? inputs.weights : nullptr);
#endif
  std::memcpy(reinterpret_cast<char *>(&inputs) + allPointers * sizeof(void *),
              sizes, sizeBytes);
  std::memcpy(&outputs, outputFields, sizeof outputs);
#if NNC_MODEL_PARALLEL
  if (pool.threads > 1)
    return NNC_PASTE(NNC_MODEL, _run_parallel)(
        &inputs, &outputs, NNC_STATE_ARGUMENT Arena(arenas), &pool);
#endif
  return NNC_PASTE(NNC_MODEL, _run)(
      &inputs, &outputs, NNC_STATE_ARGUMENT Arena(arenas) NNC_STREAM_ARGUMENT);
}

} // namespace

void useSizes(const std::vector<std::int32_t> &given) {
  if (given.size() != NNC_MODEL_SIZES)
    fail("the module takes " + std::to_string(NNC_MODEL_SIZES) + " sizes");
  std::copy(given.begin(), given.end(), sizes);
}

void useThreads(int count, bool pin) {
#if NNC_MODEL_PARALLEL
  pool = threads.start(count, pin ? nnc::pinning::cores : nnc::pinning::none);
  count -= pool.threads; // the system may start fewer
#else
  if (pin)
    nnc::core_set::of(pthread_self()).pin(pthread_self(), 0);
  count -= 1;
#endif
  if (count > 0)
    fail("there are not so many threads");
}

double measureHandover() {
#if NNC_MODEL_PARALLEL
  if (pool.threads > 1) {
    constexpr int calls = 1000;
    double start = now();
    for (int call = 0; call < calls; ++call)
      pool.run(pool.context, [](void *, int, int) {}, nullptr);
    return (now() - start) / calls;
  }
#endif
  return 0;
}

void useSimulation(Simulation &simulation) {
#if NNC_MODEL_PARALLEL
  pool = {simulation.threads, &simulation,
          [](void *context, nnc_task task, void *argument) {
            auto &simulated = *static_cast<Simulation *>(context);
            for (int t = 0; t < simulated.threads; ++t) {
              double begin = now();
              task(argument, t, simulated.threads);
              simulated.shareDone(t, now() - begin);
            }
          }};
#else
  (void)simulation;
  fail("the module has no threads");
#endif
}

const Model model = {inputPointers,
                     sizeof(Outputs) / sizeof(void *),
                     arenaBytes,
                     sizeof arenaBytes / sizeof arenaBytes[0],
                     NNC_PASTE(NNC_MODEL_CONSTANTS, _ALIGN),
                     NNC_MODEL_PARALLEL,
                     NNC_MODEL_LOADS == 2,
                     NNC_MODEL_CAPTURED,
                     NNC_MODEL_PORTS_ON_CPU,
                     {NNC_MODEL_ARCHITECTURES},
                     stateBytes,
                     reset,
                     place,
                     run};

} // namespace runner
