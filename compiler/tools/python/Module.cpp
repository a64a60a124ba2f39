//===- Module.cpp - Calls built models from Python ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
//
// The extension nnc._module. All emitted code has the same calling convention:
// a struct of pointers to inputs, followed by the sizes of the run, a struct of
// pointers to outputs, and pointers to the memory for values that are kept
// between runs and to working memory. One class can therefore call any model,
// as its manifest.json describes it. The package checks names, types and
// shapes; see nnc/_model.py.
//
//===----------------------------------------------------------------------===//

#include "runtime/pool.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <unistd.h>

namespace nb = nanobind;

namespace {

constexpr int mostThreads = 256;

using Input = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Output = nb::ndarray<nb::c_contig, nb::device::cpu>;

/// Memory with the alignment that a model needs.
class Block {
public:
  Block(std::size_t bytes, std::size_t alignment) {
    std::size_t rounded = (bytes + alignment) / alignment * alignment;
    data.reset(std::aligned_alloc(alignment, rounded));
    if (!data)
      throw std::bad_alloc();
  }
  void *get() const { return data.get(); }

private:
  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> data;
};

/// Releases the interpreter's lock, so that other Python threads can run. When
/// the interpreter ends, it unwinds threads that wait for its lock, but the
/// extension's own calls cannot be unwound. From end() on, threads therefore
/// wait for the end of the process instead.
class WithoutLock {
public:
  WithoutLock() : state(PyEval_SaveThread()) {}
  ~WithoutLock() {
    ++waiting;
    if (isEnding && !pthread_equal(pthread_self(), ender)) {
      --waiting;
      for (;;)
        pause();
    }
    PyEval_RestoreThread(state);
    --waiting;
  }
  WithoutLock(const WithoutLock &) = delete;
  WithoutLock &operator=(const WithoutLock &) = delete;

  /// Announces the end of the interpreter, and must be called before it.
  /// Threads that wait for the lock may take it first.
  static void end() {
    ender = pthread_self();
    isEnding = true;
    nb::gil_scoped_release others;
    while (waiting > 0)
      usleep(1000);
  }

private:
  static inline std::atomic<bool> isEnding{false};
  static inline std::atomic<int> waiting{0};
  static inline pthread_t ender;

  PyThreadState *state;
};

/// A shared library, which is closed with its last function.
class Library {
public:
  explicit Library(const std::string &path)
      : handle(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!handle)
      throw std::runtime_error(dlerror());
  }
  ~Library() { dlclose(handle); }
  Library(const Library &) = delete;
  Library &operator=(const Library &) = delete;

  void *find(const std::string &name) const {
    void *symbol = dlsym(handle, name.c_str());
    if (!symbol)
      throw std::runtime_error("the library has no function " + name);
    return symbol;
  }

private:
  void *handle;
};

/// A function of a built model. Any number of threads may call it. If the model
/// keeps values between runs, or runs on a pool of threads, calls are
/// serialized.
class Function {
public:
  /// `arenaBytes` has the bytes of each part of the arena. If `hasMemories`,
  /// the parts are passed as a struct.
  Function(const std::string &path, const std::string &name,
           std::vector<std::size_t> arenaBytes, bool hasMemories,
           std::size_t alignment, std::size_t stateBytes, bool isPlaced,
           int threads)
      : library(path), run(library.find(name + "_run")),
        arenaBytes(std::move(arenaBytes)), hasMemories(hasMemories),
        alignment(alignment) {
    if (isPlaced)
      place = library.find(name + "_place");
    if (stateBytes) {
      resetState = library.find(name + "_reset");
      state = std::make_unique<Block>(stateBytes, alignment);
      reset();
    }
    if (threads > 1) {
      runParallel = library.find(name + "_run_parallel");
      workers = std::make_unique<nnc::thread_pool<mostThreads>>();
      pool = workers->start(threads);
    }
  }

  /// Resets the values that the model keeps between runs.
  void reset() {
    std::lock_guard lock(calls);
    if (state)
      reinterpret_cast<void (*)(void *)>(resetState)(state->get());
  }

