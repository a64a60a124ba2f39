//===- host_block.h - The block policy on a CPU, for tests ----------------===//
//
// Runs the source of a kernel with a fiber for each thread of a block, one
// block after the other, and reports what a GPU would leave undefined. What it
// checks is listed in README.md in this folder.
//
//   nnc::host_grid<80> grid(seed);
//   grid.may_read(x.data(), bytes);
//   grid.may_write(y.data(), bytes);
//   std::string error = grid.launch({blocks, 1, 1}, threads, shared_bytes,
//                                   [&](auto &b) { kernel::run(b, ...); });
//
// Modules with kernels on the block policy come with this header as part of
// nnc_emulation.h, which only compilers for CPUs read.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_CUDA_HOST_BLOCK_H
#define NNC_CUDA_HOST_BLOCK_H

#include "runtime/cuda/block.h"
#include "runtime/cuda/host_memory.h"
#include "runtime/cuda/host_mma.h"
#include "runtime/cuda/host_scheduler.h"
#include "runtime/simd/bfloat.h"
#include "runtime/simd/half.h"
#include "runtime/simd/unroll.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace nnc {

/// The state of a running block that all its threads share.
struct host_block_state {
  host_memory &memory;
  host_scheduler &threads;
  host_shared_memory shared;
  struct copy {
    shared_address to;
    const void *from; ///< null for zeros
    int group;
  };
  struct thread_copies {
    std::vector<copy> pending;
    int committed = 0;
  };
  std::vector<thread_copies> copies;
  /// The call of arrives_last() that threads of the block wait in, or null, and
  /// its result.
  uint32_t *counter = nullptr;
  int count = 0;
  bool is_last = false;
  int x = 0, y = 0, z = 0;
  long blocks_before = 0;
  long bank_conflicts = 0;
};

