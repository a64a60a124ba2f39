// Reads the input of the network of end_to_end.py from stdin, and writes its
// output to stdout.
#include "network.h"

#include <cstdio>

alignas(NETWORK_ALIGN) static unsigned char arena[NETWORK_ARENA_BYTES];
static float input[3 * 11 * 11], output[7];

int main() {
  if (std::fread(input, sizeof input, 1, stdin) != 1)
    return 2;
  const network_inputs inputs = {input};
  const network_outputs outputs = {output};
  // Twice: what the first run leaves in the arena must not matter.
  for (int i = 0; i < 2; ++i)
    if (network_run(&inputs, &outputs, arena))
      return 1;
  return std::fwrite(output, sizeof output, 1, stdout) == 1 ? 0 : 2;
}
