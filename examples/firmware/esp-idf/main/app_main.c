/* Tells the gestures of the recorded clips. A product reads a sensor instead.
 */
#include "clips.h"
#include "gesture.h"

#include <stdio.h>

static _Alignas(GESTURE_ALIGN) unsigned char arena[GESTURE_ARENA_BYTES];

void app_main(void) {
  for (int i = 0; i < 4; ++i) {
    int8_t scores[4];
    const struct gesture_inputs inputs = {.clip = clips[i]};
    const struct gesture_outputs outputs = {.scores = scores};
    const int status = gesture_run(&inputs, &outputs, arena);
    if (status != GESTURE_OK) {
      printf("gesture_run() failed with status %d\n", status);
      return;
    }
    printf("%s: scores %d %d %d %d\n", gestures[i], scores[0], scores[1],
           scores[2], scores[3]);
  }
}
