//===- Text.cpp - Lines of at most 80 columns -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "dialects/exec/Printable.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

/// The largest number of bytes of a model's name in a comment: longer than the
/// names that exporters write, and short enough for a reader to follow.
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

/// Returns `head` and the pieces in lines of at most kColumns characters.
/// Pieces on further lines are aligned with the first one.
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
  // list.
  auto [definition, list] = head.split(" = ");
  if (!list.empty()) {
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
