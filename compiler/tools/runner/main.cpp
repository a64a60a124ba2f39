//===- main.cpp - Runs an emitted module on files of raw bytes ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "device.h"
#include "runner.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace runner {
namespace {

/// A kind of memory: how to allocate, release, fill and copy it, as device.h
/// says.
struct Memory {
  void *(*allocate)(std::size_t bytes, std::size_t alignment);
  void (*release)(void *memory);
  void (*fill)(void *to, char value, std::size_t bytes);
  void (*copy)(void *to, const void *from, std::size_t bytes);
  void (*upload)(void *to, const void *from, std::size_t bytes);
  void (*download)(void *to, const void *from, std::size_t bytes);
};

void fillOnCpu(void *to, char value, std::size_t bytes) {
  std::memset(to, value, bytes);
}
void copyOnCpu(void *to, const void *from, std::size_t bytes) {
  std::copy_n(static_cast<const char *>(from), bytes, static_cast<char *>(to));
}

constexpr Memory ofDevice = {device::allocate, device::release,
                             device::fill,     device::copy,
                             device::upload,   device::download};
constexpr Memory ofCpu = {device::allocateOnCpu,
                          device::releaseOnCpu,
                          fillOnCpu,
                          copyOnCpu,
                          copyOnCpu,
                          copyOnCpu};

/// Returns the memory of the module's inputs and outputs.
const Memory &getPortMemory() { return model.hasPortsOnCpu ? ofCpu : ofDevice; }

/// A block of memory at the module's alignment, between two guard areas of
/// known bytes that show whether the module wrote outside of it.
class Guarded {
public:
  Guarded(std::string name, std::size_t bytes, const Memory &memory = ofDevice)
      : name(std::move(name)), bytes(bytes),
        front((guard + model.alignment - 1) / model.alignment *
              model.alignment),
        memory(memory), storage(static_cast<char *>(memory.allocate(
                                    front + bytes + guard, model.alignment)),
                                memory.release) {
    memory.fill(storage.get(), pattern, front + bytes + guard);
  }
  void *data() { return storage.get() + front; }
  std::size_t size() const { return bytes; }
  void check() const {
    char areas[2][guard];
    memory.download(areas[0], storage.get() + front - guard, guard);
    memory.download(areas[1], storage.get() + front + bytes, guard);
    for (const char(&area)[guard] : areas)
      if (!std::all_of(area, area + guard, [](char c) { return c == pattern; }))
        fail("the module wrote outside of " + name);
  }

private:
  static constexpr std::size_t guard = 256;
  static constexpr char pattern = '\x5a';
  std::string name;
  std::size_t bytes, front;
  const Memory &memory;
  std::unique_ptr<char, void (*)(void *)> storage;
};

/// An input or output of the module. Without a path, an input is all zeros and
/// an output is discarded.
struct Tensor {
  std::string path;
  std::size_t bytes;    ///< its size; unused for an input with a path
  bool isFixed = false; ///< an input that is the same in each step
};

struct Options {
  std::vector<Tensor> inputs, outputs;
  std::string layers;
  std::vector<std::int32_t> sizes;
  int steps = 1; ///< number of runs whose data the files hold
  int threads = 1;
  int simulated = 0;       ///< number of simulated threads, or 0
  int runs = 0;            ///< largest number of timed runs
  double seconds = 0;      ///< their total time; at least three runs
  bool layersOnly = false; ///< does not time whole runs
  bool peak = false;
  bool pin = false;
  bool wholeOnly = false; ///< does not time single layers
  bool turns = false;
};

constexpr char help[] =
    "Runs a model that nnc compiled, and prints seconds: of each run, then of\n"
    "each layer, the median; and bytes of memory resident at most.\n"
    "\n"
    "  --runs=N        timed runs, at most\n"
    "  --seconds=S     as many runs as this takes, three at least\n"
    "  --threads=N     1 unless given\n"
    "  --pin           each thread on a core of its own\n"
    "  --peak          also the multiply-adds a second that the cores reach\n"
    "  --whole-only    times no layers\n"
    "  --layers-only   times no whole runs\n"
    "  --simulate=N    shares of so many threads, one after the other\n"
    "  --turns         waits for lines on the standard input, each of which\n"
    "                  says for how many seconds to time runs; also\n"
    "                  how long it takes to hand work to the threads,\n"
    "                  before and after: the longer\n"
    "  --input=FILE, --zeros=BYTES, --output=[FILE]:BYTES\n"
    "                  of each input and output, as raw bytes\n"
    "  --size=N        of each size that the module takes, in order\n"
    "  --steps=N       the files hold inputs and outputs of so many runs\n"
    "  --fixed=FILE    an input that is the same in all of them\n"
    "  --layers=FILE   where each layer's output goes\n";

const char *valueOf(const char *argument, const char *option) {
  std::size_t length = std::strlen(option);
  return std::strncmp(argument, option, length) ? nullptr : argument + length;
}

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (const char *path = valueOf(argv[i], "--input="))
      options.inputs.push_back({path, 0});
    else if (const char *path = valueOf(argv[i], "--fixed="))
      options.inputs.push_back({path, 0, true});
    else if (const char *size = valueOf(argv[i], "--size="))
      options.sizes.push_back(std::atoi(size));
    else if (const char *count = valueOf(argv[i], "--steps="))
      options.steps = std::max(1, std::atoi(count));
    else if (const char *bytes = valueOf(argv[i], "--zeros="))
      options.inputs.push_back({"", std::size_t(std::atoll(bytes))});
    else if (const char *path = valueOf(argv[i], "--output=")) {
      const char *bytes = std::strrchr(path, ':');
      if (!bytes)
        fail("--output=[FILE]:BYTES");
      options.outputs.push_back(
          {{path, bytes}, std::size_t(std::atoll(bytes + 1))});
    } else if (const char *path = valueOf(argv[i], "--layers="))
      options.layers = path;
    else if (const char *count = valueOf(argv[i], "--threads="))
      options.threads = std::atoi(count);
    else if (const char *count = valueOf(argv[i], "--simulate="))
      options.simulated = std::atoi(count);
    else if (const char *count = valueOf(argv[i], "--runs="))
      options.runs = std::atoi(count);
    else if (const char *count = valueOf(argv[i], "--seconds="))
      options.seconds = std::atof(count);
    else if (!std::strcmp(argv[i], "--layers-only"))
      options.layersOnly = true;
    else if (!std::strcmp(argv[i], "--whole-only"))
      options.wholeOnly = true;
    else if (!std::strcmp(argv[i], "--peak"))
      options.peak = true;
    else if (!std::strcmp(argv[i], "--pin"))
      options.pin = true;
    else if (!std::strcmp(argv[i], "--turns"))
      options.turns = true;
    else if (!std::strcmp(argv[i], "--help")) {
      std::fputs(help, stdout);
      std::exit(0);
    } else
      fail(std::string("unknown argument ") + argv[i] + "; see --help");
  }
  if (options.seconds > 0 && options.runs == 0)
    options.runs = 1000000;
  if (options.inputs.size() != model.inputFields ||
      options.outputs.size() != model.outputFields)
    fail("the module has " + std::to_string(model.inputFields) +
         " inputs and " + std::to_string(model.outputFields) + " outputs");
  return options;
}

