//===- parallel.h - Runs a routine on one thread or on a pool -------------===//
//
// launch<R>(pool, shape, arguments...) divides R's independent units of work
// into one range of consecutive units for each thread. Which thread computes
// what depends only on the number of threads, and no result depends on it. A
// routine may define share() to set where ranges begin, or units(shape,
// threads) to have a unit for each thread. A routine may also define finish(),
// which runs on the caller's thread when all units are done; its units share
// one scratch.
//
// NNC_THREADS is the number of threads that have scratch. If a pool has more
// threads, layers with scratch use only NNC_THREADS of them. Where it is
// undefined or 0, a pool is an empty struct and launch is a plain call.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_PARALLEL_H
#define NNC_PARALLEL_H

#if defined(NNC_THREADS) && NNC_THREADS
#include "runtime/counts.h"
#include "runtime/nnc_runtime.h"
#endif

#include "runtime/meta.h"
#include "runtime/scratch.h"

#include <stddef.h>

namespace nnc {

#if defined(NNC_THREADS) && NNC_THREADS

using pool = const nnc_pool *;

/// True if R has share(shape, thread, threads), which returns the first unit of
/// a thread's range.
template <class R, class S, class = void> constexpr bool cuts_unevenly = false;
template <class R, class S>
constexpr bool cuts_unevenly<R, S, decltype(R::share(S{}, 0, 1), void())> =
    true;

/// Returns the first unit of the range of thread `thread` if `threads` threads
/// share `units` units.
template <class R, class S>
inline int first_unit(const S &shape, int units, int thread, int threads) {
  if constexpr (cuts_unevenly<R, S>)
    return R::share(shape, thread, threads);
  else
    return cut(units, thread, threads);
}

/// True if R multiplies tiles of matrices: it says `uses_tiles = true`.
template <class R, class = void> constexpr bool uses_tiles = false;
template <class R>
constexpr bool uses_tiles<R, enable_if_t<R::uses_tiles>> = true;

/// The tiles of a thread while it runs units of a routine. simd/amx.h has those
/// of routines that use tiles.
template <bool UsesTiles> struct thread_tiles;
template <> struct thread_tiles<false> {
  static void configure() {}
};

/// Runs all units of R on pool p. A null pool means one thread. Each thread of
/// the pool configures and releases the tiles that R uses. The caller's thread
/// releases them at the end of a module's run; it configures them here once
/// more, because a pool may have run work of others on it.
template <class R, class S, class... A>
inline void launch(pool p, const S &shape, const A &...arguments) {
  constexpr bool scratch = (is_same<A, scratch_memory>::value || ...);
  int cut_for = p ? p->threads : 1;
  if (scratch)
    cut_for = smaller(cut_for, NNC_THREADS);
  int units = 1;
  if constexpr (cuts_for_threads<R, S>)
    units = R::units(shape, cut_for);
  else
    units = R::units(shape);
  if (cut_for <= 1 || units <= 1) {
    thread_tiles<uses_tiles<R>>::configure();
    R::run(shape, argument_of(arguments, 0, 1)..., 0, units);
    return finish<R>(shape, arguments...);
  }
  const int most = smaller(units, cut_for);
  auto share = [&](int thread, int threads) {
    threads = smaller(threads, most);
    if (thread >= threads)
      return;
    const int begin = first_unit<R>(shape, units, thread, threads);
    const int end = first_unit<R>(shape, units, thread + 1, threads);
    const int mine = has_finish<R> ? 0 : thread;
    const int parts = has_finish<R> ? 1 : threads;
    [[maybe_unused]] const thread_tiles<uses_tiles<R>> tiles{};
    if constexpr (cuts_for_threads<R, S>)
      R::run(shape, argument_of(arguments, mine, parts)..., begin, end,
             cut_for);
    else
      R::run(shape, argument_of(arguments, mine, parts)..., begin, end);
  };
  using share_t = decltype(share);
  p->run(
      p->context,
      [](void *argument, int thread, int threads) {
        (*static_cast<share_t *>(argument))(thread, threads);
      },
      &share);
  finish<R>(shape, arguments...);
}

#else

/// The pool of a build without threads.
struct pool {};

/// Runs all units of R.
template <class R, class S, class... A>
inline void launch(pool, const S &shape, const A &...arguments) {
  R::run(shape, argument_of(arguments, 0, 1)..., 0, R::units(shape));
  finish<R>(shape, arguments...);
}

#endif

} // namespace nnc

#endif // NNC_PARALLEL_H
