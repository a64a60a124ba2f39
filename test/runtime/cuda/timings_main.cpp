// Times the routines of timings.cpp, and prints a line of JSON for each.
//
//   times [SECONDS]     starts no measurement later than that
//
#include "test/runtime/cuda/timings.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

namespace nnc_test {

std::vector<timed_entry> &timed_entries() {
  static std::vector<timed_entry> all;
  return all;
}

namespace {

using std::chrono::steady_clock;

double seconds_since(steady_clock::time_point begin) {
  return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

taken_time quartiles(std::vector<double> ns) {
  std::sort(ns.begin(), ns.end());
  const auto at = [&](double share) {
    return ns[std::size_t(share * double(ns.size() - 1) + 0.5)];
  };
  return {at(0.5), at(0.25), at(0.75), int(ns.size()), ""};
}

/// Lets blocks count each other. The counters are zero, and each launch leaves
/// them so.
void use_counters(nnc::stream &stream, const timed_memory &memory) {
  stream.clear_counters(memory.counters, sizeof(std::uint32_t));
}

/// Random numbers that are finite as floats, as halves and in sums: halves and
/// the upper halves of floats of up to 1/16 and 1.
std::vector<unsigned char> random_block() {
  std::mt19937 engine(1);
  std::vector<unsigned char> block(1 << 20);
  for (std::size_t i = 0; i < block.size(); i += 2) {
    const auto bits =
        std::uint16_t((engine() & 0x83ff) | (0x28 + engine() % 4 * 4) << 8);
    std::memcpy(block.data() + i, &bits, 2);
  }
  return block;
}

/// Indices of the rows of a table.
std::vector<std::int32_t> random_indices() {
  std::mt19937 engine(1);
  std::vector<std::int32_t> indices(1 << 16);
  for (std::int32_t &index : indices)
    index = static_cast<std::int32_t>(engine() % timed_words);
  return indices;
}

} // namespace

#if defined(__CUDACC__)

namespace {

void require(cudaError_t error, const char *what) {
  if (error == cudaSuccess)
    return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(2);
}
unsigned char *allocate(std::size_t bytes) {
  void *memory = nullptr;
  require(cudaMalloc(&memory, bytes), "cudaMalloc");
  return static_cast<unsigned char *>(memory);
}

/// A stream, and events at both ends of what is timed.
struct timed_stream {
  cudaStream_t queue = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  timed_stream() {
    require(cudaStreamCreate(&queue), "cudaStreamCreate");
    require(cudaEventCreate(&begin), "cudaEventCreate");
    require(cudaEventCreate(&end), "cudaEventCreate");
  }
};

/// Repetitions of an entry, as a graph.
class launches {
public:
  launches(const timed_entry &entry, const timed_memory &memory,
           cudaStream_t queue, int count) {
    cudaGraph_t graph = nullptr;
    require(cudaStreamBeginCapture(queue, cudaStreamCaptureModeThreadLocal),
            "cudaStreamBeginCapture");
    nnc::stream stream(queue);
    use_counters(stream, memory);
    for (int i = 0; i < count; ++i)
      entry.run(stream, memory);
    require(cudaStreamEndCapture(queue, &graph), "cudaStreamEndCapture");
    require(cudaGraphInstantiate(&executable, graph, 0),
            "cudaGraphInstantiate");
    cudaGraphDestroy(graph);
  }
  launches(const launches &) = delete;
  ~launches() { cudaGraphExecDestroy(executable); }

