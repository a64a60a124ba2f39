// Tests which weights tiles prefetch for later tiles.
#include "runtime/routines/tiles/floats.h"
#include "test/runtime/check.h"

#include <cstdint>
#include <set>

using namespace nnc;

namespace {

/// Returns the cache lines that tiles prefetch of the weights of `steps` steps,
/// each of which is B vectors of W numbers that are `block` numbers apart.
template <int W, int B> std::set<int> fetched(int tiles, int steps, int block) {
  static const float weights[1] = {};
  std::set<int> lines;
  weights_dealer<float, W, B> dealer(block, tiles);
  dealer.begin(nullptr, steps, weights);
  for (int tile = 0; tile < tiles; ++tile) {
    later_weights<float> later = dealer.next();
    if (later.at == weights) {
      REQUIRE(later.step == 0); // nothing is left
      continue;
    }
    for (int i = 0; i < steps; ++i, later.at += later.step)
      for (int b = 0; b < smaller(B, 2); ++b)
        lines.insert(
            int(reinterpret_cast<std::uintptr_t>(later.at) / sizeof(float)) /
                16 +
            b * block / 16);
  }
  return lines;
}

template <int W, int B> void check(int most_tiles) {
  constexpr int steps = 48, block = 4096;
  for (int tiles = 1; tiles <= most_tiles; ++tiles) {
    INFO("W=" << W << " B=" << B << " tiles=" << tiles);
    const std::set<int> lines = fetched<W, B>(tiles, steps, block);
    std::set<int> all;
    for (int b = 0; b < B; ++b)
      for (int i = 0; i < steps * W; ++i)
        all.insert((b * block + i) / 16);
    int missing = 0;
    for (int line : all)
      missing += !lines.count(line);
    if (2 * tiles >= B)
      CHECK(missing == 0);
    else
      CHECK(missing <= int(all.size()) * (B - 2 * tiles) / B);
    // Little else is fetched: an eighth more if a vector does not consist of
    // whole parts, and one more vector if B is odd.
    const int vectors = B > 1 ? B + B % 2 : 1;
    CHECK(int(lines.size()) * 8 <= int(all.size()) / B * vectors * 9 + 8);
  }
}

} // namespace

TEST_CASE("tiles fetch all weights of the next", "[tile]") {
  check<16, 1>(40);
  check<16, 2>(40);
  check<16, 3>(40);
  check<8, 2>(20);
  check<4, 6>(20);
}
