//===- host_memory.h - Memory of kernels that run on a CPU ----------------===//
//
// The global memory of a launch and the shared memory of a block. Both check
// each access and return what is wrong with it, or null. They serve
// host_block.h.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_CUDA_HOST_MEMORY_H
#define NNC_CUDA_HOST_MEMORY_H

#include "runtime/cuda/block.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

namespace nnc {

/// The ranges of memory that a launch may access. Stores of a block are for
/// other blocks to read only after both have arrived at a counter, this block
/// first.
class host_memory {
public:
  /// Threads of a block at most. Thread t of block i has the number
  /// i * block_threads + t.
  static constexpr long block_threads = 1024;

  void may_read(const void *p, size_t bytes) { add(p, bytes, false, false); }
  void may_write(void *p, size_t bytes) { add(p, bytes, true, false); }
  /// Lets launches access all memory, of which only the alignment is checked.
  void may_access_all() { is_open = true; }
  /// Constants are not written by earlier launches.
  void may_read_constant(const void *p, size_t bytes) {
    add(p, bytes, false, true);
  }
  /// Forgets what earlier launches accessed.
  void begin_launch() {
    for (range &r : ranges)
      r.bytes.assign(r.writable ? r.end - r.begin : 0, byte_state{});
    arrivals.clear();
    releases.clear();
  }
  /// Forgets what the block before has seen. Blocks run one after the other.
  void begin_block() { seen.clear(); }
  /// Returns null, or what is wrong at the end of a launch.
  const char *end_launch() const {
    for (const auto &each : arrivals)
      if (*each.first != 0)
        return "a counter of blocks is not zero at the end of the launch";
    return nullptr;
  }

  /// Adds a block to a counter of `count` blocks, which becomes zero with the
  /// last one; `is_last` tells whether this is it. The block then sees what
  /// earlier ones have stored before they arrived there. Returns null, or what
  /// is wrong.
  const char *arrive(uint32_t *counter, int count, long block, bool &is_last) {
    if (count < 2)
      return "counts fewer than two blocks";
    if (reinterpret_cast<uintptr_t>(counter) % sizeof *counter != 0)
      return "counts blocks at an address that is not aligned";
    if (const char *wrong = claim_counter(counter))
      return wrong;
    auto &before = arrivals[counter];
    if (before.size() >= size_t(count) || *counter != before.size())
      return "counts more blocks than it says, or from another number than "
             "zero";
    for (const arrival &other : before) {
      if (other.block == block)
        return "counts a block twice";
      int &latest = seen[other.block];
      latest = latest < other.number ? other.number : latest;
    }
    const int number = ++releases[block];
    seen[block] = number;
    before.push_back({block, number});
    is_last = before.size() == size_t(count);
    *counter = is_last ? 0 : *counter + 1;
    return nullptr;
  }

  /// Return null, or what is wrong with an access. `early` tells that the
  /// thread has not waited for earlier launches. `thread` counts the threads of
  /// all blocks.
  const char *check_load(const void *p, size_t bytes, long thread, bool early) {
    const uintptr_t at = reinterpret_cast<uintptr_t>(p);
    if (at % bytes != 0)
      return "loads from global memory at an address that is not aligned";
    if (is_open)
      return nullptr;
    for (range &r : ranges) {
      if (at < r.begin || at + bytes > r.end)
        continue;
      if (early && !r.constant)
        return "loads before it waits for earlier launches";
      for (size_t i = 0; r.writable && i < bytes; ++i) {
        byte_state &b = r.bytes[at - r.begin + i];
        if (b.is_counter)
          return "loads from a counter of blocks";
        if (b.writer != nobody && !sees(b))
          return "loads from global memory that this launch has stored to";
        b.reader = b.reader == nobody || b.reader == thread ? thread : many;
      }
      return nullptr;
    }
    return "loads from global memory outside of all buffers";
  }
  const char *check_store(const void *p, size_t bytes, long thread,
                          bool early) {
    const uintptr_t at = reinterpret_cast<uintptr_t>(p);
    if (early)
      return "stores before it waits for earlier launches";
    if (at % bytes != 0)
      return "stores to global memory at an address that is not aligned";
    if (is_open)
      return nullptr;
    for (range &r : ranges) {
      if (at < r.begin || at + bytes > r.end)
        continue;
      if (!r.writable)
        return "stores to global memory that is for reading";
      for (size_t i = 0; i < bytes; ++i) {
        byte_state &b = r.bytes[at - r.begin + i];
        if (b.is_counter)
          return "stores to a counter of blocks";
        if (b.writer != nobody)
          return "stores to global memory that this launch has stored to";
        if (b.reader != nobody && b.reader != thread)
          return "stores to global memory that another thread loads";
        b.writer = thread / block_threads;
        const auto released = releases.find(b.writer);
        b.releases = released == releases.end() ? 0 : released->second;
      }
      return nullptr;
    }
    return "stores to global memory outside of all buffers";
  }

private:
  static constexpr long nobody = -1, many = -2;
  struct byte_state {
    long reader = nobody; ///< a thread
    long writer = nobody; ///< a block
    int releases = 0;     ///< how often the writer had arrived at counters
    bool is_counter = false;
  };
  /// A block that has arrived at a counter, as the number-th time that it
  /// arrived at any.
  struct arrival {
    long block;
    int number;
  };
  struct range {
    uintptr_t begin, end;
    bool writable, constant;
    std::vector<byte_state> bytes; ///< if writable
  };
  void add(const void *p, size_t bytes, bool writable, bool constant) {
    const uintptr_t at = reinterpret_cast<uintptr_t>(p);
    ranges.push_back({at, at + bytes, writable, constant, {}});
  }
  /// Returns true if the running block sees what was stored to a byte.
  bool sees(const byte_state &b) const {
    const auto found = seen.find(b.writer);
    return found != seen.end() && b.releases < found->second;
  }
  const char *claim_counter(const uint32_t *counter) {
    const uintptr_t at = reinterpret_cast<uintptr_t>(counter);
    if (is_open)
      return nullptr;
    for (range &r : ranges) {
      if (at < r.begin || at + sizeof *counter > r.end || !r.writable)
        continue;
      for (size_t i = 0; i < sizeof *counter; ++i) {
        byte_state &b = r.bytes[at - r.begin + i];
        if (b.writer != nobody || b.reader != nobody)
          return "counts blocks in memory that the launch loads or stores";
        b.is_counter = true;
      }
      return nullptr;
    }
    return "counts blocks outside of all buffers for writing";
  }

