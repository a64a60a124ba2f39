/* Tells which word each recorded clip holds. A product reads a microphone
 * instead.
 *
 * Every 20 ms, the module `spectrum` makes 40 numbers of the last 30 ms: the
 * spectrum, less what noise it remembers of earlier frames. When there are 49
 * of them, for about a second, the module `words` tells the word. */
#include "spectrum.h"
#include "wave.h"
#include "words.h"

#include <stdio.h>

enum { rate = 16000, window = 480, step = 320, frames = 49, channels = 40 };

/* The modules take one arena in turn: nothing is left in it. */
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
static _Alignas(LARGER(SPECTRUM_ALIGN, WORDS_ALIGN)) unsigned char arena[LARGER(
    SPECTRUM_ARENA_BYTES, WORDS_ARENA_BYTES)];
static struct spectrum_state state;
static int8_t spectrogram[frames * channels];

static const char *const labels[] = {"silence", "unknown", "yes", "no"};
enum { count = sizeof labels / sizeof *labels };

extern const struct wave yes_wav, no_wav;

static int listen(const struct wave *wave, int8_t *scores) {
  if (count_samples(wave, rate) < (frames - 1) * step + window)
    return -1;
  spectrum_reset(&state);
  for (int i = 0; i < frames; ++i) {
    const struct spectrum_inputs inputs = {.audio_frame =
                                               wave->samples + i * step};
    const struct spectrum_outputs outputs = {.output_0 =
                                                 spectrogram + i * channels};
    const int status = spectrum_run(&inputs, &outputs, &state, arena);
    if (status != SPECTRUM_OK)
      return status;
  }
  const struct words_inputs inputs = {.Reshape_1 = spectrogram};
  const struct words_outputs outputs = {.labels_softmax = scores};
  return words_run(&inputs, &outputs, arena);
}

int main(void) {
  static const struct {
    const char *name;
    const struct wave *wave;
  } clips[] = {{"yes.wav", &yes_wav}, {"no.wav", &no_wav}};

  printf("arena %u bytes, state %u, spectrogram %u\n", (unsigned)sizeof arena,
         (unsigned)sizeof state, (unsigned)sizeof spectrogram);
  for (unsigned i = 0; i < sizeof clips / sizeof *clips; ++i) {
    int8_t scores[count];
    const int status = listen(clips[i].wave, scores);
    if (status != 0) {
      printf("%s: failed with status %d\n", clips[i].name, status);
      return 1;
    }
    int best = 0;
    unsigned sum = 0; /* tells spectrograms apart */
    for (int k = 1; k < count; ++k)
      if (scores[k] > scores[best])
        best = k;
    for (int k = 0; k < frames * channels; ++k)
      sum = sum * 31 + (uint8_t)spectrogram[k];
    printf("%-8s %-8s scores %d %d %d %d, spectrogram %08x\n", clips[i].name,
           labels[best], scores[0], scores[1], scores[2], scores[3],
           sum & 0xffffffff);
  }
  return 0;
}
