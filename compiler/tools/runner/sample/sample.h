/* A sample of the header of an emitted module, as the runner sees it, to
 * build and test the runner without a module. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stddef.h>

#define SAMPLE_ARENA_BYTES ((size_t)64)
#define SAMPLE_ALIGN 64

#ifdef __cplusplus
extern "C" {
#endif

struct sample_inputs {
  const float *a; /* [4] */
  const float *b; /* [4] */
};
struct sample_outputs {
  float *sum; /* [4] */
};

int sample_run(const struct sample_inputs *inputs,
               const struct sample_outputs *outputs, void *arena);

#ifdef __cplusplus
}
#endif

#endif /* SAMPLE_H */
