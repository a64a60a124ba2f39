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
  /// Reads the options of `layer`. If their bytes are not a map, reports an
  /// error and has no options.
  explicit FlexOptions(Layer &layer);

  /// Returns the integer option `name`, which must be in [`least`, `most`], or
  /// `otherwise` if the map lacks it.
  int64_t getInt(const char *name, int64_t least, int64_t most,
                 std::optional<int64_t> otherwise = {});
  /// Returns the option `name`, a finite number. It must not be 0 if `isScale`
  /// is set.
  float getReal(const char *name, bool isScale);
  /// Returns the option `name`, a Boolean or an integer. If the map lacks it,
  /// returns false, and reports an error if `isNeeded` is set.
  bool getBool(const char *name, bool isNeeded = false);

  /// Returns true if no error has been reported.
  bool isSound() const { return sound; }

private:
  void report(const llvm::Twine &why);

  Layer &layer;
  flexbuffers::Map map = flexbuffers::Map::EmptyMap();
  bool sound = true;
};

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_CUSTOM_FLEX_H
