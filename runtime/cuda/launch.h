//===- launch.h - Runs a routine on a GPU, or emulates that on a CPU ------===//
//
// launch<R>(stream, shape, arguments...) runs the units of work of a routine in
// one kernel, one GPU thread for each unit: an element where the routine has
// by_element, and else what a unit is for a thread pool. Units are independent,
// so that the result does not depend on the order in which they run. A routine
// that has `kernels` is made for blocks of threads that work together; it is
// launched by kernels.h.
//
// NNC_THREADS is the number of threads for which the arena has scratch memory.
// Layers without scratch run on as many threads as they have units.
//
// nvcc compiles the kernels. Any other C++ compiler, given
// -DNNC_EMULATE_CUDA=1, compiles the same source for the CPU: memory of the GPU
// is then ordinary memory, and the threads of a kernel run one after the other,
// in an order that differs from block to block.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_CUDA_LAUNCH_H
#define NNC_CUDA_LAUNCH_H

#include "runtime/cuda/block.h"
#include "runtime/scratch.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if !defined(__CUDACC__)
#include <stdio.h>
#endif

#ifndef NNC_THREADS
#define NNC_THREADS 1
#endif

// With 1, a launch may begin on GPUs from sm_90 on while the one before it ends
// (programmatic dependent launch).
#ifndef NNC_CUDA_PDL
#define NNC_CUDA_PDL 1
#endif

namespace nnc {

/// The kind of the first error that CUDA reported.
enum class gpu_fault {
  none,
  no_gpu,    ///< there is no GPU, or its driver is too old
  no_code,   ///< the program has no machine code for the GPU's architecture
  earlier,   ///< the error was there before the stream was made
  no_memory, ///< the GPU has too little memory
  elsewhere, ///< the stream is that of another GPU than the current one
  other
};

/// Threads of a block of a kernel of launch().
constexpr int block_threads = 128;

/// Largest number of threads of such a kernel, which compute several units each
/// if there are more units.
constexpr int most_threads = block_threads << 20;

/// Runs the units of R whose numbers leave the remainder `thread` when divided
/// by `threads`. The units of a routine with finish() share one scratch.
template <class R, class S, class... A>
NNC_FN inline void run_units(const S &shape, int units, int thread, int threads,
                             const A &...arguments) {
  const int mine = has_finish<R> ? 0 : thread;
  const int parts = has_finish<R> ? 1 : threads;
  for (int64_t unit = thread; unit < units; unit += threads) {
    const int begin = static_cast<int>(unit);
    if constexpr (cuts_for_threads<R, S>)
      R::run(shape, argument_of(arguments, mine, parts)..., begin, begin + 1,
             NNC_THREADS);
    else
      R::run(shape, argument_of(arguments, mine, parts)..., begin, begin + 1);
  }
}

/// Sets the counters to zero by the first `threads` threads of a launch.
NNC_FN inline void clear_by_threads(const counter_range &counters, int thread,
                                    int threads) {
  const int step = threads < block_threads ? threads : block_threads;
  for (int i = thread; thread < step && i < counters.count; i += step)
    counters.first[i] = 0;
}

/// The counters of blocks of the launches in a stream.
class stream_counters {
public:
  /// Tells the place of the counters, which the next launch_and_clear() sets to
  /// zero.
  void set_counters(void *place, size_t bytes) {
    uncleared = {static_cast<uint32_t *>(place), int(bytes / sizeof(uint32_t))};
  }
  /// Returns the counters that nothing has set to zero yet, and expects the
  /// caller to do that.
  counter_range take_uncleared() {
    const counter_range all = uncleared;
    uncleared.count = 0;
    return all;
  }
  uint32_t *counters() const { return uncleared.first; }

private:
  counter_range uncleared = {nullptr, 0};
};

#if defined(__CUDACC__)

/// Waits until the launches before this one have ended, and sees what they
/// stored; then lets the next launch begin, which waits for the end of this
/// one.
__device__ __forceinline__ void join_launches() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// The kernel of launch(): its threads run the units of R.
template <class R, class S, class... A>
__global__ void __launch_bounds__(block_threads)
    units_kernel(S shape, int units, int threads, A... arguments) {
  join_launches();
  const int thread = static_cast<int>(blockIdx.x * block_threads + threadIdx.x);
  if (thread < threads)
    run_units<R>(shape, units, thread, threads, arguments...);
}

/// The kernel of launch_and_clear(), which also sets counters to zero.
template <class R, class S, class... A>
__global__ void __launch_bounds__(block_threads)
    clearing_units_kernel(S shape, counter_range counters, int units,
                          int threads, A... arguments) {
  join_launches();
  const int thread = static_cast<int>(blockIdx.x * block_threads + threadIdx.x);
  clear_by_threads(counters, thread, threads);
  if (thread < threads)
    run_units<R>(shape, units, thread, threads, arguments...);
}

/// The kernel of R::finish(), which a single thread runs.
template <class R, class S, class... A>
__global__ void finish_kernel(S shape, A... arguments) {
  join_launches();
  finish<R>(shape, arguments...);
}

/// The kernel that stores one value.
template <class T> __global__ void store_kernel(T *place, T value) {
  join_launches();
  *place = value;
}

/// True if the program may hold machine code for a GPU whose launches can begin
/// early, and CUDA can capture such launches.
constexpr bool has_early_launches() {
#if !NNC_CUDA_PDL || CUDART_VERSION < 12030
  return false;
#elif defined(__CUDA_ARCH_LIST__)
  constexpr int architectures[] = {__CUDA_ARCH_LIST__};
  for (int arch : architectures)
    if (arch >= 900)
      return true;
  return false;
#else
  return true;
#endif
}

/// A queue of work for a GPU, which is done in order: a cudaStream_t, and the
/// first error of CUDA since the object was made. After an error no more work
/// is added.
class stream : public stream_counters {
public:
  /// `handle` is a cudaStream_t, or null for the default stream.
  explicit stream(void *handle)
      : queue(static_cast<cudaStream_t>(handle)), error(cudaPeekAtLastError()) {
    // Asking an event or a stream that is still at work leaves this behind.
    if (error == cudaErrorNotReady)
      error = cudaSuccess;
    is_earlier = error != cudaSuccess;
    find_gpu();
  }

