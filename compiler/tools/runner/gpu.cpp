//===- gpu.cpp - A GPU as the device that the module runs on --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// All work goes to one stream. A run that can be captured is timed as a CUDA
// graph, as a program would replay it; another one as it is.
//
//===----------------------------------------------------------------------===//

#include "device.h"
#include "layer_times.h"
#include "runner.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cuda_runtime_api.h>
#include <string>
#include <vector>

namespace runner {
namespace {

/// The fewest replays of a graph that are timed, unless fewer are asked for;
/// the number of them that is handed to the GPU at once; and the replays before
/// the first one that is timed.
constexpr int leastReplays = 200, batch = 20, warmUps = 10;

cudaStream_t queue;
/// Free bytes of the GPU's memory before the first allocation.
std::size_t freeAtFirst;

/// Returns true if an error says that the GPU is absent or cannot run the
/// module.
bool isOfMachine(cudaError_t error) {
  switch (error) {
  case cudaErrorNoDevice:
  case cudaErrorInsufficientDriver:
  case cudaErrorInitializationError:
  case cudaErrorStubLibrary:
  case cudaErrorSystemDriverMismatch:
  case cudaErrorDevicesUnavailable:
  case cudaErrorNoKernelImageForDevice:
  case cudaErrorMemoryAllocation:
    return true;
  default:
    return false;
  }
}

std::string describe(cudaError_t error) {
  return std::string("CUDA says '") + cudaGetErrorString(error) + "' (" +
         cudaGetErrorName(error) + ")";
}

/// Ends the program with a message if a call of CUDA has failed. `what` says in
/// the message what has failed.
void check(cudaError_t error, const std::string &what) {
  if (error != cudaSuccess)
    fail(what + ": " + describe(error), isOfMachine(error) ? noGpuCode : 1);
}

/// Returns a version of CUDA as people write it, such as 12.4 for 12040.
std::string versionText(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

/// Ends the program if there is no GPU that CUDA can use.
void checkDevice() {
  int count = 0, driver = 0, runtime = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorInsufficientDriver &&
      cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0 &&
      cudaRuntimeGetVersion(&runtime) == cudaSuccess)
    fail("the driver of this machine's GPU is too old: it knows CUDA " +
             versionText(driver) + ", and this program needs " +
             versionText(runtime) + "; update the driver, or build with an " +
             "nvcc that is as old",
         noGpuCode);
  check(error, "this machine has no GPU that can be used");
  if (count == 0)
    fail("this machine has no GPU", noGpuCode);
}

int getAttribute(cudaDeviceAttr attribute) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, attribute, 0),
        "a property of the GPU is not known");
  return value;
}

/// Returns the number of the GPU's architecture, such as 90 for sm_90.
int getArchitecture() {
  return 10 * getAttribute(cudaDevAttrComputeCapabilityMajor) +
         getAttribute(cudaDevAttrComputeCapabilityMinor);
}

std::string getName() {
  static const std::string name = [] {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0), "the GPU is not known");
    return std::string(properties.name);
  }();
  return name;
}

/// Ends the program if the module has no machine code for the GPU. Code for an
/// architecture also runs on later ones with the same first digits.
void checkArchitecture() {
  const int own = getArchitecture();
  std::string all;
  for (int each : model.architectures) {
    if (each <= own && each / 10 == own / 10)
      return;
    all += (all.empty() ? "sm_" : " and sm_") + std::to_string(each);
  }
  fail("this machine's GPU (" + getName() + ") is sm_" + std::to_string(own) +
           ", and the module has machine code for " + all +
           ": compile it with --target=cuda-native on this machine, or name "
           "this architecture in --target, too",
       noGpuCode);
}

/// A point in the stream's work, whose time the GPU notes.
class Event {
public:
  Event() { check(cudaEventCreate(&event), "an event cannot be made"); }
  Event(Event &&other) : event(other.event) { other.event = nullptr; }
  ~Event() {
    if (event)
      static_cast<void>(cudaEventDestroy(event));
  }
  void record() {
    check(cudaEventRecord(event, queue), "no time can be taken");
  }
  /// Makes each replay of the graph that is being captured record the event.
  void recordInGraph() {
    check(cudaEventRecordWithFlags(event, queue, cudaEventRecordExternal),
          "no time can be taken in a graph");
  }
  /// Sets `seconds` to the time since an earlier event. Returns false if CUDA
  /// does not know it.
  bool getTimeSince(const Event &earlier, double &seconds) const {
    float milliseconds = 0;
    if (cudaEventElapsedTime(&milliseconds, earlier.event, event) !=
        cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return false;
    }
    seconds = 1e-3 * double(milliseconds);
    return true;
  }
  double since(const Event &earlier) const {
    double seconds = 0;
    if (!getTimeSince(earlier, seconds))
      fail("CUDA does not know how long a run took");
    return seconds;
  }

private:
  cudaEvent_t event = nullptr;
};

