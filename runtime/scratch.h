//===- scratch.h - The working memory of a layer, and its last step -------===//
//
// The parts that launch<R> of parallel.h and launch<R> of cuda/launch.h share:
// how the scratch memory of a layer is divided among threads, and the step that
// follows when all threads are done.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SCRATCH_H
#define NNC_SCRATCH_H

#include "runtime/functions.h"
#include "runtime/meta.h"

#include <stddef.h>

namespace nnc {

/// The scratch memory of a layer, of which each working thread gets an equal
/// share. All layers use the same memory, so that a thread often finds its
/// share still in a cache.
struct scratch_memory {
  unsigned char *bytes;
  ptrdiff_t size;
};

/// Returns the argument that thread `thread`, of `threads` working threads,
/// passes to the routine: its share of the scratch memory, or any other
/// argument unchanged.
template <class A>
NNC_FN inline const A &argument_of(const A &argument, int, int) {
  return argument;
}
NNC_FN inline unsigned char *argument_of(const scratch_memory &scratch,
                                         int thread, int threads) {
  return scratch.bytes + thread * (scratch.size / threads / 64 * 64);
}

/// True if R has finish(), which runs after all units and computes the result
/// from the scratch that they share, if there is one.
template <class R, class = void> constexpr bool has_finish = false;
template <class R>
constexpr bool has_finish<R, enable_if_t<R::has_finish>> = true;

/// Calls R::finish() if R has it.
template <class R, class S, class... A>
NNC_FN inline void finish(const S &shape, const A &...arguments) {
  if constexpr (has_finish<R>)
    R::finish(shape, argument_of(arguments, 0, 1)...);
}

/// True if R has units(shape, threads), which returns a number of units of at
/// most one per thread. run() then takes `threads` as its last argument.
template <class R, class S, class = void>
constexpr bool cuts_for_threads = false;
template <class R, class S>
constexpr bool cuts_for_threads<R, S, decltype(R::units(S{}, 1), void())> =
    true;

} // namespace nnc

#endif // NNC_SCRATCH_H
