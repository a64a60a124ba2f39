//===- runtime.cpp - A CUDA runtime for tests, on a CPU -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Streams keep work until someone waits for it, graphs record and replay it,
// and the CPU cannot access memory of the GPU but while such work runs.
//
//===----------------------------------------------------------------------===//

#include "cuda_runtime_api.h"
#include "queue.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <vector>

struct CUgraphNode_st {
  cudaGraphNodeType type;
  std::function<void(stub::Report)> work;
};
using Nodes = std::vector<std::shared_ptr<CUgraphNode_st>>;
struct CUgraph_st {
  Nodes nodes;
};
struct CUgraphExec_st {
  Nodes nodes;
};
struct CUevent_st {
  double time = -1; ///< seconds; below 0 before the event
};
struct CUstream_st {
  std::deque<std::shared_ptr<CUgraphNode_st>> waiting;
  bool isCapturing = false, isInvalid = false;
  Nodes captured;
};

namespace {

/// Returns the value of a variable that changes the GPU, or `usual`.
std::string getVariable(const char *name, const char *usual) {
  const char *value = std::getenv(name);
  return value ? value : usual;
}

/// The architecture of the GPU, its memory in bytes, and what is to fail:
/// "count", "driver", "kernel", "replay" or "times".
const int architecture = std::stoi(getVariable("STUB_GPU_ARCHITECTURE", "80"));
const std::size_t memorySize =
    std::stoull(getVariable("STUB_GPU_MEMORY", "1000000000"));
const std::string failure = getVariable("STUB_GPU_FAILURE", "");

/// Blocks of the GPU's memory and their sizes, by the addresses behind them.
std::map<char *, std::size_t> blocks;
std::size_t used = 0;

/// The error that stays, after a kernel has failed.
cudaError_t sticky = cudaSuccess;

/// The stream that is being captured, or null.
CUstream_st *capturing = nullptr;

bool isOnGpu(const void *memory, std::size_t bytes) {
  auto *begin = static_cast<char *>(const_cast<void *>(memory));
  auto found = blocks.upper_bound(begin);
  return found != blocks.end() && begin >= found->first - found->second &&
         bytes <= std::size_t(found->first - begin);
}

void protect(int how) {
  for (auto [end, bytes] : blocks)
    if (mprotect(end - bytes, bytes, how) != 0)
      std::abort();
}

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

void report(const char *what) {
  std::fprintf(stderr, "stub of CUDA: %s\n", what);
  sticky = cudaErrorIllegalAddress;
}

/// Runs all work of a stream.
void drain(CUstream_st &stream) {
  protect(PROT_READ | PROT_WRITE);
  for (; !stream.waiting.empty(); stream.waiting.pop_front()) {
    CUgraphNode_st &node = *stream.waiting.front();
    if (node.type == cudaGraphNodeTypeKernel && failure == "kernel")
      sticky = cudaErrorIllegalAddress;
    if (sticky == cudaSuccess)
      node.work(report);
  }
  protect(PROT_NONE);
}

cudaError_t add(CUstream_st *stream, cudaGraphNodeType type,
                std::function<void(stub::Report)> work) {
  if (!stream)
    return cudaErrorInvalidValue; // the runner uses a stream of its own
  if (sticky)
    return sticky;
  auto node =
      std::make_shared<CUgraphNode_st>(CUgraphNode_st{type, std::move(work)});
  if (stream->isCapturing)
    stream->captured.push_back(std::move(node));
  else
    stream->waiting.push_back(std::move(node));
  return cudaSuccess;
}

/// Returns the error of a call that must not be made while a stream is being
/// captured.
cudaError_t checkNoCapture() {
  if (!capturing)
    return sticky;
  capturing->isInvalid = true;
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t record(cudaEvent_t event, cudaStream_t stream, bool isTimed) {
  return add(stream, cudaGraphNodeTypeEventRecord,
             [=](stub::Report) { event->time = isTimed ? now() : -1; });
}

} // namespace

void stub::add(void *queue, bool isKernel,
               std::function<void(stub::Report)> work) {
  auto *stream = static_cast<CUstream_st *>(queue);
  if (::add(stream,
            isKernel ? cudaGraphNodeTypeKernel : cudaGraphNodeTypeMemcpy,
            std::move(work)) != cudaSuccess &&
      !sticky)
    std::abort();
}

void stub::wait(void *queue) {
  static_cast<void>(cudaStreamSynchronize(static_cast<CUstream_st *>(queue)));
}

const char *cudaGetErrorName(cudaError_t error) {
  return error == cudaErrorIllegalAddress     ? "cudaErrorIllegalAddress"
         : error == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation"
         : error == cudaErrorNoDevice         ? "cudaErrorNoDevice"
                                              : "another error of the stub";
}

const char *cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorIllegalAddress
             ? "an illegal memory access was encountered"
         : error == cudaErrorMemoryAllocation ? "out of memory"
         : error == cudaErrorNoDevice ? "no CUDA-capable device is detected"
                                      : "an error of the stub";
}

