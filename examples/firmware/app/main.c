/* Tells the gestures of the recorded clips. A product reads a sensor instead.
 */
#include "clips.h"
#include "gesture.h"

#include <stdio.h>

enum { count = sizeof gestures / sizeof *gestures };

/* What the model writes to while it runs: no heap, and nothing is left in it.
 */
static _Alignas(GESTURE_ALIGN) unsigned char arena[GESTURE_ARENA_BYTES];

static int find_largest(const int8_t *scores) {
  int best = 0;
  for (int i = 1; i < count; ++i)
    if (scores[i] > scores[best])
      best = i;
  return best;
}

int main(void) {
  printf("arena %u bytes, weights %u bytes\n", (unsigned)sizeof arena,
         (unsigned)GESTURE_WEIGHT_BYTES);
  for (int i = 0; i < count; ++i) {
    int8_t scores[count];
    const struct gesture_inputs inputs = {.clip = clips[i]};
    const struct gesture_outputs outputs = {.scores = scores};
    const int status = gesture_run(&inputs, &outputs, arena);
    if (status != GESTURE_OK) {
      printf("gesture_run() failed with status %d\n", status);
      return 1;
    }
    printf("%-7s is %-7s scores %d %d %d %d\n", gestures[i],
           gestures[find_largest(scores)], scores[0], scores[1], scores[2],
           scores[3]);
  }
  return 0;
}
