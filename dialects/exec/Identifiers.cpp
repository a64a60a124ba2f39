//===- Identifiers.cpp - From a model's names to C identifiers ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/exec/Identifiers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using namespace nnc;
using namespace nnc::exec;

//===----------------------------------------------------------------------===//
// Characters
//===----------------------------------------------------------------------===//

/// The letters U+00C0 to U+017F without their accents, one character each; '_'
/// stands for code points that are not letters.
static constexpr char kLatin[] =
    "AAAAAAACEEEEIIIIDNOOOOO_OUUUUYTsaaaaaaaceeeeiiiidnooooo_ouuuuyty"
    "AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIiJjJjKkkLlLlLlL"
    "lLlNnNnNnnNnOoOoOoOoRrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs";
static_assert(sizeof(kLatin) - 1 == 0x180 - 0xC0);

/// Returns `text` in ASCII. Letters lose their accents, and other characters
/// outside of ASCII become underscores.
static std::string toAscii(StringRef text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char first = text[i];
    if (first < 0x80) {
      result += char(first);
      continue;
    }
    unsigned char second = i + 1 < text.size() ? text[i + 1] : 0;
    bool isPair = (first & 0xE0) == 0xC0 && (second & 0xC0) == 0x80;
    unsigned point = isPair ? (first & 0x1Fu) << 6 | (second & 0x3Fu) : 0;
    result += point >= 0xC0 && point < 0x180 ? kLatin[point - 0xC0] : '_';
    i += isPair;
  }
  return result;
}

std::string exec::toCWords(StringRef text) {
  std::string result;
  for (char c : toAscii(text)) {
    char next = llvm::isAlnum(c) ? c : '_';
    if (next != '_' || (!result.empty() && result.back() != '_'))
      result += next;
  }
  while (!result.empty() && result.back() == '_')
    result.pop_back();
  return result;
}

//===----------------------------------------------------------------------===//
// Reserved names
//===----------------------------------------------------------------------===//

static bool isReserved(StringRef name) {
  static const llvm::StringSet<> names = {
  // clang-format off
#define NNC_NAME(name) #name,
#include "dialects/exec/ReservedNames.inc"
      // clang-format on
  };
  return names.contains(name);
}

/// Returns true if a name begins like a macro of the standard headers: NULL,
/// M_PI, PRId64, L_tmpnam, B0.
static bool looksLikeMacro(StringRef name) {
  return name.size() > 1 && !llvm::isLower(name[0]) && !llvm::isLower(name[1]);
}

/// Returns `name`, changed to lower case if it begins like a macro: its first
/// word, or the whole name if that has no lower-case letter.
static std::string unlikeMacro(StringRef name) {
  if (!looksLikeMacro(name) || !llvm::isAlpha(name[0]))
    return name.str();
  if (llvm::none_of(name, llvm::isLower))
    return name.lower();
  auto [first, rest] = name.split('_');
  return first.lower() + name.substr(first.size()).str();
}

/// Returns true for names that begin like nnc's own macros, functions and
/// types.
static bool isOurs(StringRef name) {
  return name == "nnc" || name.starts_with_insensitive("nnc_");
}

static bool isIdentifier(StringRef name) {
  return !name.empty() && llvm::isAlpha(name[0]) && toCWords(name) == name;
}

bool exec::isUsableIdentifier(StringRef name) {
  return isIdentifier(name) && !looksLikeMacro(name) && !isOurs(name) &&
         !isReserved(name);
}