/// The arguments of a run of the module, and their memory.
struct Call {
  const Memory &ports = getPortMemory();
  std::vector<Guarded> inputs, outputs;
  /// The contents of the weights' file, in the CPU's memory, if the module
  /// loads its weights from there.
  std::vector<char> weights;
  std::vector<Guarded> arenas;
  std::vector<void *> arenaFields;
  Guarded state{"the state", model.stateBytes};
  std::vector<const void *> inputFields;
  std::vector<void *> outputFields;
  /// The data of all steps, by input; empty for an input that is the same in
  /// each step.
  std::vector<std::vector<char>> data;
  std::vector<std::vector<char>> results; ///< results of all steps, by output

  explicit Call(const Options &options) {
    for (const Tensor &input : options.inputs) {
      std::vector<char> bytes = input.path.empty()
                                    ? std::vector<char>(input.bytes)
                                    : readFile(input.path);
      if (model.takesWeightsFile && inputs.size() + 1 == model.inputFields) {
        fixedBytes = bytes.size();
        weights = std::move(bytes);
        break;
      }
      bool isSame = input.path.empty() || input.isFixed || options.steps == 1;
      inputs.emplace_back("an input",
                          bytes.size() / (isSame ? 1 : options.steps), ports);
      ports.upload(inputs.back().data(), bytes.data(), inputs.back().size());
      data.push_back(isSame ? std::vector<char>() : std::move(bytes));
    }
    for (const Tensor &output : options.outputs)
      outputs.emplace_back("an output", output.bytes, ports);
    results.resize(outputs.size());
    for (std::size_t i = 0; i < model.arenas; ++i)
      arenas.emplace_back("the arena", model.arenaBytes[i]);
    for (Guarded &arena : arenas)
      arenaFields.push_back(arena.data());
    for (Guarded &input : inputs)
      inputFields.push_back(input.data());
    if (model.takesWeightsFile)
      inputFields.push_back(weights.data());
    for (Guarded &output : outputs)
      outputFields.push_back(output.data());
    model.place(inputFields.data(), outputFields.data(), arenaFields.data());
    // The module fills a struct in the CPU's memory.
    std::vector<std::max_align_t> first(
        model.stateBytes / sizeof(std::max_align_t) + 1);
    model.reset(first.data());
    device::upload(state.data(), first.data(), model.stateBytes);
  }
  /// Sets the inputs to their values of a step.
  void load(std::size_t step) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (!data[i].empty())
        ports.upload(inputs[i].data(), data[i].data() + step * inputs[i].size(),
                     inputs[i].size());
  }
  /// Fills the inputs that lie in the arena, because each run overwrites them.
  void prepare() {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputFields[i] != inputs[i].data())
        ports.copy(const_cast<void *>(inputFields[i]), inputs[i].data(),
                   inputs[i].size());
  }
  /// Appends the outputs to those of the earlier steps.
  void keep() {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      std::size_t before = results[i].size(), bytes = outputs[i].size();
      results[i].resize(before + bytes);
      ports.download(results[i].data() + before, outputFields[i], bytes);
    }
  }
  /// Overwrites the outputs.
  void forget() {
    for (std::size_t i = 0; i < outputs.size(); ++i)
      ports.fill(outputFields[i], '\x5a', outputs[i].size());
  }
  /// Ends the program if the outputs are not those of the last keep().
  void checkSame() const {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      std::vector<char> bytes(outputs[i].size());
      ports.download(bytes.data(), outputFields[i], bytes.size());
      if (!std::equal(bytes.rbegin(), bytes.rend(), results[i].rbegin()))
        fail("runs that were timed gave other outputs than the one before");
    }
  }
  /// Whether all runs have the same outputs: nothing is kept between them, and
  /// no run overwrites its inputs.
  bool isRepeatable() {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputFields[i] != inputs[i].data())
        return false;
    return model.stateBytes == 0;
  }
  void run() {
    int status = model.run(inputFields.data(), outputFields.data(),
                           state.data(), arenaFields.data());
    if (status != 0)
      device::failCall(status);
  }
  /// The run and what precedes it, to be timed.
  device::Work getWork() {
    return {[this] { prepare(); }, [this] { run(); }};
  }
  void check() const {
    state.check();
    for (const auto *list : {&inputs, &outputs, &arenas})
      for (const Guarded &buffer : *list)
        buffer.check();
  }
};

