//===- parallel.h - Runs a routine, on one thread or on a pool ------------===//
//
// launch<R>(pool, shape, arguments...) cuts R's independent units of work into
// one run of neighbours a thread. Which thread computes what is fixed by the
// number of threads alone, and no result depends on it.
//
// Without NNC_THREADS a pool is an empty struct and launch is a plain call.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_PARALLEL_H
#define NNC_PARALLEL_H

#if defined(NNC_THREADS) && NNC_THREADS
#include "runtime/nnc_runtime.h"
#endif

namespace nnc {

#if defined(NNC_THREADS) && NNC_THREADS

using pool = const nnc_pool *;

/// Runs all units of R on the pool; a null pool is one thread.
template <class R, class S, class... A>
inline void launch(pool p, const S &shape, const A &...arguments) {
  const int units = R::units(shape);
  if (!p || p->threads <= 1 || units <= 1) {
    R::run(shape, arguments..., 0, units);
    return;
  }
  auto share = [&](int thread, int threads) {
    const long long n = units;
    const int begin = static_cast<int>(n * thread / threads);
    const int end = static_cast<int>(n * (thread + 1) / threads);
    if (begin < end)
      R::run(shape, arguments..., begin, end);
  };
  using share_t = decltype(share);
  p->run(
      p->context,
      [](void *argument, int thread, int threads) {
        (*static_cast<share_t *>(argument))(thread, threads);
      },
      &share);
}

#else

/// The pool of a build without threads.
struct pool {};

/// Runs all units of R.
template <class R, class S, class... A>
inline void launch(pool, const S &shape, const A &...arguments) {
  R::run(shape, arguments..., 0, R::units(shape));
}

#endif

} // namespace nnc

#endif // NNC_PARALLEL_H
