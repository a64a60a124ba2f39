/* Runs three models, one of them a copy of another, in one arena in turn, and
 * prints what each returns and computes. */
#include "clips.h"
#include "copy.h"
#include "gesture.h"
#include "other.h"
#include <stdio.h>

#define LARGER(a, b) ((a) > (b) ? (a) : (b))
static _Alignas(LARGER(GESTURE_ALIGN, OTHER_ALIGN)) unsigned char arena[LARGER(
    GESTURE_ARENA_BYTES, OTHER_ARENA_BYTES)];

static void show(int status, const int8_t *values, int count) {
  printf("%d:", status);
  for (int i = 0; i < count; ++i)
    printf(" %d", values[i]);
  printf("\n");
}

int main(void) {
  for (int i = 0; i < 4; ++i) {
    int8_t scores[4] = {0}, y[3] = {0}, x[6];
    for (int j = 0; j < 6; ++j)
      x[j] = (int8_t)(clips[i][j * 17] * 3);
    const struct gesture_inputs clip = {.clip = clips[i]};
    const struct gesture_outputs first = {.scores = scores};
    const struct copy_inputs same = {.clip = clips[i]};
    const struct copy_outputs second = {.scores = scores};
    const struct other_inputs numbers = {.x = x};
    const struct other_outputs third = {.y = y};
    int status = gesture_run(&clip, &first, arena);
    show(status, scores, 4);
    status = copy_run(&same, &second, arena);
    show(status, scores, 4);
    status = other_run(&numbers, &third, arena);
    show(status, y, 3);
    gesture_run(&clip, &first, arena);
    status = other_run(&numbers, &third, arena);
    show(status, y, 3);
  }
  return 0;
}
