// Reads the text in pictures with PP-OCRv4, compiled by nnc.
#include "networks.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

static const char usage[] =
    "usage: ocr [--line] [--runs=N] PICTURE...\n"
    "Prints the text in each picture (PNG, JPEG, BMP, PPM), a line a line:\n"
    "text, confidence, width of the network, its time, corners of the box.\n"
    "  --line    each picture shows one line of text: no search for lines\n"
    "  --runs=N  run each network N times and print the fastest\n"
    "  --quiet   the text only\n";

static void print(const Line &line, bool quiet, const Rectangle *box) {
  std::printf("%s", line.text.c_str());
  if (!quiet)
    std::printf("\t%.3f\t%d\t%.2f ms", line.confidence, line.networkWidth,
                line.time.count());
  if (!quiet && box) {
    Point p = box->corner, a = box->along, d = box->down;
    std::printf("\t%.1f,%.1f %.1f,%.1f %.1f,%.1f %.1f,%.1f", p.x, p.y,
                p.x + a.x, p.y + a.y, p.x + a.x + d.x, p.y + a.y + d.y,
                p.x + d.x, p.y + d.y);
  }
  std::printf("\n");
}

static void readPage(Networks &networks, const Picture &page, bool quiet) {
  std::vector<Rectangle> boxes = networks.detect(page);
  if (!quiet)
    std::printf("%zu lines, found in %.2f ms\n", boxes.size(),
                networks.detectorTime.count());
  for (Rectangle box : boxes) {
    // Text that runs up the page: turn the box to lie along it.
    if (box.height() >= 1.5f * box.width()) {
      box.corner = {box.corner.x + box.along.x, box.corner.y + box.along.y};
      Point along = box.along;
      box.along = box.down;
      box.down = {-along.x, -along.y};
    }
    int width = std::max(1, int(box.width() + 0.5f));
    int height = std::max(1, int(box.height() + 0.5f));
    Picture line = cut(page, box, width, height);
    if (networks.isTurned(line))
      line = turned(line);
    Line result = networks.read(line);
    if (result.confidence >= 0.5f)
      print(result, quiet, &box);
  }
}

int main(int argc, char **argv) {
  bool lines = false, quiet = false;
  int runs = 1, pictures = 0;
  for (int i = 1; i < argc; ++i)
    if (!std::strcmp(argv[i], "--line"))
      lines = true;
    else if (!std::strcmp(argv[i], "--quiet"))
      quiet = true;
    else if (!std::strncmp(argv[i], "--runs=", 7))
      runs = std::atoi(argv[i] + 7);
    else if (argv[i][0] != '-')
      argv[++pictures] = argv[i];
    else
      return std::fputs(usage, stderr), 2;
  if (!pictures || runs < 1)
    return std::fputs(usage, stderr), 2;

  try {
    Networks networks(runs);
    for (int i = 1; i <= pictures; ++i) {
      Picture picture = loadPicture(argv[i]);
      if (lines)
        print(networks.read(picture), quiet, nullptr);
      else
        readPage(networks, picture, quiet);
    }
  } catch (const std::exception &e) {
    std::fprintf(stderr, "ocr: %s\n", e.what());
    return 1;
  }
}