/// Reads a number of seconds from each line of the standard input, and times
/// runs for that long.
void takeTurns(Call &call) {
  double seconds;
  while (std::scanf("%lf", &seconds) == 1) {
    call.prepare();
    call.run(); // refills the caches that other programs have used
    double before = measureHandover();
    device::timeRuns(call.getWork(), 1000000, seconds);
    std::printf("handover %.9g\n", std::max(before, measureHandover()));
    device::printFigures();
    std::fflush(stdout);
  }
}

void simulate(Call &call, int threads, int runs, double seconds) {
  Simulation simulation(threads);
  useSimulation(simulation);
  watcher = &simulation;
  double begin = now();
  for (int i = 0; i < runs && (i < 3 || now() - begin < seconds); ++i) {
    call.prepare();
    simulation.start();
    call.run();
  }
  watcher = nullptr;
  simulation.print();
}

} // namespace
} // namespace runner

int main(int argc, char **argv) {
  using namespace runner;
  Options options = parse(argc, argv);
  // The peak is measured first, because threads that a pinned thread creates
  // would share its core.
  device::open();
  if (options.peak)
    std::printf("peak %.9g\n", device::measurePeak(options.threads));
  useSizes(options.sizes);
  useThreads(options.threads, options.pin);
  Call call(options);

  std::unique_ptr<LayerDump> dump;
  if (!options.layers.empty())
    dump = std::make_unique<LayerDump>(options.layers);
  watcher = dump.get();
  for (int step = 0; step < options.steps; ++step) {
    call.load(step);
    call.prepare();
    call.run();
    device::wait();
    watcher = nullptr; // layers are reported for the first run only
    call.check();
    call.keep();
  }
  for (std::size_t i = 0; i < options.outputs.size(); ++i)
    if (!options.outputs[i].path.empty())
      writeFile(options.outputs[i].path, call.results[i].data(),
                call.results[i].size());

  int runs = options.runs;
  if (options.turns) {
    takeTurns(call);
    return 0;
  }
  if (options.simulated > 0) {
    simulate(call, options.simulated, runs, options.seconds);
    return 0;
  }
  if (runs > 0 && !options.layersOnly) {
    // A graph could hold other work than the run from which it was captured.
    const bool isCompared = model.canBeCaptured && call.isRepeatable();
    if (isCompared)
      call.forget();
    runs =
        std::min(20, device::timeRuns(call.getWork(), runs, options.seconds));
    if (isCompared)
      call.checkSame();
  }
  if (runs > 0 && !options.wholeOnly)
    device::timeLayers(call.getWork(), runs,
                       options.layersOnly ? options.seconds : 1e9);
  device::printFigures();
}
