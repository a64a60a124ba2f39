// Reads the input of a network of devices_test.py from stdin, and writes its
// output to stdout. With SEVERAL, the arena is in two memories: the host's and
// that of the device shadow.
#include "divided.h"

#include <cstdio>

#if SEVERAL
alignas(DIVIDED_ALIGN) static unsigned char ram[DIVIDED_RAM_ARENA_BYTES];
alignas(DIVIDED_ALIGN) static unsigned char far[DIVIDED_SHADOW_RAM_ARENA_BYTES];
#else
alignas(DIVIDED_ALIGN) static unsigned char arena[DIVIDED_ARENA_BYTES];
#endif
static float input[1 * 6 * 5 * 7], output[1 * 6 * 5 * 7];

int main() {
  if (std::fread(input, sizeof input, 1, stdin) != 1)
    return 2;
  const divided_inputs inputs = {input};
  const divided_outputs outputs = {output};
#if SEVERAL
  const divided_arenas arenas = {ram, far};
  const divided_arenas *arena = &arenas;
#endif
  // Twice: what the first run leaves in the arena must not matter.
  for (int i = 0; i < 2; ++i)
    if (divided_run(&inputs, &outputs, arena))
      return 1;
  return std::fwrite(output, sizeof output, 1, stdout) == 1 ? 0 : 2;
}
