#include "networks.h"

#include "boxes.h"

#include "ocr_cls.h"
#include "ocr_det.h"
#include "ocr_rec320.h"
#include "ocr_rec320_metadata.h"
#include "ocr_rec640.h"
#include "ocr_rec960.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>
#include <stdexcept>

namespace {

// The sizes of pictures for which `compile-networks` compiles the networks.
constexpr int detectorSize = 960;
constexpr int classifierWidth = 192, lineHeight = 48;

// The mean and deviation of inputs: those of ImageNet for the detector; the
// other two networks are trained on inputs in [-1, 1].
constexpr float detectorMean[3] = {0.485f, 0.456f, 0.406f};
constexpr float detectorDeviation[3] = {0.229f, 0.224f, 0.225f};
constexpr float half[3] = {0.5f, 0.5f, 0.5f};

/// One of the recognizers, which differ in the width of their input. The
/// narrowest one that holds a line reads it, with padding behind it.
struct Recognizer {
  int width;
  std::size_t arenaBytes;
  int (*run)(const float *x, float *probabilities, void *arena);
};

#define RECOGNIZER(W)                                                          \
  {W, OCR_REC##W##_ARENA_BYTES,                                                \
   [](const float *x, float *probabilities, void *arena) {                     \
     ocr_rec##W##_inputs inputs = {x};                                         \
     ocr_rec##W##_outputs outputs = {probabilities};                           \
     return ocr_rec##W##_run(&inputs, &outputs, arena);                        \
   }}
constexpr Recognizer recognizers[] = {RECOGNIZER(320), RECOGNIZER(640),
                                      RECOGNIZER(960)};
#undef RECOGNIZER

constexpr int pixelsPerStep = 8; // the recognizer's step along the line
constexpr std::size_t alignment = 64;

/// Returns the text of each class of the recognizer: the blank, the characters
/// of the model's metadata, and the space.
std::vector<std::string> characterClasses() {
  std::vector<std::string> classes = {""};
  const char *rest = ocr_rec320_metadata_character;
  while (*rest) {
    const char *end = rest;
    while (*end && *end != '\n')
      ++end;
    classes.emplace_back(rest, end);
    rest = *end ? end + 1 : end;
  }
  classes.emplace_back(" ");
  return classes;
}

void check(int status, const char *network) {
  if (status != 0)
    throw std::runtime_error(std::string(network) + " failed");
}

/// Decodes the output of connectionist temporal classification greedily: the
/// text consists of the best class of each step, without repetitions and
/// blanks.
Line decode(const float *probabilities, int steps,
            const std::vector<std::string> &classes) {
  Line line;
  int count = 0;
  std::size_t previous = 0;
  for (int step = 0; step < steps; ++step) {
    const float *first = probabilities + std::size_t(step) * classes.size();
    const float *best = std::max_element(first, first + classes.size());
    std::size_t index = best - first;
    if (index != 0 && index != previous) {
      line.text += classes[index];
      line.confidence += *best;
      ++count;
    }
    previous = index;
  }
  if (count)
    line.confidence /= count;
  return line;
}

} // namespace

Networks::Networks(int runs)
    : runs(runs), characters(characterClasses()), arena(nullptr, std::free) {
  std::size_t bytes =
      std::max<std::size_t>(OCR_DET_ARENA_BYTES, OCR_CLS_ARENA_BYTES);
  for (const Recognizer &r : recognizers)
    bytes = std::max(bytes, r.arenaBytes);
  bytes = (bytes + alignment - 1) / alignment * alignment;
  arena.reset(std::aligned_alloc(alignment, bytes));
  if (!arena)
    throw std::bad_alloc();
}

template <class Run> Milliseconds Networks::time(Run run) const {
  Milliseconds best = Milliseconds::max();
  for (int i = 0; i < runs; ++i) {
    auto start = std::chrono::steady_clock::now();
    run();
    best =
        std::min<Milliseconds>(best, std::chrono::steady_clock::now() - start);
  }
  return best;
}

std::vector<Rectangle> Networks::detect(const Picture &page) {
  float scale = float(detectorSize) / std::max(page.width, page.height);
  int width = std::max(1, int(std::lround(page.width * scale)));
  int height = std::max(1, int(std::lround(page.height * scale)));
  input.resize(std::size_t(3) * detectorSize * detectorSize);
  output.resize(std::size_t(detectorSize) * detectorSize);
  writePlanes(resize(page, width, height), detectorMean, detectorDeviation,
              detectorSize, detectorSize, input.data());
  ocr_det_inputs inputs = {input.data()};
  ocr_det_outputs outputs = {output.data()};
  detectorTime = time([&] {
    check(ocr_det_run(&inputs, &outputs, arena.get()), "the detector");
  });

  std::vector<Rectangle> boxes =
      findBoxes(output.data(), detectorSize, detectorSize);
  for (Rectangle &box : boxes)
    for (Point *p : {&box.corner, &box.along, &box.down})
      *p = {p->x / scale, p->y / scale};
  return boxes;
}

/// Returns the line resized to the height of the networks' inputs, and to a
/// width of at most `width`.
static Picture atLineHeight(const Picture &line, int width) {
  int wanted = int(std::ceil(double(lineHeight) * line.width / line.height));
  return resize(line, std::clamp(wanted, 1, width), lineHeight);
}

bool Networks::isTurned(const Picture &line) {
  input.resize(std::size_t(3) * lineHeight * classifierWidth);
  writePlanes(atLineHeight(line, classifierWidth), half, half, classifierWidth,
              lineHeight, input.data());
  float upright_turned[2];
  ocr_cls_inputs inputs = {input.data()};
  ocr_cls_outputs outputs = {upright_turned};
  check(ocr_cls_run(&inputs, &outputs, arena.get()), "the classifier");
  return upright_turned[1] > 0.9f;
}

Line Networks::read(const Picture &picture) {
  const Recognizer &widest = std::end(recognizers)[-1];
  Picture line = atLineHeight(picture, widest.width);
  const Recognizer &recognizer =
      *std::find_if(std::begin(recognizers), std::end(recognizers),
                    [&](const Recognizer &r) { return line.width <= r.width; });
  int steps = recognizer.width / pixelsPerStep;
  input.resize(std::size_t(3) * lineHeight * recognizer.width);
  output.resize(std::size_t(steps) * characters.size());
  writePlanes(line, half, half, recognizer.width, lineHeight, input.data());
  Milliseconds took = time([&] {
    check(recognizer.run(input.data(), output.data(), arena.get()),
          "the recognizer");
  });
  Line result = decode(output.data(), steps, characters);
  result.networkWidth = recognizer.width;
  result.time = took;
  return result;
}
