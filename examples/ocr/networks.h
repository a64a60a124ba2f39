// The three networks of PP-OCRv4, each compiled by nnc.
#ifndef OCR_NETWORKS_H
#define OCR_NETWORKS_H

#include "picture.h"

#include <chrono>
#include <memory>

/// What one run of a network took.
using Milliseconds = std::chrono::duration<double, std::milli>;

struct Line {
  std::string text;
  float confidence = 0; ///< mean over its characters
  int networkWidth = 0; ///< of the recognizer that read it
  Milliseconds time{};  ///< of the recognizer alone; the fastest of the runs
};

class Networks {
public:
  /// Runs each network `runs` times, to time it.
  explicit Networks(int runs = 1);

  /// The boxes of a page's lines of text, in reading order.
  std::vector<Rectangle> detect(const Picture &page);

  /// Whether the picture of a line stands on its head.
  bool isTurned(const Picture &line);

  /// Reads a picture of one line.
  Line read(const Picture &line);

  Milliseconds detectorTime{};

private:
  using Arena = std::unique_ptr<void, void (*)(void *)>;

  template <class Run> Milliseconds time(Run run) const;

  int runs;
  std::vector<std::string> characters; ///< by class
  Arena arena; ///< one for all: they run one after the other
  std::vector<float> input, output;
};

#endif
