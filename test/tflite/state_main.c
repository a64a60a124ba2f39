/* Runs two streams of a model with state in turn, for state_test.py. */
#include "average.h"

#include <stdio.h>

static double arena[(AVERAGE_ARENA_BYTES + 64) / sizeof(double) + 16];

static void *aligned(void) {
  size_t address = (size_t)arena;
  size_t align = (size_t)AVERAGE_ALIGN;
  return (unsigned char *)arena + (align - address % align) % align;
}

static void run(struct average_state *state, int stream, int number) {
  float x[3], y[3];
  struct average_inputs inputs;
  struct average_outputs outputs;
  int i;
  for (i = 0; i < 3; ++i)
    x[i] = (float)(number + i + 10 * stream);
  inputs.t1 = x;
  outputs.t7 = y;
  if (average_run(&inputs, &outputs, state, aligned()) != AVERAGE_OK)
    printf("failed\n");
  printf("%d %d %.9g %.9g %.9g\n", stream, number, (double)y[0], (double)y[1],
         (double)y[2]);
}

int main(void) {
  static struct average_state states[2];
  float x[3] = {0, 0, 0}, y[3];
  struct average_inputs inputs;
  struct average_outputs outputs;
  int stream, number;
  inputs.t1 = x;
  outputs.t7 = y;
  average_reset(&states[0]);
  printf("%d %d\n", average_run(&inputs, &outputs, NULL, aligned()),
         average_run(&inputs, &outputs, &states[0], aligned()));
  for (stream = 0; stream < 2; ++stream)
    average_reset(&states[stream]);
  for (number = 0; number < 5; ++number)
    for (stream = 0; stream < 2; ++stream)
      run(&states[stream], stream, number);
  average_reset(&states[0]);
  for (number = 0; number < 5; ++number)
    run(&states[0], 0, number);
  return 0;
}
