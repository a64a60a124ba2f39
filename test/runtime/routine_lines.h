//===- routine_lines.h - The lines of routines.inc as structs -------------===//
//
// NNC_LINE makes a struct <name>_line of a line: its candidates, what the
// line's expressions say of each, and the routine with the parameters of one.
// Includes every header that the table names.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_TEST_ROUTINE_LINES_H
#define NNC_TEST_ROUTINE_LINES_H

#include "runtime/epilogue.h"
#include "runtime/routines/catalogue/expressions.h"
#include "runtime/routines/catalogue/shapes.h"
// Written by CMake: every header that routines.inc names.
#include "routine_headers.h"

#include <cstddef>
#include <string>

// PARAMS(A, B) and the other wrappers of a line are not macros here: they are
// pasted to what is wanted of them, MEMBERS_PARAMS(A, B) and so on.
#define MEMBERS_PARAMS(...) __VA_OPT__(int __VA_ARGS__;)
#define TEXT_LAYOUTS(...) #__VA_ARGS__
#define LINES_CANDIDATES(...) {__VA_ARGS__}
#define VALUE_OF_APPLIES(...) (__VA_ARGS__)
#define VALUE_OF_SCRATCH(...) (__VA_ARGS__)
#define VALUE_OF_EFFICIENCY(...) (__VA_ARGS__)
#define VALUE_OF_ERROR(...) (__VA_ARGS__)

#define PICK(_0, _1, _2, _3, _4, CHOICE, ...) CHOICE
#define TEXT_0() ""
#define TEXT_1(A) std::to_string(A)
#define TEXT_2(A, B) TEXT_1(A) + "," + TEXT_1(B)
#define TEXT_3(A, B, C) TEXT_2(A, B) + "," + TEXT_1(C)
#define TEXT_4(A, B, C, D) TEXT_3(A, B, C) + "," + TEXT_1(D)
#define TEXT_PARAMS(...)                                                       \
  PICK(_ __VA_OPT__(, ) __VA_ARGS__, TEXT_4, TEXT_3, TEXT_2, TEXT_1, TEXT_0)   \
  (__VA_ARGS__)
#define CHOSEN_0()
#define CHOSEN_1(A) lines[I].A,
#define CHOSEN_2(A, B) lines[I].A, lines[I].B,
#define CHOSEN_3(A, B, C) lines[I].A, lines[I].B, lines[I].C,
#define CHOSEN_4(A, B, C, D) CHOSEN_3(A, B, C) lines[I].D,
#define CHOSEN_PARAMS(...)                                                     \
  PICK(_ __VA_OPT__(, ) __VA_ARGS__, CHOSEN_4, CHOSEN_3, CHOSEN_2, CHOSEN_1,   \
       CHOSEN_0)                                                               \
  (__VA_ARGS__)

#define LOOPS_0()
#define LOOPS_1(A) *loops_of(A)
#define LOOPS_2(A, B) LOOPS_1(A) LOOPS_1(B)
#define LOOPS_3(A, B, C) LOOPS_2(A, B) LOOPS_1(C)
#define LOOPS_4(A, B, C, D) LOOPS_3(A, B, C) LOOPS_1(D)
#define LOOPS_PARAMS(...)                                                      \
  PICK(_ __VA_OPT__(, ) __VA_ARGS__, LOOPS_4, LOOPS_3, LOOPS_2, LOOPS_1,       \
       LOOPS_0)                                                                \
  (__VA_ARGS__)

/// Returns an estimate of the code size of a tile of n rows or blocks with all
/// of its remainders: the sum of the sizes n, n - 1, ..., 1. A tile of one has
/// no remainder, but counts like a tile of five, because it does not test the
/// loops over remainders.
constexpr double loops_of(int n) { return n == 1 ? 15 : n * (n + 1) / 2.0; }

#define NNC_LINE(FAMILY, NAME, HEADER, ISA, TYPES, LAYOUTS, PARAMS,            \
                 CANDIDATES, APPLIES, SCRATCH, EFFICIENCY, ERROR)              \
  struct NAME##_line {                                                         \
    static constexpr const char *name = #NAME, *isa = #ISA;                    \
    static constexpr const char *layouts = TEXT_##LAYOUTS;                     \
    struct candidate {                                                         \
      MEMBERS_##PARAMS template <class S>                                      \
      constexpr bool applies([[maybe_unused]] const S &s) const {              \
        return VALUE_OF_##APPLIES;                                             \
      }                                                                        \
      template <class S>                                                       \
      constexpr std::size_t scratch([[maybe_unused]] const S &s,               \
                                    [[maybe_unused]] int threads) const {      \
        return VALUE_OF_##SCRATCH;                                             \
      }                                                                        \
      template <class S>                                                       \
      constexpr double efficiency([[maybe_unused]] const S &s) const {         \
        [[maybe_unused]] constexpr nnc::tile_limits tile = nnc::ISA##_tile;    \
        return VALUE_OF_##EFFICIENCY;                                          \
      }                                                                        \
      template <class S>                                                       \
      constexpr double error([[maybe_unused]] const S &s) const {              \
        return VALUE_OF_##ERROR;                                               \
      }                                                                        \
      std::string text() const { return TEXT_##PARAMS; }                       \
      constexpr double loops() const { return 1 LOOPS_##PARAMS; }              \
    };                                                                         \
    static constexpr candidate lines[] = LINES_##CANDIDATES;                   \
    template <int I, class S, class EPI>                                       \
    using routine = nnc::NAME<S, CHOSEN_##PARAMS EPI>;                         \
  };

// ACTION, which the includer defines, for the lines of FAMILIES_<family>, and
// nothing for all others: a family is one by `#define FAMILIES_conv2d ~,
// ACTION`. Routines for GPUs are left out.
#define SKIP(...)
#define SECOND(A, B, ...) B
#define CHOOSE(...) SECOND(__VA_ARGS__, ~)
#define OF_FAMILIES(FAMILY, ...)                                               \
  CHOOSE(FAMILIES_##FAMILY, SKIP)(FAMILY, __VA_ARGS__)
#define GPUS_sm75 ~, SKIP
#define GPUS_sm80 ~, SKIP
#define NNC_OF_FAMILIES(FAMILY, NAME, HEADER, ISA, ...)                        \
  CHOOSE(GPUS_##ISA, OF_FAMILIES)(FAMILY, NAME, HEADER, ISA, __VA_ARGS__)

constexpr bool same(const char *a, const char *b) {
  for (; *a && *a == *b; ++a, ++b)
    ;
  return *a == *b;
}
constexpr bool same_start(const char *start, const char *text) {
  for (; *start && *start == *text; ++start, ++text)
    ;
  return !*start;
}
/// Returns true if `name` contains `part`.
constexpr bool has_part(const char *name, const char *part) {
  for (; *name; ++name)
    if (same_start(part, name))
      return true;
  return false;
}
/// Returns true if the routine of this name computes with doubles.
constexpr bool has_doubles(const char *name) { return has_part(name, "_f64_"); }
/// Returns true if the routine of this name computes with integers.
constexpr bool has_integers(const char *name) {
  return has_part(name, "_i32_") || has_part(name, "_i64_") ||
         has_part(name, "_bytes_") || has_part(name, "_rounded_");
}

#endif // NNC_TEST_ROUTINE_LINES_H