  /// Clears an error that a status of its own tells, so that CUDA does not
  /// report it to the next caller, too. Others stay for cudaGetLastError().
  ~stream() {
    const gpu_fault own = fault();
    if (own != gpu_fault::none && own != gpu_fault::earlier &&
        own != gpu_fault::other)
      static_cast<void>(cudaGetLastError());
  }

  /// Returns what kind of error was the first one.
  gpu_fault fault() const {
    switch (error) {
    case cudaSuccess:
      return gpu_fault::none;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
      return gpu_fault::no_gpu;
    default:
      break;
    }
    if (is_earlier)
      return gpu_fault::earlier;
    if (is_elsewhere)
      return gpu_fault::elsewhere;
    switch (error) {
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorJitCompilationDisabled:
      return gpu_fault::no_code;
    case cudaErrorMemoryAllocation:
      return gpu_fault::no_memory;
    default:
      return gpu_fault::other;
    }
  }

  /// Sets the counters of blocks to zero, with which launches that follow count
  /// their blocks. Each launch leaves them zero.
  void clear_counters(void *place, size_t bytes) {
    join();
    set_counters(place, 0);
    if (!error)
      error = cudaMemsetAsync(place, 0, bytes, queue);
  }

  /// Copies bytes within the GPU's memory.
  void copy(void *to, const void *from, size_t bytes) {
    join();
    if (!error)
      error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, queue);
  }

  /// Copies bytes from the CPU's to the GPU's memory.
  void upload(void *to, const void *from, size_t bytes) {
    join();
    if (!error && bytes)
      error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, queue);
  }

  /// Copies bytes from the GPU's to the CPU's memory.
  void download(void *to, const void *from, size_t bytes) {
    join();
    if (!error && bytes)
      error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, queue);
  }

  /// Stores a value in the GPU's memory.
  template <class T> void write(T *place, int64_t value) {
    run(store_kernel<T>, 1, place, static_cast<T>(value));
  }

  /// Waits for all work so far, and returns a value in the GPU's memory; after
  /// an error 0, which ends the loops that go on while the value is true.
  template <class T> T read(const T *place) {
    T value = T(0);
    if (!error)
      error = cudaMemcpyAsync(&value, place, sizeof value,
                              cudaMemcpyDeviceToHost, queue);
    wait();
    return error ? T(0) : value;
  }

  /// Returns false after an error.
  bool is_sound() const { return !error; }

  /// Waits for all work so far, and returns false after an error.
  bool wait() {
    if (!error)
      error = cudaStreamSynchronize(queue);
    return !error;
  }

  /// Runs a kernel of `threads` threads.
  template <class... P>
  void run(void (*kernel)(P...), int threads, P... arguments) {
    const int size = threads < block_threads ? threads : block_threads;
    run_blocks(kernel, grid_size{(threads + size - 1) / size, 1, 1}, size, 0,
               arguments...);
  }

  /// Runs a kernel of `grid` blocks of `threads` threads, each block with
  /// `shared_bytes` of shared memory.
  template <class... P>
  void run_blocks(void (*kernel)(P...), grid_size grid, int threads,
                  int shared_bytes, P... arguments) {
    constexpr int usual_bytes = 48 << 10; // more has to be asked for
    const void *const code = reinterpret_cast<const void *>(kernel);
    if (!error && shared_bytes > usual_bytes)
      error = cudaFuncSetAttribute(
          code, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
    if (error)
      return;
    cudaLaunchConfig_t config = {};
    config.gridDim =
        dim3(static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y),
             static_cast<unsigned>(grid.z));
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = static_cast<size_t>(shared_bytes);
    config.stream = queue;
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &early;
    config.numAttrs = is_early;
    is_early = begins_early;
    void *places[] = {&arguments...};
    error = cudaLaunchKernelExC(&config, code, places);
  }

  /// Makes the next launch wait for all work so far before it begins: after
  /// copies, or where it may read what this work has stored before it waits for
  /// its inputs.
  void join() { is_early = false; }