/// Work that is captured into a CUDA graph.
class Graph {
public:
  template <class Capture> explicit Graph(const Capture &capture) {
    const char *what = "the run cannot be captured into a graph";
    check(cudaStreamBeginCapture(queue, cudaStreamCaptureModeGlobal), what);
    capture();
    check(cudaStreamEndCapture(queue, &graph), what);
    check(cudaGraphInstantiate(&executable, graph, 0), what);
  }
  Graph(const Graph &) = delete;
  ~Graph() {
    static_cast<void>(cudaGraphExecDestroy(executable));
    static_cast<void>(cudaGraphDestroy(graph));
  }
  void launch() {
    check(cudaGraphLaunch(executable, queue), "a graph cannot be launched");
  }
  /// Prints the number of kernels, and that of copies and fills.
  void printNodes() const {
    std::size_t count = 0, kernels = 0;
    const char *what = "the nodes of a graph are not known";
    check(cudaGraphGetNodes(graph, nullptr, &count), what);
    std::vector<cudaGraphNode_t> nodes(count);
    if (count)
      check(cudaGraphGetNodes(graph, nodes.data(), &count), what);
    for (cudaGraphNode_t node : nodes) {
      cudaGraphNodeType type;
      check(cudaGraphNodeGetType(node, &type), what);
      kernels += type == cudaGraphNodeTypeKernel;
    }
    std::printf("launches %zu\ncopies %zu\n", kernels, count - kernels);
  }

private:
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
};

/// An observer that lets the GPU note the time after each layer. The module is
/// built so that it does not wait before it calls observers.
class LayerEvents : public Watcher {
public:
  /// From now on, the events become nodes of the graph that is captured.
  void recordInGraph() { isInGraph = true; }
  void start() {
    layers.clear();
    record();
  }
  void layerDone(int layer, const void *, std::size_t) override {
    layers.push_back(layer);
    record();
  }
  /// Adds the times of a run that has ended. Returns false if CUDA does not
  /// know them.
  bool collect() {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      double seconds;
      if (!events[i + 1].getTimeSince(events[i], seconds))
        return false;
      times.add(layers[i], seconds);
    }
    return true;
  }
  void print() { times.print(); }

private:
  void record() {
    if (events.size() == layers.size())
      events.emplace_back();
    Event &event = events[layers.size()];
    isInGraph ? event.recordInGraph() : event.record();
  }
  bool isInGraph = false;
  std::vector<Event> events; ///< one before the first layer, one after each
  std::vector<int> layers;   ///< layers of the run, in order
  LayerTimes times;
};

/// Times the layers in replays of a graph with an event after each layer.
/// Returns false if CUDA does not tell the times of such events.
bool timeLayersInGraph(const device::Work &work, int runs, double seconds) {
  LayerEvents layers;
  work.prepare();
  watcher = &layers;
  auto run = [&] {
    layers.start();
    work.run();
  };
  // The first run makes the events, so that the capture makes nothing but the
  // graph.
  run();
  device::wait();
  layers.recordInGraph();
  Graph graph(run);
  watcher = nullptr;
  graph.launch();
  device::wait();
  double begin = now();
  for (int i = 0; i < runs && (i < 3 || now() - begin < seconds); ++i) {
    graph.launch();
    device::wait();
    if (!layers.collect())
      return false;
  }
  layers.print();
  return true;
}

int timeReplays(const device::Work &work, int runs, double seconds) {
  // Inputs in the arena are not written again for each replay: which work is
  // done does not depend on their values, as nothing else can be captured.
  work.prepare();
  Graph graph(work.run);
  graph.printNodes();
  for (int i = 0; i < warmUps; ++i)
    graph.launch();
  device::wait();
  std::vector<Event> events(batch + 1);
  double begin = now();
  int done = 0;
  while (done < runs && (done < leastReplays || now() - begin < seconds)) {
    int count = std::min(batch, runs - done);
    events[0].record();
    for (int i = 0; i < count; ++i) {
      graph.launch();
      events[i + 1].record();
    }
    device::wait();
    for (int i = 0; i < count; ++i)
      std::printf("run %.9g\n", events[i + 1].since(events[i]));
    done += count;
  }
  return done;
}

} // namespace

void device::open() {
  checkDevice();
  checkArchitecture();
  check(cudaSetDevice(0), "the GPU cannot be used");
  check(cudaStreamCreateWithFlags(&queue, cudaStreamNonBlocking),
        "the GPU cannot be used");
  std::size_t total;
  check(cudaMemGetInfo(&freeAtFirst, &total), "the GPU cannot be used");
}

