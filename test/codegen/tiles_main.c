/* Runs the module of tiles.mlir, which asks Linux for the tiles of AMX. With
 * the argument "plain" it was built without them. */
#include "tiny.h"

#include <stdio.h>
#include <string.h>

/* Returns 1 if Linux lists the tiles among the features of the processor. */
static int has_tiles(void) {
  char line[8192];
  int found = 0;
  FILE *info = fopen("/proc/cpuinfo", "r");
  while (info && !found && fgets(line, sizeof line, info))
    found = strstr(line, " amx_tile") != NULL;
  if (info)
    fclose(info);
  return found;
}

int main(int count, char **words) {
  float x[64], y[128];
  for (int i = 0; i < 64; ++i)
    x[i] = 1.0f;
  for (int i = 0; i < 128; ++i)
    y[i] = -7.0f;
  struct tiny_inputs inputs = {x};
  struct tiny_outputs outputs = {y};
  int runs = (count > 1 && strcmp(words[1], "plain") == 0) || has_tiles();
  /* A second run gets them again. */
  for (int i = 0; i < 2; ++i) {
    int status = tiny_run(&inputs, &outputs, 0);
    float want = runs ? 4.5f : -7.0f;
    if (status != (runs ? TINY_OK : TINY_NO_TILES) || y[0] != want ||
        y[127] != want) {
      printf("status %d, y[0] is %g\n", status, (double)y[0]);
      return 1;
    }
  }
  outputs.y = 0;
  printf("%s\n", tiny_run(&inputs, &outputs, 0) == TINY_NULL_OUTPUT
                     ? "as expected"
                     : "null output is not found first");
  return 0;
}