private:
  /// Finds out what the current GPU can do, and sets an error if it is not that
  /// of the stream.
  void find_gpu() {
    int gpu = 0;
    if (!error)
      error = cudaGetDevice(&gpu);
#if CUDART_VERSION >= 12080
    // The default streams are those of the current GPU.
    int owner = gpu;
    if (!error && queue && queue != cudaStreamLegacy &&
        queue != cudaStreamPerThread)
      error = cudaStreamGetDevice(queue, &owner);
    is_elsewhere = !error && owner != gpu;
    if (is_elsewhere)
      error = cudaErrorInvalidResourceHandle;
#endif
    if constexpr (has_early_launches()) {
      int major = 0, driver = 0;
      if (!error)
        error = cudaDeviceGetAttribute(&major,
                                       cudaDevAttrComputeCapabilityMajor, gpu);
      if (!error)
        error = cudaDriverGetVersion(&driver);
      begins_early = major >= 9 && driver >= 12030;
    }
  }

  cudaStream_t queue;
  cudaError_t error;
  bool is_earlier, is_elsewhere = false;
  /// Whether launches of this GPU can begin early, and whether the next one
  /// does. The first one does not, as it follows work that is not known here.
  bool begins_early = false, is_early = false;
};

/// Returns false if CUDA knows that `pointer` is not to memory that it has
/// allocated or registered. Other errors, such as that there is no GPU, are for
/// the stream to tell.
inline bool is_on_gpu(const void *pointer) {
  cudaPointerAttributes attributes;
  const cudaError_t error = cudaPointerGetAttributes(&attributes, pointer);
  if (error == cudaSuccess)
    return attributes.devicePointer;
  static_cast<void>(cudaGetLastError());
  return error != cudaErrorInvalidValue;
}

#else

/// The stream of an emulated GPU: work is done at once. It fails only where a
/// kernel does what a GPU leaves undefined. With NNC_COUNT_LAUNCHES it prints
/// how many kernels, copies and memsets it has run. The project's tests of
/// programs for GPUs define NNC_EMULATED_ADD, which puts the work into a queue
/// instead, and NNC_EMULATED_WAIT, which waits for it.
class stream : public stream_counters {
public:
  explicit stream(void *handle) : queue(handle) {}
#if defined(NNC_COUNT_LAUNCHES)
  ~stream() { fprintf(stderr, "launches: %ld\n", launches); }
#endif
  gpu_fault fault() const { return error; }
  /// Returns a number that differs from kernel to kernel.
  uint64_t next_seed() { return ++seed; }
  void clear_counters(void *place, size_t bytes) {
    set_counters(place, 0);
    add(false, [=](auto &&) { ::memset(place, 0, bytes); });
  }
  void copy(void *to, const void *from, size_t bytes) {
    if (bytes)
      add(false, [=](auto &&) { ::memcpy(to, from, bytes); });
  }
  void upload(void *to, const void *from, size_t bytes) {
    copy(to, from, bytes);
  }
  void download(void *to, const void *from, size_t bytes) {
    copy(to, from, bytes);
  }
  template <class T> void write(T *place, int64_t value) {
    add(true, [=](auto &&) { *place = static_cast<T>(value); });
  }
  template <class T> T read(const T *place) {
    T value = T(0);
    T *const to = &value;
    add(false, [=](auto &&) { *to = *place; });
    wait();
    return value;
  }
  bool wait() {
#if defined(NNC_EMULATED_WAIT)
    NNC_EMULATED_WAIT(queue);
#endif
    return is_sound();
  }
  /// Calls work(report), where report(text) tells what is wrong with a kernel.
  /// The work holds copies of all that it uses.
  template <class F> void add(bool is_kernel, const F &work) {
    ++launches;
#if defined(NNC_EMULATED_ADD)
    NNC_EMULATED_ADD(queue, is_kernel, work);
#else
    static_cast<void>(queue), static_cast<void>(is_kernel);
    work([this](const char *what) {
      fprintf(stderr, "emulated kernel: %s\n", what);
      error = gpu_fault::other;
    });
#endif
  }
  bool is_sound() const { return error == gpu_fault::none; }
  void join() {}
  /// Calls body(thread) for each thread of a kernel. The order within a block
  /// depends on the block, and every second kernel begins with its last block,
  /// as the order of a GPU is not known.
  template <class F> void run(int threads, const F &body) {
    is_reversed = !is_reversed;
    add(true, [threads, body, last_first = is_reversed](auto &&) {
      const int blocks = (threads + block_threads - 1) / block_threads;
      for (int turn = 0; turn < blocks; ++turn)
        for (int i = 0; i < block_threads; ++i) {
          const int block = last_first ? blocks - 1 - turn : turn;
          const int lane = (i * 77 + block * 29 + 13) % block_threads;
          const int thread = block * block_threads + lane;
          if (thread < threads)
            body(thread);
        }
    });
  }

private:
  void *queue;
  bool is_reversed = false;
  uint64_t seed = 0;
  long launches = 0;
  gpu_fault error = gpu_fault::none;
};

