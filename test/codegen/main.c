/* Calls the module of program.mlir as a user does. */
#include "tiny.h"

#include <stdio.h>

static _Alignas(TINY_ALIGN) unsigned char arena[TINY_ARENA_BYTES];

int main(void) {
  float x[64], prob[128];
  for (int i = 0; i < 64; ++i)
    x[i] = 1.0f;
  struct tiny_inputs inputs = {x};
  struct tiny_outputs outputs = {prob};
  if (tiny_run(&inputs, &outputs, arena))
    return 1;
  printf("%g %g bad=%d weights=%d\n", prob[0], prob[127],
         tiny_run(&inputs, &outputs, arena + 1), tiny_check_weights());
  return 0;
}
