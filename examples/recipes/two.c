/* Tells the gestures of the recorded clips by two networks, which share an
 * arena. */
#include "bytes.h"
#include "clips.h"
#include "floats.h"

#include <stdio.h>

enum { count = sizeof gestures / sizeof *gestures, samples = 64, axes = 3 };

/* Aligned for both, and as large as the larger one's. */
static union {
  _Alignas(FLOATS_ALIGN) unsigned char floats[FLOATS_ARENA_BYTES];
  _Alignas(BYTES_ALIGN) unsigned char bytes[BYTES_ARENA_BYTES];
} arena;

int main(void) {
  for (int i = 0; i < count; ++i) {
    /* The floats are units of gravity, axis by axis; the bytes 32nds of it. */
    float clip[axes * samples], scores[count];
    for (int t = 0; t < samples; ++t)
      for (int axis = 0; axis < axes; ++axis)
        clip[axis * samples + t] = clips[i][t * axes + axis] / 32.0f;
    const struct floats_inputs float_inputs = {.clip = clip};
    const struct floats_outputs float_outputs = {.scores = scores};
    if (floats_run(&float_inputs, &float_outputs, arena.floats) != FLOATS_OK)
      return 1;

    int8_t byte_scores[count];
    const struct bytes_inputs byte_inputs = {.clip = clips[i]};
    const struct bytes_outputs byte_outputs = {.scores = byte_scores};
    if (bytes_run(&byte_inputs, &byte_outputs, arena.bytes) != BYTES_OK)
      return 1;

    int best = 0, byte_best = 0;
    for (int k = 1; k < count; ++k) {
      best = scores[k] > scores[best] ? k : best;
      byte_best = byte_scores[k] > byte_scores[byte_best] ? k : byte_best;
    }
    printf("%s: %s by floats, %s by bytes\n", gestures[i], gestures[best],
           gestures[byte_best]);
  }
  return 0;
}
