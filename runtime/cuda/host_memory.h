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
#include <vector>

namespace nnc {

/// The ranges of memory that a launch may access.
class host_memory {
public:
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
        if (b.stored)
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
        if (b.stored)
          return "stores to global memory that this launch has stored to";
        if (b.reader != nobody && b.reader != thread)
          return "stores to global memory that another thread loads";
        b.stored = true;
      }
      return nullptr;
    }
    return "stores to global memory outside of all buffers";
  }

private:
  static constexpr long nobody = -1, many = -2;
  struct byte_state {
    bool stored = false;
    long reader = nobody;
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
  std::vector<range> ranges;
  bool is_open = false;
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