template <int ARCH> class host_block {
public:
  static constexpr int arch = ARCH;
  static constexpr bool copies_are_async = ARCH >= 80;

  host_block(host_block_state &state, int thread)
      : state(state), self(thread) {}
  host_block(const host_block &) = delete;

  int thread() const { return self; }
  int block_x() const { return state.x; }
  int block_y() const { return state.y; }
  int block_z() const { return state.z; }

  void wait_for_inputs() { has_waited = true; }
  void let_next_launch_begin() const {}

  shared_address shared_base() const { return host_shared_memory::base; }
  template <class T> NNC_NOINLINE T load_shared(shared_address at) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                  "whole words");
    T value;
    check(state.shared.read(self, at, &value, sizeof(T)));
    return value;
  }
  template <class T>
  NNC_NOINLINE void store_shared(shared_address at, const T &value) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                  "whole words");
    check(state.shared.write(self, at, &value, sizeof(T)));
  }
  words4 ldmatrix_x4(shared_address row) const {
    return ldmatrix("ldmatrix_x4", row,
                    [](const unsigned char(&rows)[8][16], int lane, int half) {
                      return &rows[lane / 4][(lane % 4 * 2 + half) * 2];
                    });
  }
  words4 ldmatrix_x4_trans(shared_address row) const {
    return ldmatrix("ldmatrix_x4_trans", row,
                    [](const unsigned char(&rows)[8][16], int lane, int half) {
                      return &rows[lane % 4 * 2 + half][lane / 4 * 2];
                    });
  }
  void barrier() const {
    if (state.counter)
      state.threads.fail("is at a barrier while others call arrives_last");
    state.threads.wait_for_block([&] { state.shared.pass_barrier(); });
  }
  NNC_NOINLINE bool arrives_last(uint32_t *counter, int count) const {
    if (!has_waited)
      state.threads.fail("counts blocks before it waits for earlier launches");
    if (state.threads.waiting() > 0 &&
        (counter != state.counter || count != state.count))
      state.threads.fail("calls arrives_last while others wait elsewhere");
    state.counter = counter;
    state.count = count;
    state.threads.wait_for_block([&] {
      state.shared.pass_barrier();
      state.counter = nullptr;
      check(state.memory.arrive(counter, count, state.blocks_before,
                                state.is_last));
    });
    return state.is_last;
  }

  NNC_NOINLINE void copy_async(shared_address to, const void *from,
                               bool valid) const {
    if (to % 16 != 0 || reinterpret_cast<uintptr_t>(from) % 16 != 0)
      state.threads.fail("copies between addresses that are not aligned");
    if (valid)
      check(state.memory.check_load(from, 16, thread_of_grid(), !has_waited));
    if constexpr (copies_are_async) {
      check(state.shared.begin_copy(self, to));
      auto &mine = state.copies[self];
      mine.pending.push_back({to, valid ? from : nullptr, mine.committed});
    } else {
      words4 value{};
      if (valid)
        memcpy(&value, from, 16);
      store_shared(to, value);
    }
  }
  void commit_copies() const { ++state.copies[self].committed; }
  template <int N> NNC_NOINLINE void wait_copies() const {
    static_assert(N >= 0, "a number of groups");
    auto &mine = state.copies[self];
    size_t done = 0;
    while (done < mine.pending.size() &&
           mine.pending[done].group < mine.committed - N) {
      const auto &c = mine.pending[done++];
      state.shared.end_copy(self, c.to, c.from);
    }
    mine.pending.erase(mine.pending.begin(), mine.pending.begin() + done);
  }
  /// Called when the thread ends.
  void finish() const {
    if (!state.copies[self].pending.empty())
      state.threads.fail("ends before its copies have arrived");
    if (!has_waited)
      state.threads.fail("ends before it waits for earlier launches");
  }

  template <class T> NNC_NOINLINE T load_global(const T *p) const {
    check(state.memory.check_load(p, sizeof(T), thread_of_grid(), !has_waited));
    T value;
    memcpy(static_cast<void *>(&value), p, sizeof(T));
    return value;
  }
  template <class T>
  NNC_NOINLINE void store_global(T *p, const T &value) const {
    check(
        state.memory.check_store(p, sizeof(T), thread_of_grid(), !has_waited));
    memcpy(static_cast<void *>(p), &value, sizeof(T));
  }

  template <class T> T shuffle_xor(T value, int mask) const {
    static_assert(sizeof(T) == 4, "one word");
    struct lane {
      T value, result;
      int mask;
    } mine{value, value, mask};
    state.threads.wait_for_warp("shuffle_xor", mine, [&](lane *const *lanes) {
      for (int l = 0; l < warp_lanes; ++l)
        lanes[l]->result = lanes[(l ^ lanes[l]->mask) % warp_lanes]->value;
    });
    return mine.result;
  }
  void mma_f16(float (&d)[4], const words4 &a, uint32_t b0, uint32_t b1) const {
    mma<host_f16_run>("mma_f16", d, a, b0, b1);
  }
  void mma_bf16(float (&d)[4], const words4 &a, uint32_t b0,
                uint32_t b1) const {
    static_assert(ARCH >= 80, "bf16 needs sm_80");
    mma<host_bf16_run>("mma_bf16", d, a, b0, b1);
  }
  void mma_tf32(float (&d)[4], const words4 &a, uint32_t b0,
                uint32_t b1) const {
    static_assert(ARCH >= 80, "tf32 needs sm_80");
    mma<host_tf32_run>("mma_tf32", d, a, b0, b1);
  }
  void mma_i8(int32_t (&d)[4], const words4 &a, uint32_t b0,
              uint32_t b1) const {
    mma<host_i8_run>("mma_i8", d, a, b0, b1);
  }
  void mma_u8(int32_t (&d)[4], const words4 &a, uint32_t b0,
              uint32_t b1) const {
    mma<host_u8_run, int32_t, host_i8_run>("mma_u8", d, a, b0, b1);
  }

  static uint32_t halves(float low, float high) {
    return pair_of<f16>(low, high);
  }
  static uint32_t bfloats(float low, float high) {
    return pair_of<bf16>(low, high);
  }

  static uint32_t tf32(uint32_t x) {
    static_assert(ARCH >= 80, "tf32 needs sm_80");
    return round_to_tf32(x);
  }

  static float larger(float x, float y) { return std::fmax(x, y); }
  static float exp2(float x) { return std::exp2(x); }

