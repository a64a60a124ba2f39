/* Prints what the module of network.onnx returns for each wrong argument. The
 * arguments are files of weights: the module's own, which come first, and such
 * as are none. */
#include "network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM (1 << 20)

static float x[3 * 8 * 8], y[10];
static __attribute__((aligned(NETWORK_ALIGN))) char arena[NETWORK_ARENA_BYTES];
static __attribute__((aligned(NETWORK_ALIGN))) unsigned char weights[ROOM + 1];

static size_t load(const char *path) {
  FILE *file = fopen(path, "rb");
  size_t bytes;
  if (!file)
    exit(2);
  memset(weights, 0, sizeof weights);
  bytes = fread(weights, 1, ROOM, file);
  fclose(file);
  return bytes;
}

int main(int argc, char **argv) {
  struct network_inputs inputs, no_input, no_weights, misaligned;
  struct network_outputs outputs, no_output;
  int i;
  size_t bytes = load(argv[1]);
  inputs.x = x;
  inputs.weights = weights;
  outputs.y = y;
  no_input = misaligned = no_weights = inputs;
  no_input.x = NULL;
  no_weights.weights = NULL;
  misaligned.weights = weights + 1;
  no_output.y = NULL;
  printf("%d\n", network_run(&inputs, &outputs, arena));
  y[0] = 7;
  printf("%d %d\n", network_run(NULL, &outputs, arena),
         network_run(&no_input, &outputs, arena));
  printf("%d %d\n", network_run(&inputs, NULL, arena),
         network_run(&inputs, &no_output, arena));
  printf("%d\n", network_run(&inputs, &outputs, NULL));
  printf("%d\n", network_run(&inputs, &outputs, arena + 1));
  printf("%d %d\n", network_run(&no_weights, &outputs, arena),
         network_check_weights(NULL, bytes));
  printf("%d %d\n", network_run(&misaligned, &outputs, arena),
         network_check_weights(weights + 1, bytes));
  printf("%d %d %d\n", network_check_weights(weights, bytes),
         network_check_weights(weights, bytes - 1),
         network_check_weights(weights, 63));
  for (i = 2; i < argc; ++i) {
    bytes = load(argv[i]);
    printf("%d %d\n", network_check_weights(weights, bytes),
           network_run(&inputs, &outputs, arena));
  }
  return 0;
}
