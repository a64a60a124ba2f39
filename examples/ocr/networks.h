// The three networks of PP-OCRv4, each compiled by nnc.
#ifndef OCR_NETWORKS_H
#define OCR_NETWORKS_H

#include "picture.h"

#include <chrono>
#include <memory>

/// The time of one run of a network.
using Milliseconds = std::chrono::duration<double, std::milli>;

/// A line of text that a recognizer has read.
struct Line {
  std::string text;
  float confidence = 0; ///< mean probability of its characters
  int networkWidth = 0; ///< width of the recognizer's input in pixels
  Milliseconds time{};  ///< time of the recognizer's fastest run
};

class Networks {
public:
  /// Each network will run `runs` times, to measure its time.
  explicit Networks(int runs = 1);

  /// Returns the boxes of a page's lines of text, in reading order.
  std::vector<Rectangle> detect(const Picture &page);

  /// Returns true if the picture of a line is upside down.
  bool isTurned(const Picture &line);

  /// Reads a picture of one line.
  Line read(const Picture &line);

  Milliseconds detectorTime{};

private:
  using Arena = std::unique_ptr<void, void (*)(void *)>;

  template <class Run> Milliseconds time(Run run) const;

  int runs;
  std::vector<std::string> characters; ///< text of each class
  Arena arena; ///< for all networks, which run one after the other
  std::vector<float> input, output;
};

#endif