/// An emulated GPU can access all memory.
inline bool is_on_gpu(const void *) { return true; }

#endif

/// The routine by_element of R, whose units are single elements, or R itself if
/// it has none.
template <class R, class = void> struct finest {
  using type = R;
};
template <class T> using void_of = void;
template <class R> struct finest<R, void_of<typename R::by_element>> {
  using type = typename R::by_element;
};

/// Launches the kernels of a routine on blocks; kernels.h defines it.
template <class Kernels> struct kernel_launcher;

/// The kernels of R, or void where R runs in independent units.
template <class R, class = void> struct kernels_of {
  using type = void;
};
template <class R> struct kernels_of<R, void_of<typename R::kernels>> {
  using type = typename R::kernels;
};

/// Runs all units of a routine. Routines with scratch memory run on as many
/// threads as it has shares, of which there are NNC_THREADS. With CLEARS the
/// launch, which is made even if there are no units, sets the stream's counters
/// to zero.
template <class Routine, bool CLEARS, class S, class... A>
inline void launch_units(stream &stream, const S &shape,
                         const A &...arguments) {
  using R = typename finest<Routine>::type;
  constexpr bool scratch = (is_same<A, scratch_memory>::value || ...);
  constexpr int most = scratch && !has_finish<R> ? NNC_THREADS : most_threads;
  int units = 0;
  if constexpr (cuts_for_threads<R, S>)
    units = R::units(shape, NNC_THREADS);
  else
    units = R::units(shape);
  const int threads = units < most ? units : most;
  if constexpr (CLEARS) {
    const counter_range counters = stream.take_uncleared();
    const int all = threads > 0 ? threads : 1;
#if defined(__CUDACC__)
    stream.run(clearing_units_kernel<R, S, A...>, all, shape, counters, units,
               all, arguments...);
#else
    stream.run(all, [=](int thread) {
      clear_by_threads(counters, thread, all);
      run_units<R>(shape, units, thread, all, arguments...);
    });
#endif
  } else if (units > 0) {
#if defined(__CUDACC__)
    stream.run(units_kernel<R, S, A...>, threads, shape, units, threads,
               arguments...);
#else
    stream.run(threads, [=](int thread) {
      run_units<R>(shape, units, thread, threads, arguments...);
    });
#endif
  }
  if constexpr (has_finish<R>) {
#if defined(__CUDACC__)
    stream.run(finish_kernel<R, S, A...>, 1, shape, arguments...);
#else
    stream.run(1, [=](int) { finish<R>(shape, arguments...); });
#endif
  }
}

/// Runs routine R.
template <class R, class S, class... A>
inline void launch(stream &stream, const S &shape, const A &...arguments) {
  using kernels = typename kernels_of<R>::type;
  if constexpr (is_same<kernels, void>::value)
    launch_units<R, false>(stream, shape, arguments...);
  else
    kernel_launcher<kernels>::template launch<R>(stream, shape, arguments...);
}

/// Runs routine R as the first launch of a run. It sets the stream's counters
/// to zero, which it does not use itself.
///
/// Later launches see the zeros as they see results of any earlier layer: each
/// thread of each launch waits for the end of the launch before, so that the
/// end of a launch is that of all before it, and what they stored is visible
/// (README.md). The launches of an earlier run have ended when this one begins,
/// as the first launch of a run is an ordinary one.
template <class R, class S, class... A>
inline void launch_and_clear(stream &stream, const S &shape,
                             const A &...arguments) {
  using kernels = typename kernels_of<R>::type;
  if constexpr (is_same<kernels, void>::value)
    launch_units<R, true>(stream, shape, arguments...);
  else
    kernel_launcher<kernels>::template launch_and_clear<R>(stream, shape,
                                                           arguments...);
}

} // namespace nnc

#endif // NNC_CUDA_LAUNCH_H
