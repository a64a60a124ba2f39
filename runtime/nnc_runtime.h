/*===- nnc_runtime.h - Interface of a thread pool -------------------------===
 *
 * A C header for callers of emitted modules. A module built without threads
 * does not need it. <name>_run_parallel of a module built with threads takes a
 * pool: the built-in one of pool.h, or one of the caller's own with these three
 * fields. A null pool means one thread.
 *
 *===----------------------------------------------------------------------===*/
#ifndef NNC_RUNTIME_H
#define NNC_RUNTIME_H

#ifdef __cplusplus
extern "C" {
#endif

/** A function that computes the share of the work of thread `thread`, from 0 to
 * threads - 1. `argument` is that of `run`. */
typedef void (*nnc_task)(void *argument, int thread, int threads);

/** A thread pool, which runs work on several threads at once. */
typedef struct nnc_pool {
  /** Number of threads, the caller's own among them; at least 1. */
  int threads;
  /** The pool's own state, which is passed to `run` unchanged. */
  void *context;
  /** Calls task(argument, t, threads) once for each t in [0, threads), on as
   * many threads as it can, and returns when all calls have returned. The
   * caller then sees everything that the calls have written. */
  void (*run)(void *context, nnc_task task, void *argument);
} nnc_pool;

#ifdef __cplusplus
}
#endif

#endif /* NNC_RUNTIME_H */
