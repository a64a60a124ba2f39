/* Files of recorded sound: a header of 44 bytes, then samples of 16 bits. */
#ifndef WAVE_H
#define WAVE_H

#include <stdint.h>
#include <string.h>

struct wave {
  char riff[4];
  uint32_t size;
  char kind[8];
  uint32_t format_size;
  uint16_t format, tracks;
  uint32_t rate, bytes_per_second;
  uint16_t bytes, bits;
  char data[4];
  uint32_t data_size;
  int16_t samples[];
};

/* The number of samples of a clip of one track and 16 bits at this rate; 0 for
 * other files. */
static inline unsigned count_samples(const struct wave *wave, uint32_t rate) {
  if (memcmp(wave->kind, "WAVEfmt ", 8) || wave->rate != rate ||
      wave->tracks != 1 || wave->bits != 16)
    return 0;
  return wave->data_size / 2;
}

#endif
