/*===- nnc_runtime.h - Interface of a thread pool -------------------------===
 *
 * A C header for callers of emitted modules. A module built without threads
 * needs nothing from it. A module built with threads takes a pool: one of the
 * caller's own, behind these three fields, or the built-in one of pool.h. A
 * null pool means one thread.
 *
 *===----------------------------------------------------------------------===*/
#ifndef NNC_RUNTIME_H
#define NNC_RUNTIME_H

#ifdef __cplusplus
extern "C" {
#endif

/** A task: computes the share of thread `thread`, in [0, threads). */
typedef void (*nnc_task)(void *argument, int thread, int threads);

/** Runs work on several threads at once. */
typedef struct nnc_pool {
  /** Number of threads, the caller's own among them; at least 1. */
  int threads;
  /** The pool's own state, handed to run as it is. */
  void *context;
  /** Calls task(argument, t, threads) once for each t in [0, threads), on as
   * many threads as it can, and returns when all calls have returned. All that
   * the calls wrote is visible to the caller then. */
  void (*run)(void *context, nnc_task task, void *argument);
} nnc_pool;

#ifdef __cplusplus
}
#endif

#endif /* NNC_RUNTIME_H */
