//===- pool.h - The built-in thread pool ----------------------------------===//
//
// A thread pool for callers of a module built with threads:
//
//   static nnc::thread_pool<4> threads;     // or on the stack; no heap
//   nnc_pool pool = threads.start(2);       // 2 threads, the caller is one
//   resnet50_run_parallel(&in, &out, arena, &pool);
//   threads.stop();
//
// With start(2, nnc::pinning::cores) each thread has a core to itself.
//
// Work is handed over through one counter that workers watch: they spin for a
// while, since the next layer mostly comes within microseconds, and then sleep
// in the kernel until it moves. A worker may be late because another program
// has its core or because it is still waking up. The caller does not wait for
// it but takes over its share, and moves a worker that is late again and again
// to another core. Only one caller may use a pool at a time, and run() must not
// be called from inside a task. Needs pthreads.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_POOL_H
#define NNC_POOL_H

#include "runtime/nnc_runtime.h"

#include <atomic>
#include <pthread.h>
#include <sched.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace nnc {

/// Tells the core that it is in a waiting loop.
inline void pause_core() {
#if defined(__SSE2__)
  _mm_pause();
#elif defined(__aarch64__) || defined(__ARM_ARCH_7A__)
  asm volatile("yield");
#endif
}

/// Placement of a pool's threads: anywhere (none), or each pinned to a core of
/// its own among those that the caller may use (cores); if there are fewer
/// cores than threads, threads share. Only Linux can pin; elsewhere, and where
/// the system refuses, threads stay as they are.
enum class pinning { none, cores };

/// The set of cores that a thread may run on.
class core_set {
public:
#if defined(__linux__) && !defined(__ANDROID__)
  /// Returns the cores that `thread` may run on.
  static core_set of(pthread_t thread) {
    core_set set;
    if (pthread_getaffinity_np(thread, sizeof set.cores, &set.cores) == 0)
      set.count = CPU_COUNT(&set.cores);
    return set;
  }
  /// Pins a thread to core `number` of the set, modulo the size of the set.
  void pin(pthread_t thread, int number) const {
    if (count == 0)
      return;
    number %= count;
    int core = 0;
    while (!CPU_ISSET(core, &cores) || number-- > 0)
      ++core;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    pthread_setaffinity_np(thread, sizeof one, &one);
  }
  /// Lets a thread run on all cores of the set.
  void release(pthread_t thread) const {
    if (count > 0)
      pthread_setaffinity_np(thread, sizeof cores, &cores);
  }
  /// Moves a thread from the caller's core to the core `distance` places after
  /// it in the set. The thread may come back later.
  void move_away(pthread_t thread, int distance) const {
    const int here = sched_getcpu();
    if (count < 2 || here < 0)
      return;
    int number = distance;
    for (int core = 0; core < here; ++core)
      number += CPU_ISSET(core, &cores) ? 1 : 0;
    pin(thread, number);
    release(thread);
  }

private:
  cpu_set_t cores;
  int count = 0; ///< number of cores; 0 if it is not known
#else
  static core_set of(pthread_t) { return {}; }
  void pin(pthread_t, int) const {}
  void release(pthread_t) const {}
  void move_away(pthread_t, int) const {}
#endif
};