  std::vector<range> ranges;
  bool is_open = false;
  std::map<const uint32_t *, std::vector<arrival>> arrivals;
  std::map<long, int> releases; ///< arrivals of each block
  std::map<long, int> seen;     ///< of the running block: numbers of arrivals
};

/// The shared memory of a block, and who accessed each word of it since the
/// last barrier.
class host_shared_memory {
public:
  /// Address of the first byte. It is not 0, so that a kernel which forgets
  /// shared_base() fails.
  static constexpr shared_address base = 1024;

  void begin_block(int bytes) {
    data.assign(bytes, 0xff);
    words.assign(bytes / 4, word{});
    epoch = 1;
  }
  void pass_barrier() { ++epoch; }

  /// Return null, or what is wrong with an access.
  const char *read(int thread, shared_address at, void *to, int bytes) {
    if (const char *wrong = check_place(at, bytes))
      return wrong;
    for (word *w = word_at(at), *end = w + bytes / 4; w != end; ++w) {
      if (w->copying)
        return "reads shared memory that a copy is on its way to";
      if (w->writer == nobody)
        return "reads shared memory that nothing has written";
      if (w->written == epoch && w->writer != thread)
        return "reads shared memory that another thread wrote since the last "
               "barrier";
      w->reader = w->was_read == epoch && w->reader != thread ? many : thread;
      w->was_read = epoch;
    }
    memcpy(to, &data[at - base], bytes);
    return nullptr;
  }
  const char *write(int thread, shared_address at, const void *from,
                    int bytes) {
    if (const char *wrong = claim(thread, at, bytes, false))
      return wrong;
    memcpy(&data[at - base], from, bytes);
    return nullptr;
  }
  const char *begin_copy(int thread, shared_address at) {
    if (const char *wrong = claim(thread, at, 16, true))
      return wrong;
    memset(&data[at - base], 0xff, 16);
    return nullptr;
  }
  void end_copy(int thread, shared_address at, const void *from) {
    for (word *w = word_at(at), *end = w + 4; w != end; ++w)
      *w = {thread, w->reader, epoch, w->was_read, false};
    if (from)
      memcpy(&data[at - base], from, 16);
    else
      memset(&data[at - base], 0, 16);
  }

private:
  static constexpr int nobody = -1, many = -2;
  struct word {
    int writer = nobody, reader = nobody;
    unsigned written = 0, was_read = 0; ///< epochs
    bool copying = false;
  };
  word *word_at(shared_address at) { return words.data() + (at - base) / 4; }
  const char *check_place(shared_address at, int bytes) const {
    if (at < base || at - base + bytes > data.size())
      return "accesses shared memory outside of the block's bytes";
    if (at % bytes != 0)
      return "accesses shared memory at an address that is not aligned";
    return nullptr;
  }
  const char *claim(int thread, shared_address at, int bytes, bool copying) {
    if (const char *wrong = check_place(at, bytes))
      return wrong;
    for (word *w = word_at(at), *end = w + bytes / 4; w != end; ++w) {
      if (w->copying)
        return "writes shared memory that a copy is on its way to";
      if (w->written == epoch && w->writer != thread)
        return "writes shared memory that another thread wrote since the last "
               "barrier";
      if (w->was_read == epoch && w->reader != thread)
        return "writes shared memory that another thread read since the last "
               "barrier";
      *w = {thread, w->reader, epoch, w->was_read, copying};
    }
    return nullptr;
  }

  std::vector<unsigned char> data;
  std::vector<word> words;
  unsigned epoch = 1; ///< barriers passed, plus 1
};

} // namespace nnc

#endif // NNC_CUDA_HOST_MEMORY_H
