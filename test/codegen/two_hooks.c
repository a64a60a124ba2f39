/* Two models with hooks in one program: the hook is told which one it is. */
#include "network.h"
#include "other.h"

#include <stdio.h>

static float x[3 * 8 * 8], y[10];
static __attribute__((
    aligned(64))) char arena[NETWORK_ARENA_BYTES + OTHER_ARENA_BYTES];

void nnc_layer_done(const char *model, int layer, const void *output,
                    size_t bytes) {
  printf("%s %d %d\n", model, layer, output && bytes);
}

int main(void) {
  struct network_inputs inputs;
  struct network_outputs outputs;
  struct other_inputs other_in;
  struct other_outputs other_out;
  inputs.x = other_in.x = x;
  outputs.y = other_out.y = y;
  return network_run(&inputs, &outputs, arena) ||
         other_run(&other_in, &other_out, arena);
}