bool exec::isFunctionName(StringRef name) {
  return !name.empty() && !llvm::isDigit(name[0]) &&
         llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

//===----------------------------------------------------------------------===//
// The most telling parts of a name
//===----------------------------------------------------------------------===//

/// Returns true for parts that exporters add to every name: the names of
/// wrapper functions, of variable reads, and of the graph itself.
static bool isBoilerplate(StringRef part) {
  StringRef word = part.rtrim("0123456789");
  word.consume_back("_");
  return llvm::is_contained({"StatefulPartitionedCall", "PartitionedCall",
                             "ReadVariableOp", "main_graph"},
                            word);
}

/// Returns the first name of a list "a;b;c" that consists of more than
/// boilerplate, without the output number ":0" at its end.
static StringRef trimName(StringRef name) {
  while (name.contains(';')) {
    auto [first, rest] = name.split(';');
    bool tells = llvm::any_of(llvm::split(first, '/'), [](StringRef part) {
      return !part.trim().empty() && !isBoilerplate(part);
    });
    name = tells ? first : rest;
  }
  name.consume_back(":0");
  name.consume_back("_output_0");
  name.consume_front("serving_default_");
  name.consume_front("onnx::");
  return name;
}

/// Splits a text into words. A number stays in one word with the word that it
/// numbers.
static SmallVector<std::string> splitParts(StringRef text, StringRef at) {
  SmallVector<StringRef> pieces;
  SmallVector<std::string> parts;
  llvm::SplitString(text, pieces, at);
  for (StringRef piece : pieces) {
    std::string words = toCWords(piece);
    if (words.empty())
      continue;
    if (!parts.empty() && llvm::all_of(words, llvm::isDigit))
      parts.back() += "_" + words;
    else
      parts.push_back(words);
  }
  return parts;
}

/// Returns the number at the end of a part and the word before it: "block_12"
/// of "inverted_residual_block_12".
static StringRef getTail(StringRef part) {
  size_t number = part.rfind('_');
  if (number == StringRef::npos || !llvm::isDigit(part.back()))
    return part;
  size_t word = part.take_front(number).rfind('_');
  return word == StringRef::npos ? part : part.substr(word + 1);
}

/// Joins as many parts as fit into `limit` characters, in the model's order.
/// The last part is taken first, then parts with numbers ("layer_11") from the
/// end on, then the others. Parts with numbers that do not fit are cut to their
/// tails (getTail).
static std::string joinParts(ArrayRef<std::string> parts, size_t limit) {
  SmallVector<StringRef> kept(parts.size());
  kept.back() = parts.back();
  size_t size = parts.back().size();
  auto add = [&](size_t i, StringRef part) {
    if (size + 1 + part.size() > limit)
      return false;
    size += 1 + part.size();
    kept[i] = part;
    return true;
  };
  for (bool numbered : {true, false})
    for (size_t i = parts.size() - 1; i-- > 0;)
      if (llvm::any_of(parts[i], llvm::isDigit) == numbered &&
          !add(i, parts[i]) && numbered)
        add(i, getTail(parts[i]));
  std::string text;
  for (StringRef part : kept)
    if (!part.empty())
      text += (text.empty() ? "" : "_") + part.str();
  return text;
}

/// Returns the most telling parts of `name`, at most `limit` characters.
static std::string pickWords(StringRef name, size_t limit) {
  std::string ascii = toAscii(trimName(name));
  SmallVector<std::string> parts = splitParts(ascii, "/");
  SmallVector<std::string> telling;
  for (StringRef part : parts)
    if (!isBoilerplate(part))
      telling.push_back(part.str());
  if (telling.empty() && !parts.empty())
    telling.push_back(parts.back());
  if (telling.empty())
    return "";
  std::string whole = llvm::join(telling, "_");
  if (whole.size() <= limit)
    return whole;
  // If a single part is too long, the words within it are used as parts.
  for (StringRef separators : {"/", "/.", "/._-: "}) {
    SmallVector<std::string> finer;
    for (const std::string &part : splitParts(ascii, separators))
      if (!isBoilerplate(part))
        finer.push_back(part);
    if (!finer.empty() && finer.back().size() <= limit)
      return joinParts(finer, limit);
  }
  return toCWords(StringRef(whole).take_front(limit));
}

/// The least number of characters that are kept of a name, however long the
/// suffix behind it is.
static constexpr size_t kLeastWords = 12;

std::string nnc::exec::makeIdentifier(StringRef name, StringRef kind,
                                      size_t limit, StringRef end) {
  auto make = [&](StringRef head) {
    size_t used = head.size() + end.size();
    size_t room = std::max(limit - std::min(limit, used), kLeastWords);
    std::string words = pickWords(name, room);
    if (words.empty())
      return (kind + end).str();
    return unlikeMacro((head + words + end).str());
  };
  std::string text = make("");
  return isUsableIdentifier(text) ? text : make((kind + "_").str());
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Returns the header or CMake target that already has the name `name`, as the
/// end of a sentence, or an empty string.
static std::string findClash(StringRef name) {
  std::string lower = name.lower();
#define NNC_HEADER(header)                                                     \
  if (lower == #header)                                                        \
    return "is the name of the header <" #header ".h>, which " + name.str() +  \
           ".h would hide";
#define NNC_TARGET(target)                                                     \
  if (lower == #target)                                                        \
    return "is a name that CMake or a system library has already";
#include "dialects/exec/ModuleNames.inc"
  if (StringRef(lower).ends_with("intrin"))
    return "is the name of a compiler's header, which " + name.str() +
           ".h would hide";
  return "";
}

std::string exec::findModuleNameProblem(StringRef name) {
  if (name.empty())
    return "is empty";
  if (!isIdentifier(name))
    return "is no identifier of C: letters, digits and single underscores, a "
           "letter first";
  if (name.size() > kMaxIdentifier)
    return "is longer than " + std::to_string(kMaxIdentifier) + " characters";
  if (std::string clash = findClash(name); !clash.empty())
    return clash;
  if (isOurs(name))
    return "belongs to nnc, as do all names that begin with nnc_";
  if (looksLikeMacro(name))
    return "looks like a macro";
  return isReserved(name) ? "is a word that C, C++ or the code itself uses"
                          : "";
}

std::string exec::makeModuleName(StringRef name) {
  std::string words = toCWords(name);
  words = unlikeMacro(words);
  while (words.size() > kMaxIdentifier)
    words = toCWords(StringRef(words).take_front(kMaxIdentifier));
  if (words.empty())
    return "model";
  if (findModuleNameProblem(words).empty())
    return words;
  return "model_" + toCWords(StringRef(words).take_front(kMaxIdentifier - 6));
}