  /// Nanoseconds of a replay.
  double time(cudaStream_t queue, cudaEvent_t begin, cudaEvent_t end) const {
    cudaEventRecord(begin, queue);
    require(cudaGraphLaunch(executable, queue), "cudaGraphLaunch");
    cudaEventRecord(end, queue);
    require(cudaEventSynchronize(end), "cudaEventSynchronize");
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, begin, end);
    return 1e6 * double(milliseconds);
  }

private:
  cudaGraphExec_t executable = nullptr;
};

} // namespace

timed_memory allocate_timed_memory(std::size_t bytes) {
  timed_memory memory{
      allocate(bytes),   allocate(bytes),   allocate(bytes),   allocate(bytes),
      allocate(1 << 20), allocate(1 << 20), allocate(1 << 20), bytes};
  const auto block = random_block();
  for (std::size_t at = 0; at < bytes; at += block.size())
    for (unsigned char *part : {memory.x, memory.w})
      require(cudaMemcpy(part + at, block.data(),
                         std::min(block.size(), bytes - at),
                         cudaMemcpyHostToDevice),
              "cudaMemcpy");
  require(cudaMemset(memory.bias, 0, 1 << 20), "cudaMemset");
  require(cudaMemset(memory.counters, 0, 1 << 20), "cudaMemset");
  const auto indices = random_indices();
  require(cudaMemcpy(memory.indices, indices.data(),
                     indices.size() * sizeof(indices[0]),
                     cudaMemcpyHostToDevice),
          "cudaMemcpy");
  return memory;
}

taken_time take_time(const timed_entry &entry, const timed_memory &memory) {
  static const timed_stream stream_and_events;
  const auto [queue, begin, end] = stream_and_events;
  {
    nnc::stream stream(queue);
    use_counters(stream, memory);
    entry.run(stream, memory);
    stream.wait();
    if (stream.fault() != nnc::gpu_fault::none)
      return {0, 0, 0, 0,
              std::string("CUDA says: ") +
                  cudaGetErrorString(cudaPeekAtLastError())};
  }
  constexpr double graph_ns = 200e3, all_ns = 4e6;
  const double once = launches(entry, memory, queue, 1).time(queue, begin, end);
  const int count = int(std::clamp(graph_ns / once, 1.0, 20.0));
  const launches graph(entry, memory, queue, count);
  for (int i = 0; i < 2; ++i)
    graph.time(queue, begin, end);
  const int runs = int(std::clamp(all_ns / (once * count), 9.0, 101.0));
  std::vector<double> ns(static_cast<std::size_t>(runs));
  for (double &one : ns)
    one = graph.time(queue, begin, end) / count;
  return quartiles(ns);
}

#else

timed_memory allocate_timed_memory(std::size_t bytes) {
  static std::vector<unsigned char> parts[6];
  for (auto &part : parts)
    part.resize(bytes);
  const auto block = random_block();
  for (std::size_t at = 0; at < bytes; ++at)
    parts[0][at] = parts[1][at] = block[at % block.size()];
  static auto indices = random_indices();
  return {parts[0].data(),
          parts[1].data(),
          parts[2].data(),
          parts[3].data(),
          parts[4].data(),
          parts[5].data(),
          reinterpret_cast<unsigned char *>(indices.data()),
          bytes};
}

taken_time take_time(const timed_entry &entry, const timed_memory &memory) {
  nnc::stream stream(nullptr);
  use_counters(stream, memory);
  const auto begin = steady_clock::now();
  entry.run(stream, memory);
  if (stream.fault() != nnc::gpu_fault::none)
    return {0, 0, 0, 0, "the emulation found a mistake"};
  return quartiles({1e9 * seconds_since(begin)});
}

#endif

} // namespace nnc_test

using namespace nnc_test;

int main(int count, char **arguments) {
  const double most = count > 1 ? std::atof(arguments[1]) : 1e9;
  const auto begin = steady_clock::now();
#if defined(__CUDACC__)
  constexpr std::size_t bytes = std::size_t(512) << 20;
#else
  constexpr std::size_t bytes = std::size_t(16) << 20;
#endif
  const timed_memory memory = allocate_timed_memory(bytes);
  std::vector<timed_entry> &entries = timed_entries();
  // In a random order, so that a part of them tells of all routines.
  std::shuffle(entries.begin(), entries.end(), std::mt19937(1));
  int failed = 0, left = 0;
  for (const timed_entry &e : entries) {
    const double largest = std::max({e.size.x, e.size.w, e.size.y});
    const std::size_t needed = std::size_t(largest * e.element_bytes);
    if (seconds_since(begin) > most || 2 * needed > memory.bytes ||
        std::size_t(e.scratch) > memory.bytes) {
      ++left;
      continue;
    }
    const taken_time time = take_time(e, memory);
    if (!time.error.empty()) {
      std::fprintf(stderr, "%s %s%s: %s\n", e.routine.c_str(), e.params.c_str(),
                   e.shape.c_str(), time.error.c_str());
      ++failed;
      continue;
    }
    std::printf("{\"routine\": \"%s\", \"kind\": \"%s\", \"type\": \"%s\", "
                "\"params\": \"%s\", \"shape\": {%s}, \"multiply_adds\": %.0f, "
                "\"weight_bytes\": %.0f, \"activation_bytes\": %.0f, "
                "\"median_ns\": %.1f, \"lower_quartile_ns\": %.1f, "
                "\"upper_quartile_ns\": %.1f, \"runs\": %d}\n",
                e.routine.c_str(), e.kind.c_str(), e.type.c_str(),
                e.params.c_str(), e.shape.c_str(), e.size.multiply_adds,
                e.size.w * e.element_bytes,
                (e.size.x + e.size.y) * e.element_bytes, time.median_ns,
                time.lower_quartile_ns, time.upper_quartile_ns, time.runs);
    std::fflush(stdout);
  }
  std::fprintf(stderr, "%d measurements failed, %d were left out\n", failed,
               left);
  return failed > 0;
}