  /// Runs the model and returns its status; 0 is success.
  int call(const std::vector<Input> &inputs,
           const std::vector<std::int32_t> &sizes,
           const std::vector<Output> &outputs) {
    // `in` holds the struct of inputs: pointers, followed by sizes. It has at
    // least one element, even for a model without inputs.
    std::vector<const void *> in(
        inputs.size() +
        (sizes.size() * sizeof(std::int32_t) + sizeof(void *) - 1) /
            sizeof(void *) +
        1);
    std::vector<void *> out;
    std::vector<std::size_t> inBytes, outBytes;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      in[i] = inputs[i].data();
      inBytes.push_back(inputs[i].nbytes());
    }
    if (!sizes.empty())
      std::memcpy(in.data() + inputs.size(), sizes.data(),
                  sizes.size() * sizeof(std::int32_t));
    for (const Output &output : outputs) {
      out.push_back(output.data());
      outBytes.push_back(output.nbytes());
    }
    // An array without elements may have no memory, but the model expects a
    // pointer that is not null.
    static char nothing;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (!in[i])
        in[i] = &nothing;
    for (void *&pointer : out)
      if (!pointer)
        pointer = &nothing;

    WithoutLock others;
    Arena arena(*this);
    std::unique_lock<std::mutex> lock(calls, std::defer_lock);
    if (state || workers)
      lock.lock();
    if (!place)
      return start(in.data(), out.data(), arena.get());
    // The inputs and outputs lie in the arena.
    std::vector<const void *> from = in;
    std::vector<void *> to = out;
    reinterpret_cast<void (*)(void *, void *, void *)>(place)(
        in.data(), out.data(), arena.get());
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (in[i] != from[i])
        std::memcpy(const_cast<void *>(in[i]), from[i], inBytes[i]);
    int status = start(in.data(), out.data(), arena.get());
    for (std::size_t i = 0; i < out.size() && status == 0; ++i)
      if (out[i] != to[i])
        std::memcpy(to[i], out[i], outBytes[i]);
    return status;
  }

private:
  /// The working memory of one call, which later calls reuse.
  class Arena {
  public:
    explicit Arena(Function &owner) : owner(owner) {
      std::lock_guard lock(owner.arenas);
      if (!owner.idle.empty()) {
        blocks = std::move(owner.idle.back());
        owner.idle.pop_back();
      } else {
        for (std::size_t bytes : owner.arenaBytes)
          blocks.emplace_back(bytes, owner.alignment);
      }
      for (const Block &block : blocks)
        parts.push_back(block.get());
    }
    ~Arena() {
      std::lock_guard lock(owner.arenas);
      owner.idle.push_back(std::move(blocks));
    }
    void *get() { return owner.hasMemories ? parts.data() : parts.front(); }

  private:
    Function &owner;
    std::vector<Block> blocks;
    std::vector<void *> parts;
  };

  int start(const void *in, const void *out, void *arena) {
    using Address = const void *;
    if (workers)
      return state ? reinterpret_cast<int (*)(Address, Address, void *, void *,
                                              const nnc_pool *)>(runParallel)(
                         in, out, state->get(), arena, &pool)
                   : reinterpret_cast<int (*)(Address, Address, void *,
                                              const nnc_pool *)>(runParallel)(
                         in, out, arena, &pool);
    return state ? reinterpret_cast<int (*)(Address, Address, void *, void *)>(
                       run)(in, out, state->get(), arena)
                 : reinterpret_cast<int (*)(Address, Address, void *)>(run)(
                       in, out, arena);
  }

  Library library;
  void *run, *runParallel = nullptr, *place = nullptr, *resetState = nullptr;
  std::vector<std::size_t> arenaBytes;
  bool hasMemories;
  std::size_t alignment;
  std::unique_ptr<Block> state;
  std::unique_ptr<nnc::thread_pool<mostThreads>> workers;
  nnc_pool pool = {1, nullptr, nullptr};
  std::mutex calls, arenas;
  std::vector<std::vector<Block>> idle; ///< arenas of ended calls
};

} // namespace

NB_MODULE(_module, module) {
  module.doc() = "Calls the shared libraries that nnc builds.";
  // Threads that are in a model when the interpreter ends keep it alive.
  nb::set_leak_warnings(false);
  nb::module_::import_("atexit").attr("register")(
      nb::cpp_function(&WithoutLock::end));
  nb::class_<Function>(module, "Function", "A function of a built model.")
      .def(nb::init<const std::string &, const std::string &,
                    std::vector<std::size_t>, bool, std::size_t, std::size_t,
                    bool, int>(),
           nb::arg("path"), nb::arg("name"), nb::arg("arena_bytes"),
           nb::arg("has_memories"), nb::arg("alignment"),
           nb::arg("state_bytes"), nb::arg("is_placed"), nb::arg("threads"))
      .def("call", &Function::call, nb::arg("inputs"), nb::arg("sizes"),
           nb::arg("outputs"), "Runs the model; returns its status.")
      .def("reset", &Function::reset,
           "Forgets what the model keeps between runs.");
}
