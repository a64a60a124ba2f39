//===- tiles.h - The tile registers of a test's thread --------------------===//
#ifndef NNC_TEST_TILES_H
#define NNC_TEST_TILES_H

#include "runtime/simd/amx.h"

namespace nnc_test {

/// Permission for the tile registers of AMX and their configuration, from
/// before main() until after it. Where tiles are arrays, it does nothing.
struct tiles_of_test {
  bool permitted = nnc::amx_permitted();
  nnc::amx_scope configured;
};
inline const tiles_of_test tiles;

} // namespace nnc_test

#endif // NNC_TEST_TILES_H
