//===- Printable.cpp - A model's text as people may see it ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/exec/Printable.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Unicode.h"

using llvm::StringRef;

/// Returns true for characters that terminals show. LLVM classifies soft
/// hyphens as printable, but most terminals do not show them.
static bool isPrintable(llvm::UTF32 c) {
  return c != 0xad && llvm::sys::unicode::isPrintable(static_cast<int>(c));
}

std::string nnc::exec::escapeUnprintable(StringRef text, char control) {
  std::string sound = llvm::json::fixUTF8(text), result;
  const auto *at = reinterpret_cast<const llvm::UTF8 *>(sound.data()),
             *end = at + sound.size();
  while (at != end) {
    const llvm::UTF8 *start = at;
    llvm::UTF32 c = 0, *to = &c;
    if (*at < 0x80) {
      result += llvm::isPrint(static_cast<char>(*at)) ? static_cast<char>(*at)
                                                      : control;
      ++at;
      continue;
    }
    llvm::ConvertUTF8toUTF32(&at, at + llvm::getNumBytesForUTF8(*at), &to,
                             &c + 1, llvm::lenientConversion);
    if (isPrintable(c))
      result.append(start, at);
    else
      result += llvm::formatv("<U+{0:X-4}>", static_cast<uint32_t>(c));
  }
  return result;
}

/// Returns true if `c` is a byte of a UTF-8 character, but not its first.
static bool isContinued(char c) { return (c & 0xc0) == 0x80; }

std::string nnc::exec::shortenMiddle(StringRef text, size_t most) {
  static constexpr llvm::StringLiteral kEllipsis = "...";
  if (text.size() <= most)
    return text.str();
  size_t head = (most - kEllipsis.size()) / 2;
  size_t tail = text.size() - head;
  while (head > 0 && isContinued(text[head]))
    --head;
  while (tail < text.size() && isContinued(text[tail]))
    ++tail;
  return (text.take_front(head) + kEllipsis + text.drop_front(tail)).str();
}

std::string nnc::exec::shortenWords(StringRef text, size_t most) {
  std::string result;
  while (!text.empty()) {
    StringRef word = text.take_until([](char c) { return c == ' '; });
    result += shortenMiddle(word, most);
    text = text.drop_front(word.size());
    if (text.consume_front(" "))
      result += ' ';
  }
  return result;
}
