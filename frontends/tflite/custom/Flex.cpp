//===- Flex.cpp - Options of custom operators -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/custom/Flex.h"

#include <cmath>

using namespace mlir;
using namespace nnc::tflite;

FlexOptions::FlexOptions(Layer &layer) : layer(layer) {
  ArrayRef<uint8_t> bytes = layer.getCustomOptions();
  std::vector<uint8_t> reused;
  if (bytes.size() < 3 ||
      !flexbuffers::VerifyBuffer(bytes.data(), bytes.size(), &reused) ||
      !flexbuffers::GetRoot(bytes.data(), bytes.size()).IsMap())
    report("has options that are no map of names and values");
  else
    map = flexbuffers::GetRoot(bytes.data(), bytes.size()).AsMap();
}

void FlexOptions::report(const Twine &why) {
  // If the map could not be read, only the first missing option is reported.
  if (sound || map.size() > 0)
    layer.broken(why);
  sound = false;
}

int64_t FlexOptions::getInt(const char *name, int64_t least, int64_t most,
                            std::optional<int64_t> otherwise) {
  flexbuffers::Reference value = map[name];
  if (value.IsNull() && otherwise)
    return *otherwise;
  // Unsigned numbers above INT64_MAX exceed every limit.
  bool isKnown =
      value.IsIntOrUint() && !(value.IsUInt() && value.AsUInt64() > INT64_MAX);
  int64_t number = isKnown ? value.AsInt64() : 0;
  if (isKnown && number >= least && number <= most)
    return number;
  report("needs an option '" + Twine(name) + "' from " + Twine(least) + " to " +
         Twine(most));
  return least;
}

float FlexOptions::getReal(const char *name, bool isScale) {
  flexbuffers::Reference value = map[name];
  float number = value.IsNumeric() ? value.AsFloat() : NAN;
  if (!std::isfinite(number) || (isScale && number == 0))
    report("needs an option '" + Twine(name) + "' that is a " +
           (isScale ? "number other than 0" : "number"));
  return number;
}

bool FlexOptions::getBool(const char *name, bool isNeeded) {
  flexbuffers::Reference value = map[name];
  if (value.IsNull() && !isNeeded)
    return false;
  if (!value.IsBool() && !value.IsIntOrUint())
    report("needs an option '" + Twine(name) + "' that is true or false");
  return value.AsBool();
}
