/* Runs network.onnx of test/cli once, as firmware does, and prints the outputs.
 */
#include "network.h"

#include <stdio.h>

static float x[3 * 8 * 8], y[10];
static __attribute__((aligned(NETWORK_ALIGN))) char arena[NETWORK_ARENA_BYTES];

int main(void) {
  struct network_inputs inputs;
  struct network_outputs outputs;
  int i, status;
  inputs.x = x;
  outputs.y = y;
  for (i = 0; i < 3 * 8 * 8; ++i)
    x[i] = (float)(i % 17) / 16.0f;
  status = network_run(&inputs, &outputs, arena);
  printf("status %d, weights %d\n", status, network_check_weights());
  for (i = 0; i < 10; ++i)
    printf("%.9g\n", (double)y[i]);
  return 0;
}
