/* Waits for the words "Hey Jarvis" in recorded clips. A product reads a
 * microphone instead, for as long as it is on.
 *
 * Every 10 ms, the module `spectrum` makes 40 numbers of the last 30 ms: the
 * spectrum, less what noise it remembers of earlier frames. Every 30 ms, the
 * module `hey_jarvis` gets the last three of these, and gives how probable it
 * is that the words have just been said. It remembers earlier frames, too, in
 * a state of its own. */
#include "hey_jarvis.h"
#include "spectrum.h"
#include "wave.h"

#include <stdio.h>

enum { rate = 16000, window = 480, step = 160, channels = 40, together = 3 };

/* The words have been said if the mean of the last five probabilities, of
 * which 256 is 1, is above 0.97. */
enum { recent = 5, cutoff = 248 };

/* The modules take one arena in turn: nothing is left in it. */
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
static _Alignas(LARGER(
    SPECTRUM_ALIGN,
    HEY_JARVIS_ALIGN)) unsigned char arena[LARGER(SPECTRUM_ARENA_BYTES,
                                                  HEY_JARVIS_ARENA_BYTES)];
static struct spectrum_state noise;
static struct hey_jarvis_state memory;

extern const struct wave hey_jarvis_wav, no_wav;

/* What a clip made of. */
struct heard {
  int milliseconds; /* when the words had been said; -1 if they were not */
  int most;         /* the largest probability of a step */
  unsigned sum;     /* tells the probabilities of all steps apart */
};

static int listen(const struct wave *wave, struct heard *heard) {
  const unsigned samples = count_samples(wave, rate);
  int8_t frames[together * channels];
  uint8_t probabilities[recent] = {0};
  const struct heard nothing = {-1, 0, 0};
  *heard = nothing;
  if (samples == 0)
    return -1;
  spectrum_reset(&noise);
  hey_jarvis_reset(&memory);
  for (unsigned i = 0; i * step + window <= samples; ++i) {
    const struct spectrum_inputs sound = {.audio_frame =
                                              wave->samples + i * step};
    const struct spectrum_outputs frame = {.output_0 = frames +
                                                       i % together * channels};
    int status = spectrum_run(&sound, &frame, &noise, arena);
    if (status != SPECTRUM_OK)
      return status;
    if (i % together != together - 1)
      continue;
    uint8_t *newest = &probabilities[i / together % recent];
    const struct hey_jarvis_inputs inputs = {.input_audio = frames};
    const struct hey_jarvis_outputs outputs = {.dense = newest};
    status = hey_jarvis_run(&inputs, &outputs, &memory, arena);
    if (status != HEY_JARVIS_OK)
      return status;
    int total = 0;
    for (int k = 0; k < recent; ++k)
      total += probabilities[k];
    if (total > recent * cutoff && heard->milliseconds < 0)
      heard->milliseconds = (int)((i * step + window) / (rate / 1000));
    if (*newest > heard->most)
      heard->most = *newest;
    heard->sum = (heard->sum * 31 + *newest) & 0xffffffff;
  }
  return 0;
}

int main(void) {
  static const struct {
    const char *name;
    const struct wave *wave;
  } clips[] = {{"hey_jarvis.wav", &hey_jarvis_wav}, {"no.wav", &no_wav}};

  printf("arena %u bytes, state %u\n", (unsigned)sizeof arena,
         (unsigned)(sizeof noise + sizeof memory));
  for (unsigned i = 0; i < sizeof clips / sizeof *clips; ++i) {
    struct heard heard;
    const int status = listen(clips[i].wave, &heard);
    if (status != 0) {
      printf("%s: failed with status %d\n", clips[i].name, status);
      return 1;
    }
    if (heard.milliseconds < 0)
      printf("%-14s not heard", clips[i].name);
    else
      printf("%-14s heard after %d ms", clips[i].name, heard.milliseconds);
    printf(", most %d of 256, probabilities %08x\n", heard.most, heard.sum);
  }
  return 0;
}
