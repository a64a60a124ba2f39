/* Calls an emulated module of the network of test/cli/nnc.py, and prints what
 * its functions return. The memory of the emulated GPU is ordinary memory.
 *
 * WEIGHTS_FILE is defined where the weights are a file, which the program gets
 * as its argument. The input is OFFSET floats behind a multiple of 16 bytes. */
#include "network.h"

#include <stdio.h>
#include <string.h>

enum { of_x = 192, of_y = 10 };

static char arena[NETWORK_ARENA_BYTES + NETWORK_ALIGN];
static char weights[NETWORK_WEIGHT_BYTES + NETWORK_ALIGN];

static void *align(char *bytes) {
  const size_t over = (uintptr_t)bytes % NETWORK_ALIGN;
  return bytes + (over ? NETWORK_ALIGN - over : 0);
}

static void *get_stream(void) {
#ifdef OWN_STREAM
  static int own;
  return &own;
#else
  return 0;
#endif
}

static int load(const char *path, size_t missing) {
#ifdef WEIGHTS_FILE
  static char file[NETWORK_WEIGHT_BYTES + 1];
  FILE *const stream = fopen(path, "rb");
  const size_t bytes = fread(file, 1, sizeof file, stream);
  fclose(stream);
  return network_load_weights(align(weights), file, bytes - missing,
                              get_stream());
#else
  (void)path;
  (void)missing;
  return network_load_weights(align(weights), 0, get_stream());
#endif
}

int main(int count, char **arguments) {
  static float memory[OFFSET + of_x + of_y] __attribute__((aligned(16)));
  static float given[of_x];
  float *const x = memory + OFFSET, *const y = x + of_x;
  const char *const path = count > 1 ? arguments[1] : "";
  struct network_inputs in = {x, align(weights)};
  struct network_outputs out = {y};
  int i;
  for (i = 0; i < of_x; ++i)
    x[i] = given[i] = (float)(i * 37 % 101) / 50 - 1;
#ifdef WEIGHTS_FILE
  printf("%d %d ", load(path, 1),
         network_load_weights(align(weights), 0, NETWORK_WEIGHT_BYTES,
                              get_stream()));
#endif
  printf("%d", load(path, 0));
  y[0] = 7;
  printf(" %d", network_run(0, &out, align(arena), get_stream()));
  in.x = 0;
  printf(" %d", network_run(&in, &out, align(arena), get_stream()));
  in.x = x;
  printf(" %d %g", network_run(&in, &out, 0, get_stream()), y[0]);
  printf(" %d", network_run(&in, &out, align(arena), get_stream()));
  printf(" %d\n", memcmp(x, given, sizeof given) != 0);
  for (i = 0; i < of_y; ++i)
    printf("%.9g ", y[i]);
  return 0;
}
