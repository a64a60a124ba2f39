//===- host_scheduler.h - Threads of kernels that run on a CPU ------------===//
//
// The threads of a block as fibers, which wait for each other at barriers and
// in calls of whole warps. They serve host_block.h.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_CUDA_HOST_SCHEDULER_H
#define NNC_CUDA_HOST_SCHEDULER_H

#include "runtime/cuda/block.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <setjmp.h>
#include <ucontext.h>

// Threads switch by setjmp and longjmp, which make no system call. With
// AddressSanitizer, which follows longjmp on one stack only, they switch by
// swapcontext.
#if defined(__SANITIZE_ADDRESS__)
#define NNC_FIBERS_OF_CONTEXTS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NNC_FIBERS_OF_CONTEXTS
#endif
#endif

namespace nnc {

/// Runs the threads of a block as fibers, in an order drawn from a seed.
class host_scheduler {
public:
  explicit host_scheduler(uint64_t seed) : random(seed * 2 + 1) {}
  host_scheduler(const host_scheduler &) = delete;

  /// Runs body(thread) for all threads. Returns null or the first error, which
  /// failing_thread() raised.
  const char *run(int threads, std::function<void(int)> body);
  int failing_thread() const { return running; }

  /// Ends the block with an error. Called by a thread.
  [[noreturn]] void fail(const char *what) {
    error = what;
    go_back();
  }
  /// Returns the number of threads that wait for all threads of the block.
  int waiting() const { return at_barrier; }
  /// Shuffles the elements of `list`.
  template <class T> void shuffle(std::vector<T> &list) {
    for (size_t i = list.size(); i > 1; --i)
      std::swap(list[i - 1], list[draw(unsigned(i))]);
  }
  /// Waits for all threads of the block, and calls release() once.
  template <class F> void wait_for_block(F release) {
    warp &w = warps[running / warp_lanes];
    if (w.arrived != 0)
      fail("is at a barrier while lanes of its warp wait in another call");
    w.runnable &= ~bit(running);
    if (++at_barrier == int(fibers_in_use)) {
      at_barrier = 0;
      release();
      for (warp &each : warps)
        each.runnable = ~uint32_t(0);
      draw_order();
    }
    suspend();
  }
  /// Waits for all lanes of the warp. The last one calls compute(arguments)
  /// with what each lane passed, an A.
  template <class A, class F>
  void wait_for_warp(const char *call, A &argument, F compute) {
    warp &w = warps[running / warp_lanes];
    if (w.arrived != 0 && strcmp(w.call, call) != 0)
      fail("calls another function than lanes of its warp that wait for it");
    w.call = call;
    w.arguments[running % warp_lanes] = &argument;
    w.arrived |= bit(running);
    if (w.arrived != ~uint32_t(0)) {
      w.runnable &= ~bit(running);
      suspend();
      return;
    }
    w.arrived = 0;
    w.runnable = ~uint32_t(0);
    A *arguments[warp_lanes];
    for (int lane = 0; lane < warp_lanes; ++lane)
      arguments[lane] = static_cast<A *>(w.arguments[lane]);
    compute(arguments);
  }

private:
  struct fiber {
    std::unique_ptr<char[]> stack;
    ucontext_t start;
    jmp_buf at;
    bool started;
  };
  struct warp {
    uint32_t runnable, arrived;
    const char *call;
    void *arguments[warp_lanes];
  };
  static constexpr size_t stack_bytes = 64 << 10;
  static uint32_t bit(int thread) {
    return uint32_t(1) << (thread % warp_lanes);
  }

  unsigned draw(unsigned count) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return unsigned(random >> 32) % count;
  }
  /// Shuffles the warps. The first of them that can run does.
  void draw_order() { shuffle(order); }
  /// Returns a thread that can run, or -1.
  int next_thread() {
    for (const int w : order)
      if (const uint32_t lanes = warps[w].runnable) {
        const int by = int(draw(warp_lanes));
        const uint32_t turned = lanes >> by | lanes << ((32 - by) % 32);
        return w * warp_lanes + (__builtin_ctz(turned) + by) % warp_lanes;
      }
    return -1;
  }
  void suspend() {
    const int next = next_thread();
    if (next < 0)
      fail("waits for threads that have ended or wait elsewhere");
    if (next != running)
      switch_to(&fibers[running], next);
  }
  /// Continues thread `next`. Returns when another one continues `self`.
  void switch_to(fiber *self, int next) {
    running = next;
    fiber &to = fibers[next];
    starting = this;
#if defined(NNC_FIBERS_OF_CONTEXTS)
    ucontext_t *const from = self ? &self->start : &main_start;
    swapcontext(from, &to.start);
#else
    if (_setjmp(self ? self->at : main_at) != 0)
      return;
    if (to.started)
      _longjmp(to.at, 1);
    to.started = true;
    setcontext(&to.start);
#endif
  }
  [[noreturn]] void go_back() {
#if defined(NNC_FIBERS_OF_CONTEXTS)
    setcontext(&main_start);
    __builtin_unreachable();
#else
    _longjmp(main_at, 1);
#endif
  }
  static void start_fiber() { starting->run_thread(); }
  [[noreturn]] void run_thread() {
    body(running);
    warps[running / warp_lanes].runnable &= ~bit(running);
    ++ended;
    const int next = next_thread();
    if (next >= 0)
      switch_to(&fibers[running], next);
    if (ended != fibers_in_use)
      fail("has ended, and others wait for it");
    go_back();
  }

  /// The scheduler whose fiber starts: makecontext() passes no pointers.
  static inline thread_local host_scheduler *starting = nullptr;

  std::vector<fiber> fibers;
  std::vector<warp> warps;
  std::vector<int> order;
  std::function<void(int)> body;
  size_t fibers_in_use = 0, ended = 0;
  int running = 0, at_barrier = 0;
  const char *error = nullptr;
  uint64_t random;
  jmp_buf main_at;
#if defined(NNC_FIBERS_OF_CONTEXTS)
  ucontext_t main_start;
#endif
};

inline const char *host_scheduler::run(int threads,
                                       std::function<void(int)> each) {
  if (threads % warp_lanes != 0)
    return "has no whole number of warps";
  body = std::move(each);
  fibers_in_use = size_t(threads);
  while (fibers.size() < fibers_in_use) {
    fibers.emplace_back();
    fibers.back().stack.reset(new char[stack_bytes]);
  }
  ended = 0;
  at_barrier = 0;
  error = nullptr;
  warps.assign(threads / warp_lanes, warp{~uint32_t(0), 0, "", {}});
  order.resize(warps.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = int(i);
  draw_order();
  for (size_t i = 0; i < fibers_in_use; ++i) {
    fiber &f = fibers[i];
    f.started = false;
    getcontext(&f.start);
    f.start.uc_stack.ss_sp = f.stack.get();
    f.start.uc_stack.ss_size = stack_bytes;
    f.start.uc_link = nullptr;
    makecontext(&f.start, start_fiber, 0);
  }
  switch_to(nullptr, next_thread());
  return error;
}

} // namespace nnc

#endif // NNC_CUDA_HOST_SCHEDULER_H
