//===- Tests.h - Passes that only tests run -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_OPT_TESTS_H
#define NNC_COMPILER_TOOLS_NNC_OPT_TESTS_H

namespace nnc {

/// Registers the pass --nnc-test-equivalence.
void registerTestPasses();

} // namespace nnc

#endif // NNC_COMPILER_TOOLS_NNC_OPT_TESTS_H
