//===- ManualText.cpp - Manual pages as text ------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Supports only the roff requests and escapes that Manual.cpp writes: .TH, .SH,
// .TP, fonts, and names of characters.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/commands/ManualText.h"

#include "compiler/tools/driver/console/Terminal.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace nnc::tools {
namespace {

/// The indentation, in columns, of paragraphs, and of the text below the
/// heading of an item.
constexpr size_t kIndent = 7, kItemIndent = 14;

/// Removes the escape or character at the start of `text`, and returns the
/// character that it stands for. An escape for a font sets `isBold` and returns
/// an empty string.
llvm::StringRef takeEscape(llvm::StringRef &text, bool &isBold) {
  static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral>
      characters[] = {{"\\-", "-"},   {"\\e", "\\"},  {"\\&", ""},
                      {"\\(aq", "'"}, {"\\(ha", "^"}, {"\\(ti", "~"},
                      {"\\(ga", "`"}};
  for (const auto &[escape, character] : characters)
    if (text.consume_front(escape))
      return character;
  if (text.consume_front("\\f")) {
    isBold = text.starts_with("B");
    text = text.drop_front();
    return "";
  }
  llvm::StringRef character = text.take_front();
  text = text.drop_front();
  return character;
}

/// A word of the page with the terminal's escapes for bold, and its width in
/// columns.
struct Word {
  std::string text;
  size_t columns;
};

/// Splits a line of the page into words.
llvm::SmallVector<Word> readWords(llvm::StringRef line) {
  llvm::SmallVector<Word> words;
  std::string text, part;
  size_t columns = 0;
  bool isBold = false;
  auto endPart = [&] {
    text += isBold ? colouredForStdout(Colour::bold, part) : part;
    columns += countColumns(part);
    part.clear();
  };
  auto endWord = [&] {
    endPart();
    if (columns)
      words.push_back({text, columns});
    text.clear();
    columns = 0;
  };
  while (!line.empty()) {
    if (line.consume_front(" ")) {
      endWord();
      continue;
    }
    bool wasBold = isBold;
    llvm::StringRef character = takeEscape(line, isBold);
    if (isBold != wasBold) {
      std::swap(isBold, wasBold);
      endPart();
      std::swap(isBold, wasBold);
    }
    part += character;
  }
  endWord();
  return words;
}

/// Writes words into lines of a limited length.
class Filler {
public:
  explicit Filler(size_t columns) : columns(columns) {}

  void add(llvm::StringRef line, size_t indent) {
    for (const Word &word : readWords(line)) {
      bool fits = used && used + 1 + word.columns <= columns;
      if (used && !fits)
        end();
      text += used ? " " : std::string(indent, ' ');
      text += word.text;
      used = (used ? used + 1 : indent) + word.columns;
    }
  }
  /// Ends the line, if there is one.
  void end() {
    if (used)
      text += "\n";
    used = 0;
  }
  void addBlank() {
    end();
    text += "\n";
  }
  std::string take() {
    end();
    return std::move(text);
  }

private:
  size_t columns;
  size_t used = 0; ///< columns used in the current line
  std::string text;
};

} // namespace

std::string renderManual(llvm::StringRef page, size_t columns) {
  Filler filler(columns);
  llvm::SmallVector<llvm::StringRef> lines;
  page.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  size_t indent = kIndent;
  bool isHead = false;
  for (llvm::StringRef line : lines) {
    if (line.consume_front(".SH ")) {
      filler.addBlank();
      filler.add("\\fB" + line.str(), 0);
      filler.end();
      indent = kIndent;
    } else if (line == ".TP") {
      filler.addBlank();
      isHead = true;
    } else if (line.consume_front(".TH ")) {
      // NAME 1 "date" "nnc version" "nnc"
      llvm::StringRef version = line.rsplit(" \"").first.rsplit(" \"").second;
      filler.add(line.split(' ').first.str() + "(1) \\- " +
                     version.drop_back().str(),
                 0);
      filler.end();
    } else if (!line.starts_with(".\\\"")) {
      filler.add(line, isHead ? kIndent : indent);
      if (isHead) {
        filler.end();
        indent = kItemIndent;
      }
      isHead = false;
    }
  }
  return filler.take();
}

} // namespace nnc::tools