cudaError_t cudaGetLastError() { return sticky; }

cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  return failure == "count"    ? cudaErrorNoDevice
         : failure == "driver" ? cudaErrorInsufficientDriver
                               : cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version) {
  *version = failure == "driver" ? 11040 : 13000;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = 13000;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
  case cudaDevAttrClockRate:
    *value = 1500000;
    return cudaSuccess;
  case cudaDevAttrMultiProcessorCount:
    *value = 66;
    return cudaSuccess;
  case cudaDevAttrComputeCapabilityMajor:
    *value = architecture / 10;
    return cudaSuccess;
  case cudaDevAttrComputeCapabilityMinor:
    *value = architecture % 10;
    return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
  std::strcpy(properties->name, "Stub of a GPU");
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int) { return cudaSuccess; }

cudaError_t cudaMalloc(void **memory, std::size_t bytes) {
  if (cudaError_t error = checkNoCapture())
    return error;
  if (bytes > memorySize - used)
    return cudaErrorMemoryAllocation;
  // The block ends where memory ends that may be accessed at all, up to its
  // alignment.
  constexpr std::size_t page = 4096;
  const std::size_t whole = (bytes + page - 1) / page * page;
  void *mapped = mmap(nullptr, whole + page, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return cudaErrorMemoryAllocation;
  auto *begin = static_cast<char *>(mapped);
  if (mprotect(begin, whole, PROT_READ | PROT_WRITE) != 0)
    return cudaErrorMemoryAllocation;
  std::memset(begin, 0xff, whole); // NaN
  if (mprotect(begin, whole, PROT_NONE) != 0)
    return cudaErrorMemoryAllocation;
  blocks[begin + whole] = whole;
  used += bytes;
  *memory = begin;
  return cudaSuccess;
}

cudaError_t cudaFree(void *memory) {
  if (memory && !isOnGpu(memory, 1))
    return cudaErrorInvalidValue;
  return checkNoCapture(); // the block stays until the program ends
}

cudaError_t cudaMallocHost(void **memory, std::size_t bytes) {
  if (cudaError_t error = checkNoCapture())
    return error;
  constexpr std::size_t page = 4096;
  *memory = std::aligned_alloc(page, (bytes + page - 1) / page * page);
  return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFreeHost(void *memory) {
  if (isOnGpu(memory, 1))
    return cudaErrorInvalidValue;
  std::free(memory);
  return checkNoCapture();
}

cudaError_t cudaMemGetInfo(std::size_t *left, std::size_t *total) {
  *left = memorySize - used;
  *total = memorySize;
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, std::size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream) {
  if (isOnGpu(to, bytes) != (kind != cudaMemcpyDeviceToHost) ||
      isOnGpu(from, bytes) != (kind != cudaMemcpyHostToDevice))
    return cudaErrorInvalidValue;
  return add(stream, cudaGraphNodeTypeMemcpy,
             [=](stub::Report) { std::memcpy(to, from, bytes); });
}

cudaError_t cudaMemsetAsync(void *to, int value, std::size_t bytes,
                            cudaStream_t stream) {
  if (!isOnGpu(to, bytes))
    return cudaErrorInvalidValue;
  return add(stream, cudaGraphNodeTypeMemset,
             [=](stub::Report) { std::memset(to, value, bytes); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
  *stream = new CUstream_st;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (cudaError_t error = checkNoCapture())
    return error;
  drain(*stream);
  return sticky;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (cudaError_t error = checkNoCapture())
    return error;
  capturing = stream;
  stream->isCapturing = true;
  stream->isInvalid = false;
  stream->captured.clear();
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  capturing = nullptr;
  stream->isCapturing = false;
  if (stream->isInvalid)
    return cudaErrorStreamCaptureInvalidated;
  *graph = new CUgraph_st{std::move(stream->captured)};
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                 unsigned long long) {
  *executable = new CUgraphExec_st{graph->nodes};
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  if (sticky)
    return sticky;
  for (const auto &node : executable->nodes)
    if (failure != "replay" || node->type != cudaGraphNodeTypeKernel)
      stream->waiting.push_back(node);
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes,
                              std::size_t *count) {
  for (std::size_t i = 0; nodes && i < graph->nodes.size(); ++i)
    nodes[i] = graph->nodes[i].get();
  *count = graph->nodes.size();
  return cudaSuccess;
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node,
                                 cudaGraphNodeType *type) {
  *type = node->type;
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
  *event = new CUevent_st;
  return sticky;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  // In a graph, only external events tell a time.
  return record(event, stream, /*isTimed=*/!stream->isCapturing);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                     unsigned flags) {
  const bool isExternal = flags & cudaEventRecordExternal;
  return record(event, stream, isExternal && failure != "times");
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from,
                                 cudaEvent_t to) {
  if (from->time < 0 || to->time < 0)
    return cudaErrorNotReady;
  *milliseconds = float(1e3 * (to->time - from->time));
  return cudaSuccess;
}
