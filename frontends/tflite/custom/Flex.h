//===- Flex.h - Options of custom operators -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TFLITE_CUSTOM_FLEX_H
#define NNC_FRONTENDS_TFLITE_CUSTOM_FLEX_H

#include "frontends/tflite/graph/Layer.h"

#include "flatbuffers/flexbuffers.h"

namespace nnc::tflite {

/// The options of a custom operator: a map of names and values in the form of
/// flexbuffers. Options that are missing or make no sense are reported.
class FlexOptions {
public:
  /// Reports bytes that are no map; it has no options then.
  explicit FlexOptions(Layer &layer);

  /// Returns an integer from `least` to `most`; `otherwise` where the map lacks
  /// it.
  int64_t getInt(const char *name, int64_t least, int64_t most,
                 std::optional<int64_t> otherwise = {});
  /// Returns a finite number, as a scale one other than 0.
  float getReal(const char *name, bool isScale);
  /// Returns a truth value, which may be an integer; false where the map lacks
  /// it, unless it is needed.
  bool getBool(const char *name, bool isNeeded = false);

  /// Whether nothing has been reported.
  bool isSound() const { return sound; }

private:
  void report(const llvm::Twine &why);

  Layer &layer;
  flexbuffers::Map map = flexbuffers::Map::EmptyMap();
  bool sound = true;
};

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_CUSTOM_FLEX_H
