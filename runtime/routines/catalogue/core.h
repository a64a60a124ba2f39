//===- core.h - What limits the speed of a core ---------------------------===//
#ifndef NNC_ROUTINES_CATALOGUE_CORE_H
#define NNC_ROUTINES_CATALOGUE_CORE_H

namespace nnc {

/// A core and its memory, with vectors of one instruction set. A cost in
/// multiply-adds is the number of multiply-adds of single numbers that the core
/// can issue in that time.
struct core_limits {
  double vector_rate;  ///< multiply-adds of vectors that start in a cycle
  double rate;         ///< multiply-adds of single numbers, in these vectors
  double last_cost;    ///< multiply-adds while one float arrives from the
                       ///< last-level cache
  double last_bytes;   ///< size of the last-level cache; 0: there are no caches
  double weight_cost;  ///< multiply-adds while one float arrives from where the
                       ///< model's weights are
  double level2_bytes; ///< size of the second-level cache
  double level2_rate;  ///< bytes that arrive from the second-level cache in a
                       ///< cycle
  double exposed_share; ///< share of the shorter of computing and reading from
                        ///< memory that does not overlap with the longer
  double crowding; ///< how far the model's weights fill the last-level cache:
                   ///< 0 if it holds them beside other data, 1 if they fill it

  // The limits of a GPU, whose level-2 cache is the second-level cache above.
  // They are 0 for a processor core.
  double multiprocessors = 0;
  double shared_bytes = 0;     ///< shared memory of a multiprocessor
  double resident_threads = 0; ///< threads that a multiprocessor holds
  double block_rate = 0;    ///< multiply-adds a cycle and multiprocessor of the
                            ///< units that compute the routine's elements
  double element_bytes = 0; ///< of an element of the routine's first input
};

/// A core like those that the routines were timed on, for tests and tables that
/// know no machine.
constexpr core_limits usual_core(double vector_rate) {
  core_limits core{};
  core.vector_rate = vector_rate;
  core.rate = 16;
  core.last_cost = 4;
  core.last_bytes = 32 << 20;
  core.weight_cost = 10;
  core.level2_bytes = 1 << 20;
  core.level2_rate = 31;
  core.exposed_share = 0.6;
  core.crowding = 1;
  return core;
}

} // namespace nnc

#endif // NNC_ROUTINES_CATALOGUE_CORE_H
