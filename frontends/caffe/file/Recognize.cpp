//===- Recognize.cpp - Whether a file is of Caffe -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/caffe/file/Recognize.h"

#include "frontends/caffe/file/Wire.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace nnc::caffe;
using nnc::frontends::FileStart;

/// Removes spaces and comments from the front of a text.
static StringRef skipSpace(StringRef text) {
  for (;;) {
    text = text.ltrim(" \t\r\n,;");
    if (!text.starts_with("#"))
      return text;
    text = text.drop_until([](char c) { return c == '\n'; });
  }
}

/// Returns true if a text starts with fields of a NetParameter, of which one is
/// a layer or an input. Only the first of them need be in `text`.
static bool isPrototxt(StringRef text) {
  text.consume_front("\xEF\xBB\xBF"); // a byte order mark
  static constexpr StringLiteral kPlain[] = {"name", "force_backward",
                                             "debug_info"};
  for (;;) {
    text = skipSpace(text);
    StringRef key =
        text.take_while([](char c) { return isAlnum(c) || c == '_'; });
    StringRef rest = skipSpace(text.drop_front(key.size()));
    if (key == "layer" || key == "layers" || key == "input_shape")
      return rest.consume_front(":") ? skipSpace(rest).starts_with("{")
                                     : rest.starts_with("{");
    if (!rest.consume_front(":")) {
      if (key != "state" || !rest.starts_with("{"))
        return false;
      text = rest.drop_until([](char c) { return c == '}'; }).drop_front();
      continue;
    }
    if (key == "input" || key == "input_dim")
      return true;
    if (!is_contained(kPlain, key))
      return false;
    rest = skipSpace(rest);
    if (rest.empty())
      return false;
    char quote = rest.front();
    if (quote != '"' && quote != '\'') {
      text = rest.drop_while([](char c) { return isAlnum(c) || c == '_'; });
      continue;
    }
    size_t end = rest.find(quote, 1);
    if (end == StringRef::npos)
      return false;
    text = rest.drop_front(end + 1);
  }
}

/// Returns true if `data` starts as a layer does: with a name, a type, or the
/// name of a blob.
static bool startsAsLayer(StringRef data, bool isOld) {
  uint64_t tag, value;
  if (!takeVarint(data, tag) || !takeVarint(data, value))
    return false;
  uint64_t number = tag >> 3;
  bool isText = (tag & 7) == WireField::bytes;
  // An old layer has a V0 layer, bottoms, tops and its name first; one of today
  // its name, its type, bottoms and tops.
  bool isType = isOld && number == 5 && (tag & 7) == WireField::varint;
  return isType || (isText && number >= 1 && number <= 4);
}

bool nnc::caffe::isCaffemodel(StringRef bytes) {
  uint64_t tag, length;
  for (bool isFirst = true;; isFirst = false) {
    if (!takeVarint(bytes, tag) || (tag & 7) != WireField::bytes ||
        !takeVarint(bytes, length))
      return false;
    uint64_t number = tag >> 3;
    if (number == 100 || number == 2)
      return startsAsLayer(bytes, number == 2);
    // The network's name, then its inputs and their shapes.
    if ((number == 1 && !isFirst) ||
        (number != 1 && number != 3 && number != 8) || length > bytes.size())
      return false;
    if (number != 8 && !all_of(bytes.take_front(length), [](char c) {
          return static_cast<unsigned char>(c) >= 0x20;
        }))
      return false;
    bytes = bytes.drop_front(length);
    // The old shapes of inputs.
    while (bytes.starts_with("\x20")) {
      bytes = bytes.drop_front();
      if (!takeVarint(bytes, length))
        return false;
    }
  }
}

bool nnc::caffe::recognizes(const FileStart &start) {
  if (start.isFolder)
    return false;
  StringRef bytes(start.bytes), path(start.path);
  if (isCaffemodel(bytes))
    return true;
  if (isPrototxt(bytes))
    return true;
  // A text may start with a long comment, or with a field that is misspelt.
  if (!path.ends_with_insensitive(".prototxt") || bytes.contains('\0'))
    return false;
  StringRef text = skipSpace(bytes);
  StringRef key =
      text.take_while([](char c) { return isAlnum(c) || c == '_'; });
  StringRef rest = skipSpace(text.drop_front(key.size()));
  return text.empty() ||
         (!key.empty() && (rest.starts_with(":") || rest.starts_with("{")));
}