private:
  /// Element `half` of the word of lane `lane` lies at at(rows, lane, half).
  template <class At>
  NNC_NOINLINE words4 ldmatrix(const char *call, shared_address row,
                               At at) const {
    struct lane {
      shared_address row;
      words4 result;
    } mine{row, {}};
    state.threads.wait_for_warp(call, mine, [&](lane *const *lanes) {
      for (int matrix = 0; matrix < 4; ++matrix) {
        unsigned char rows[8][16];
        unsigned banks = 0;
        for (int r = 0; r < 8; ++r) {
          const int provider = matrix * 8 + r;
          const shared_address from = lanes[provider]->row;
          check(state.shared.read(self / warp_lanes * warp_lanes + provider,
                                  from, rows[r], 16));
          const unsigned bank = 1u << (from / 16 % 8);
          state.bank_conflicts += (banks & bank) != 0;
          banks |= bank;
        }
        for (int l = 0; l < warp_lanes; ++l) {
          uint16_t halves[2];
          for (int i = 0; i < 2; ++i)
            memcpy(&halves[i], at(rows, l, i), 2);
          memcpy(&lanes[l]->result.word[matrix], halves, 4);
        }
      }
    });
    return mine.result;
  }
  long thread_of_grid() const {
    return state.blocks_before * host_memory::block_threads + self;
  }
  void check(const char *wrong) const {
    if (wrong)
      state.threads.fail(wrong);
  }
  template <class Run, class Sum, class Columns = Run>
  NNC_NOINLINE void mma(const char *call, Sum (&d)[4], const words4 &a,
                        uint32_t b0, uint32_t b1) const {
    host_mma_lane<Sum> mine{d, &a, {b0, b1}};
    state.threads.wait_for_warp(call, mine,
                                [](host_mma_lane<Sum> *const(&lanes)[32]) {
                                  host_mma<Run, Columns>(lanes);
                                });
  }
  template <class T> static uint32_t pair_of(float low, float high) {
    const T both[2] = {low, high};
    uint32_t word;
    memcpy(&word, both, 4);
    return word;
  }

  host_block_state &state;
  const int self;
  bool has_waited = false;
};

/// Launches kernels on the CPU. The order of blocks and threads is drawn from
/// `seed`.
template <int ARCH> class host_grid : public host_memory {
public:
  explicit host_grid(uint64_t seed) : threads(seed) {}

  /// Runs kernel(b) for each thread of each block. Returns an empty string, or
  /// a message about the first error.
  template <class F>
  std::string launch(grid_size grid, int block, int shared_bytes, F kernel) {
    begin_launch();
    std::vector<long> order(size_t(grid.x) * grid.y * grid.z);
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = long(i);
    threads.shuffle(order);
    for (const long index : order) {
      state.x = int(index % grid.x);
      state.y = int(index / grid.x % grid.y);
      state.z = int(index / grid.x / grid.y);
      state.blocks_before = index;
      state.shared.begin_block(shared_bytes);
      state.copies.assign(block, {});
      state.counter = nullptr;
      begin_block();
      const char *wrong = threads.run(block, [&](int thread) {
        host_block<ARCH> b(state, thread);
        kernel(b);
        b.finish();
      });
      if (wrong)
        return "block " + std::to_string(state.x) + " " +
               std::to_string(state.y) + " " + std::to_string(state.z) +
               ", thread " + std::to_string(threads.failing_thread()) + ": " +
               wrong;
    }
    const char *wrong = end_launch();
    return wrong ? wrong : "";
  }
  /// Rows of ldmatrix that had to wait for another row of the same matrix.
  long bank_conflicts() const { return state.bank_conflicts; }

private:
  host_scheduler threads;
  host_block_state state{*this, threads, {}, {}};
};

} // namespace nnc

#endif // NNC_CUDA_HOST_BLOCK_H
