/* Tells the gestures of the recorded clips, and fails where one is wrong. */
#include "clips.h"
#include "gesture.h"

#include <stdio.h>

enum { count = sizeof gestures / sizeof *gestures };

static _Alignas(GESTURE_ALIGN) unsigned char arena[GESTURE_ARENA_BYTES];

int main(void) {
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    int8_t scores[count];
    const struct gesture_inputs inputs = {.clip = clips[i]};
    const struct gesture_outputs outputs = {.scores = scores};
    const int status = gesture_run(&inputs, &outputs, arena);
    if (status != GESTURE_OK) {
      fprintf(stderr, "gesture_run() failed with status %d\n", status);
      return 1;
    }
    int best = 0;
    for (int k = 1; k < count; ++k)
      if (scores[k] > scores[best])
        best = k;
    printf("%s is %s\n", gestures[i], gestures[best]);
    wrong += best != i;
  }
  return wrong != 0;
}
