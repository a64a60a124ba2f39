// Runs two models that are compiled for two machines in one program. One of
// them uses a pool.
#include "network.h"
#include "other.h"
#include "pool.h"

#include <cmath>
#include <cstdio>

alignas(NETWORK_ALIGN) static unsigned char arena[NETWORK_ARENA_BYTES];
alignas(OTHER_ALIGN) static unsigned char other_arena[OTHER_ARENA_BYTES];
static float input[3 * 11 * 11], output[7], other_output[7];
static nnc::thread_pool<3> threads;

int main() {
  for (int i = 0; i < 3 * 11 * 11; ++i)
    input[i] = static_cast<float>(i % 17) / 17.0f;
  const network_inputs inputs = {input};
  const network_outputs outputs = {output};
  const other_inputs other_in = {input};
  const other_outputs other_out = {other_output};
  nnc_pool pool = threads.start(3);
  const int failed =
      network_run(&inputs, &outputs, arena) ||
      other_run_parallel(&other_in, &other_out, other_arena, &pool);
  threads.stop();
  if (failed)
    return 1;
  for (int i = 0; i < 7; ++i)
    if (!(std::fabs(output[i] - other_output[i]) <= 1e-6f)) {
      std::printf("%d: %g and %g\n", i, output[i], other_output[i]);
      return 2;
    }
  return 0;
}
