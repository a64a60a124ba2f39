//===- Arena.cpp - The arena over time ------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/figures/Arena.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

namespace nnc::tools {

/// Returns the places that are in use while a layer runs, in the order of their
/// offsets. If a result overwrites an operand, only the larger of the two is
/// included.
static std::vector<const ArenaPlace *> findPlaces(const Manifest &manifest,
                                                  int64_t layer) {
  std::vector<const ArenaPlace *> places;
  for (const ArenaPlace &place : manifest.arena)
    if (place.first <= layer && layer <= place.last)
      places.push_back(&place);
  llvm::sort(places, [](const ArenaPlace *a, const ArenaPlace *b) {
    return std::tie(a->offset, b->bytes) < std::tie(b->offset, a->bytes);
  });
  int64_t end = -1;
  llvm::erase_if(places, [&](const ArenaPlace *place) {
    bool isInside = place->offset + place->bytes <= end;
    end = std::max(end, place->offset + place->bytes);
    return isInside;
  });
  return places;
}

ArenaPeak findPeak(const Manifest &manifest) {
  ArenaPeak peak;
  // The use of the arena can only reach its peak where a place begins to be in
  // use.
  for (const ArenaPlace &start : manifest.arena) {
    ArenaPeak now{start.first, 0, findPlaces(manifest, start.first)};
    int64_t end = 0;
    for (const ArenaPlace *place : now.places) {
      int64_t last = place->offset + place->bytes;
      now.bytes += last - std::max(end, place->offset);
      end = last;
    }
    bool isEarlier = now.bytes == peak.bytes && now.layer < peak.layer;
    if (now.bytes > peak.bytes || isEarlier)
      peak = now;
  }
  llvm::sort(peak.places, [](const ArenaPlace *a, const ArenaPlace *b) {
    return std::tie(b->bytes, a->offset) < std::tie(a->bytes, b->offset);
  });
  return peak;
}

static std::string escape(llvm::StringRef text) {
  std::string escaped;
  llvm::raw_string_ostream stream(escaped);
  llvm::printHTMLEscaped(text, stream);
  return escaped;
}

std::string drawArena(const Manifest &manifest) {
  // Places may extend beyond the end of the arena by padding that is never
  // stored.
  int64_t bytes = std::max<int64_t>(manifest.arenaBytes, 1);
  auto layers =
      static_cast<double>(std::max<size_t>(manifest.layers.size(), 1));
  constexpr double left = 80, top = 40, height = 480, bottom = 60;
  double step = std::clamp(1200 / layers, 4.0, 80.0);
  double width = left + layers * step + 20;
  auto yOf = [&](int64_t offset) {
    return top + height * (1 - double(offset) / double(bytes));
  };
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{2:.0f}\" y=\"22\" font-size=\"14\">{3}: {4} bytes of arena"
      "</text>\n",
      width, top + height + bottom, left, escape(manifest.name),
      manifest.arenaBytes);
  for (int i = 0; i <= 4; ++i) {
    int64_t offset = manifest.arenaBytes * i / 4;
    svg += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}"
                       "</text>\n<path d=\"M{:.0f} {:.1f}H{:.0f}\" "
                       "stroke=\"#ddd\"/>\n",
                       left - 6, yOf(offset) + 4, offset, left, yOf(offset),
                       width - 20);
  }
  for (size_t i = 0; i < manifest.layers.size();
       i += std::max(1, int(40 / step)))
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.0f}\" "
                       "text-anchor=\"middle\">{}</text>\n",
                       left + (double(i) + 0.5) * step, top + height + 16, i);
  svg += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\">layers, in the order in "
                     "which they run</text>\n",
                     left, top + height + 36);
  for (auto [i, place] : llvm::enumerate(manifest.arena)) {
    if (place.first > place.last)
      continue; // no layer uses it
    double x = left + double(place.first) * step;
    double w = double(place.last - place.first + 1) * step;
    double y = yOf(std::min(place.offset + place.bytes, bytes));
    double h = yOf(place.offset) - y;
    std::string colour = place.isScratch
                             ? "#bbb"
                             : fmt::format("hsl({},60%,75%)", i * 137 % 360);
    svg += fmt::format(
        "<g><title>{}: {} bytes at {}, layers {} to {}</title><rect "
        "x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "fill=\"{}\" stroke=\"#555\" stroke-width=\"0.5\"/>",
        escape(place.name), place.bytes, place.offset, place.first, place.last,
        x, y, w, h, colour);
    // A name that does not fit in its box is only in the tooltip.
    if (h >= 12 && w >= 6.5 * double(place.name.size()))
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x + 3,
                         y + h / 2 + 4, escape(place.name));
    svg += "</g>\n";
  }
  int64_t start = 0;
  for (const Memory &memory : manifest.memories) {
    svg +=
        fmt::format("<path d=\"M{0:.0f} {1:.1f}H{2:.0f}\" "
                    "stroke=\"black\"/>\n"
                    "<text x=\"{2:.0f}\" y=\"{3:.1f}\" "
                    "text-anchor=\"end\">{4}</text>\n",
                    left, yOf(start), width - 20, yOf(start) - 4, memory.name);
    start += memory.bytes;
  }
  ArenaPeak peak = findPeak(manifest);
  if (!peak.places.empty()) {
    double x = left + double(peak.layer) * step;
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" "
                       "height=\"{:.0f}\" fill=\"none\" stroke=\"#c00\" "
                       "stroke-dasharray=\"4 2\"><title>layer {}: {} bytes "
                       "are in use</title></rect>\n",
                       x, top, step, height, peak.layer, peak.bytes);
  }
  return svg + "</svg>\n";
}

} // namespace nnc::tools
