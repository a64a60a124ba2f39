// Helpers of tests on a board without an operating system: random numbers and
// messages. They do not use the C++ library, which compilers for boards may
// lack.
#ifndef NNC_TEST_BOARD_H
#define NNC_TEST_BOARD_H

#include "compiler/tools/runner/firmware/firmware.h"

namespace nnc_test {

/// Returns a random integer from low to high.
inline int between(int low, int high) {
  static uint32_t state = 1;
  state = state * 1664525 + 1013904223;
  return low +
         static_cast<int>((state >> 8) % static_cast<uint32_t>(high - low + 1));
}
/// Returns a random 32-bit integer.
inline int32_t any_number() {
  const auto low = static_cast<uint32_t>(between(0, 65535));
  return static_cast<int32_t>(low | static_cast<uint32_t>(between(0, 65535))
                                        << 16);
}

inline int failures = 0;

inline void say(const char *name, int value) {
  firmware::print(" ");
  firmware::print(name);
  firmware::print(value < 0 ? "=-" : "=");
  firmware::print(static_cast<uint64_t>(value < 0 ? -value : value));
}
/// Prints `what` and the text of `details`, and counts a failure, unless
/// `holds` is true.
template <class F> void check(bool holds, const char *what, const F &details) {
  if (holds)
    return;
  ++failures;
  firmware::print(what);
  details();
  firmware::print("\n");
}

/// Prints the number of failures and returns the result of main().
inline int finish() {
  firmware::print(static_cast<uint64_t>(failures));
  firmware::print(" failures\n");
  return failures ? 1 : 0;
}

} // namespace nnc_test

#endif // NNC_TEST_BOARD_H