void *device::allocate(std::size_t bytes, std::size_t alignment) {
  void *memory = nullptr;
  if (cudaError_t error =
          cudaMalloc(&memory, std::max<std::size_t>(bytes, 1))) {
    std::size_t left = 0, total = 0;
    static_cast<void>(cudaMemGetInfo(&left, &total));
    check(error, "the GPU (" + getName() + ") has no memory for " +
                     std::to_string(bytes) + " bytes more, and " +
                     std::to_string(left) + " of " + std::to_string(total) +
                     " bytes are free");
  }
  if (reinterpret_cast<std::uintptr_t>(memory) % alignment != 0)
    fail("the GPU's memory is not aligned to " + std::to_string(alignment) +
         " bytes");
  return memory;
}

void device::release(void *memory) { static_cast<void>(cudaFree(memory)); }

void *device::allocateOnCpu(std::size_t bytes, std::size_t) {
  void *memory = nullptr;
  check(cudaMallocHost(&memory, std::max<std::size_t>(bytes, 1)),
        "there is too little memory for " + std::to_string(bytes) + " bytes");
  return memory;
}

void device::releaseOnCpu(void *memory) {
  static_cast<void>(cudaFreeHost(memory));
}

void device::fill(void *to, char value, std::size_t bytes) {
  check(cudaMemsetAsync(to, static_cast<unsigned char>(value), bytes, queue),
        "memory of the GPU cannot be filled");
  wait();
}

/// Copies bytes to or from the GPU's memory, after the work so far.
static void copyBytes(void *to, const void *from, std::size_t bytes,
                      cudaMemcpyKind kind) {
  if (bytes)
    check(cudaMemcpyAsync(to, from, bytes, kind, queue),
          "bytes cannot be copied to or from the GPU");
  device::wait();
}

void device::copy(void *to, const void *from, std::size_t bytes) {
  copyBytes(to, from, bytes, cudaMemcpyDeviceToDevice);
}

void device::upload(void *to, const void *from, std::size_t bytes) {
  copyBytes(to, from, bytes, cudaMemcpyHostToDevice);
}

void device::download(void *to, const void *from, std::size_t bytes) {
  copyBytes(to, from, bytes, cudaMemcpyDeviceToHost);
}

void device::wait() {
  check(cudaStreamSynchronize(queue), "the GPU's work failed");
}

void *device::stream() { return queue; }

void device::failCall(int status, const std::string &what) {
  // The statuses 12 to 20 of modules of CUDA (codegen/calling.md).
  static constexpr const char *meanings[] = {
      "there is no GPU, or its driver is too old",
      "it has no machine code for the GPU's architecture",
      "an earlier call of CUDA had failed",
      "the GPU has too little memory",
      "a call of CUDA failed",
      "a pointer is not to memory of the GPU",
      "an input or output is not aligned",
      "the stream is that of another GPU",
      "the file of weights has another size"};
  const bool isOfCuda = status >= 12 && status <= 20;
  std::string message = what + "the module returned " + std::to_string(status);
  if (isOfCuda)
    message += std::string(", as ") + meanings[status - 12];
  if (cudaError_t error = cudaGetLastError())
    message += "; " + describe(error);
  fail(message, status == 12 || status == 13 || status == 15 ? noGpuCode : 1);
}

int device::timeRuns(const Work &work, int runs, double seconds) {
  if (model.canBeCaptured)
    return timeReplays(work, runs, seconds);
  Event before, after;
  double begin = now();
  int done = 0;
  for (; done < runs && (done < 3 || now() - begin < seconds); ++done) {
    work.prepare();
    before.record();
    work.run();
    after.record();
    wait();
    std::printf("run %.9g\n", after.since(before));
  }
  return done;
}

void device::timeLayers(const Work &work, int runs, double seconds) {
  if (model.canBeCaptured && timeLayersInGraph(work, runs, seconds))
    return;
  LayerEvents layers;
  watcher = &layers;
  double begin = now();
  for (int i = 0; i < runs && (i < 3 || now() - begin < seconds); ++i) {
    work.prepare();
    layers.start();
    work.run();
    wait();
    if (!layers.collect())
      fail("CUDA does not know how long a layer took");
  }
  watcher = nullptr;
  layers.print();
}

double device::measurePeak(int) { return 0; }

void device::printFigures() {
  std::size_t left = 0, total = 0;
  int driver = 0;
  check(cudaMemGetInfo(&left, &total), "the GPU's memory is not known");
  check(cudaDriverGetVersion(&driver), "the GPU's driver is not known");
  std::printf("resident %zu\n", peakResidentBytes());
  std::printf("gpu_name %s\n", getName().c_str());
  std::printf("gpu_architecture %d\n", getArchitecture());
  std::printf("gpu_multiprocessors %d\n",
              getAttribute(cudaDevAttrMultiProcessorCount));
  std::printf("gpu_hz %.9g\n", 1e3 * getAttribute(cudaDevAttrClockRate));
  std::printf("gpu_driver %d\n", driver);
  std::printf("gpu_bytes %zu\n", freeAtFirst > left ? freeAtFirst - left : 0);
}

} // namespace runner
