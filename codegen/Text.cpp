//===- Text.cpp - Lines of at most 80 columns -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "dialects/exec/Printable.h"
#include "dialects/nn/Nn.h"
#include "dialects/nn/encodings/WeightEncoding.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

/// The largest number of bytes of a model's name in a comment. It is longer
/// than the names that exporters write, and short enough for a reader to
/// follow.
static constexpr size_t kMostOfName = 900;

std::string codegen::printModelName(StringRef name) {
  std::string text =
      exec::escapeUnprintable(exec::shortenMiddle(name, kMostOfName), '_');
  for (char &c : text)
    if (StringRef("*\\?").contains(c))
      c = '_';
  return text;
}

std::string codegen::printComment(StringRef text, StringRef head) {
  std::string lines, line = head.str();
  while (!text.empty()) {
    auto [word, rest] = text.split(' ');
    text = rest;
    if (line.size() + 1 + word.size() > kColumns) {
      lines += line + "\n";
      line = (head + "  ").str();
    }
    line += (" " + word).str();
  }
  return lines + line + "\n";
}

std::string codegen::printMultiplyAdds(int64_t count) {
  struct Scale {
    double size;
    StringLiteral word;
  };
  static constexpr Scale kScales[] = {
      {1e9, "billion"}, {1e6, "million"}, {1e3, "thousand"}};
  // Small numbers are printed exactly.
  for (const Scale &scale : kScales)
    if (count >= 10000 && double(count) >= scale.size)
      return llvm::formatv("{0:f2} {1} multiply-adds",
                           double(count) / scale.size, scale.word);
  return (count ? std::to_string(count) : "no") +
         (count == 1 ? " multiply-add" : " multiply-adds");
}

/// Returns the line that explains a layout: its name, and the axes that are
/// divided into blocks.
static std::string explainLayout(nn::LayoutAttr layout) {
  std::string text = layout.getName();
  StringRef separator = ": ";
  std::string axes = layout.getAxisLetters();
  for (nn::LayoutAttr::Block block : layout.getBlocks()) {
    text += separator.str() + "axis " + axes[block.axis] + " in blocks of " +
            std::to_string(block.size);
    separator = ", ";
  }
  if (!layout.getBlocks().empty())
    text += ", zeros behind its end";
  if (nn::EncodingAttr encoding = layout.getEncoding())
    text += (separator + "encoded as " + encoding->getSpelling()).str();
  return text;
}

std::string codegen::printLayouts(ArrayRef<exec::ProgramOp> programs) {
  llvm::SetVector<Attribute> layouts;
  for (exec::ProgramOp program : programs)
    for (auto place : program.getBody().getOps<exec::PlaceOpInterface>())
      if (nn::LayoutAttr layout = nn::getLayout(place.getTensor()))
        layouts.insert(layout);
  if (layouts.empty())
    return printComment("Tensors are row-major: the last axis is innermost.");
  std::string lines;
  for (Attribute layout : layouts)
    lines += printComment(explainLayout(cast<nn::LayoutAttr>(layout)), "//  ");
  return printComment("Tensors are row-major, except for those in a layout, "
                      "whose name lists the axes from the outermost to the "
                      "innermost:") +
         lines;
}

/// Returns `head` and the pieces in lines of at most kColumns characters.
/// Further lines are aligned with the first piece.
static std::string fill(StringRef head, ArrayRef<std::string> pieces) {
  std::string lines, line = head.str();
  for (const std::string &piece : pieces) {
    if (line.size() > head.size()) {
      if (line.size() + 1 + piece.size() > kColumns) {
        lines += line + "\n";
        line = std::string(head.size(), ' ');
      } else {
        line += " ";
      }
    }
    line += piece;
  }
  return lines + line + "\n";
}

static size_t countLines(StringRef text) { return text.count('\n'); }

static bool isTooWide(StringRef text) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  return llvm::any_of(lines,
                      [](StringRef line) { return line.size() > kColumns; });
}

std::string codegen::printList(StringRef head, ArrayRef<std::string> items,
                               StringRef tail, StringRef separator) {
  if (items.empty())
    return (head + tail + "\n").str();
  SmallVector<std::string> pieces;
  for (const std::string &item : items.drop_back())
    pieces.push_back(item + separator.str());
  pieces.push_back(items.back() + tail.str());
  std::string aligned = fill(head, pieces);
  if (countLines(aligned) == 1 && !isTooWide(aligned))
    return aligned;
  std::string indent(head.size() - head.ltrim().size() + 4, ' ');
  std::string below = (head + "\n").str() + fill(indent, pieces);
  // A line that begins with `using x = list<` may also be broken before the
  // list, but not one that begins a loop.
  auto [definition, list] = head.split(" = ");
  if (!list.empty() && !head.ltrim().starts_with("for (")) {
    std::string broken =
        (definition + " =\n").str() + fill(indent + list.str(), pieces);
    bool isWorse = countLines(aligned) < countLines(broken);
    if (isWorse && !isTooWide(aligned))
      return aligned;
    if (!isTooWide(broken) || isTooWide(below))
      return broken;
  }
  bool isBetter = countLines(below) < countLines(aligned);
  return isBetter || isTooWide(aligned) ? below : aligned;
}