/// A pool of up to MaxThreads threads, one of which is the caller's. The object
/// must not be moved in memory between start() and stop().
template <int MaxThreads> class thread_pool {
  static_assert(MaxThreads >= 1, "the caller is a thread, too");

public:
  thread_pool() = default;
  thread_pool(const thread_pool &) = delete;
  thread_pool &operator=(const thread_pool &) = delete;
  ~thread_pool() { stop(); }

  /// The number of times that a worker checks for work before it sleeps, which
  /// takes about 50 microseconds.
  static constexpr int spins = 4000;

  /// Starts threads - 1 workers, or fewer if the system does not allow more or
  /// MaxThreads is less, and returns the pool to pass to a module. A running
  /// pool is stopped first. With pinning::cores, the caller's thread is pinned,
  /// too, and must be the one that calls stop().
  nnc_pool start(int threads, pinning where = pinning::none) {
    stop();
    pinned = where == pinning::cores;
    if (pinned)
      cores = core_set::of(pthread_self());
    if (threads > MaxThreads)
      threads = MaxThreads;
    stopping = false;
    threads_started = 1;
    // Workers count from the generation that they find here.
    while (threads_started < threads) {
      worker &w = workers[threads_started];
      w.owner = this;
      w.index = threads_started;
      w.taken = generation.load(std::memory_order_relaxed);
      if (pthread_create(&w.thread, nullptr, work, &w) != 0)
        break;
      ++threads_started;
    }
    if (pinned)
      cores.pin(pthread_self(), 0);
    return {threads_started, this, run};
  }

  /// Ends the workers and waits for them. A caller's thread that was pinned may
  /// then run on all its cores again. start() may be called again.
  void stop() {
    if (threads_started > 1) {
      stopping = true;
      announce();
      for (int t = 1; t < threads_started; ++t)
        pthread_join(workers[t].thread, nullptr);
    }
    threads_started = 1;
    if (pinned)
      cores.release(pthread_self());
    pinned = false;
  }

private:
  /// State of one worker, in a cache line of its own so that workers do not
  /// disturb each other.
  struct alignas(64) worker {
    std::atomic<unsigned> taken{0}; ///< last generation whose share was claimed
    std::atomic<unsigned> done{0};  ///< last generation whose share is done
    thread_pool *owner;
    int index;
    unsigned missed = 0; ///< number of shares that the caller took
    pthread_t thread;

    /// Missed shares after which the caller moves a worker to another core:
    /// virtual machines may leave both on one core for seconds while others
    /// idle.
    static constexpr unsigned patience = 8;

    /// Claims the worker's share of generation `now`. Returns true for the
    /// first of the two, the worker and the caller, that claims it.
    bool take(unsigned now) {
      unsigned last = now - 1;
      return taken.load(std::memory_order_relaxed) == last &&
             taken.compare_exchange_strong(last, now,
                                           std::memory_order_acq_rel);
    }
    /// Waits, for about a microsecond, for a running worker to take its share.
    void wait_until_taken(unsigned now) const {
      for (int spin = 0;
           spin < 64 && taken.load(std::memory_order_relaxed) != now; ++spin)
        pause_core();
    }
  };

  static void run(void *context, nnc_task task, void *argument) {
    auto *pool = static_cast<thread_pool *>(context);
    pool->task = task;
    pool->argument = argument;
    const unsigned now = pool->announce();
    task(argument, 0, pool->threads_started);
    for (int t = 1; t < pool->threads_started; ++t) {
      worker &w = pool->workers[t];
      w.wait_until_taken(now);
      if (!w.take(now)) {
        wait_for(w, now);
        continue;
      }
      if (++w.missed % worker::patience == 0)
        core_set::of(w.thread).move_away(w.thread, t);
      task(argument, t, pool->threads_started);
    }
  }

  static void wait_for(const worker &w, unsigned now) {
    for (int spin = 0; w.done.load(std::memory_order_acquire) != now; ++spin)
      // The worker may be waiting for this core, so let it have the core.
      spin < spins ? pause_core() : static_cast<void>(sched_yield());
  }

  /// Advances the counter that workers watch, wakes the workers that sleep, and
  /// returns the new generation.
  unsigned announce() {
    const unsigned now = generation.load(std::memory_order_relaxed) + 1;
    // Sequentially consistent with `sleepers`: either the worker that is about
    // to sleep sees the new generation, or it is seen here.
    generation.store(now);
    if (sleepers.load() > 0) {
      pthread_mutex_lock(&mutex);
      pthread_cond_broadcast(&wake);
      pthread_mutex_unlock(&mutex);
    }
    return now;
  }

  static void *work(void *argument) {
    worker &w = *static_cast<worker *>(argument);
    thread_pool &pool = *w.owner;
    if (pool.pinned)
      pool.cores.pin(pthread_self(), w.index);
    for (unsigned seen = w.taken;;) {
      seen = pool.wait_beyond(seen);
      if (!w.take(seen))
        continue;
      if (pool.stopping)
        return nullptr;
      pool.task(pool.argument, w.index, pool.threads_started);
      w.done.store(seen, std::memory_order_release);
    }
  }

  /// Waits for a generation other than `seen`, and returns it.
  unsigned wait_beyond(unsigned seen) {
    for (int spin = 0; spin < spins; ++spin) {
      const unsigned now = generation.load(std::memory_order_acquire);
      if (now != seen)
        return now;
      pause_core();
    }
    pthread_mutex_lock(&mutex);
    sleepers.fetch_add(1);
    unsigned now;
    while ((now = generation.load()) == seen)
      pthread_cond_wait(&wake, &mutex);
    sleepers.fetch_sub(1);
    pthread_mutex_unlock(&mutex);
    return now;
  }

  // The caller writes these before it advances `generation`, and workers read
  // them afterwards.
  nnc_task task = nullptr;
  void *argument = nullptr;
  bool stopping = false;
  int threads_started = 1;

  bool pinned = false;
  core_set cores; ///< the cores that the caller may use, if `pinned`

  alignas(64) std::atomic<unsigned> generation{0};
  alignas(64) std::atomic<int> sleepers{0};
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
  worker workers[MaxThreads];
};

} // namespace nnc

#endif // NNC_POOL_H
