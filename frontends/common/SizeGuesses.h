//===- SizeGuesses.h - Sizes to try for dimensions that are left open -----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_SIZEGUESSES_H
#define NNC_FRONTENDS_COMMON_SIZEGUESSES_H

#include "frontends/common/Import.h"
#include "frontends/common/TensorInfo.h"

#include "llvm/ADT/ArrayRef.h"

namespace nnc::frontends {

/// Sizes for all open dimensions of a model. With them the rest of the model
/// can be checked although nobody has said how large its inputs are.
struct SizeGuess {
  GivenShapes shapes; ///< those that the user gave are among them
  /// The arguments that bind the dimensions, quoted for a shell:
  /// "--shape image=1x3x224x224". Inputs whose sizes follow from those of
  /// others are left out.
  std::string arguments;
};

/// Returns `text` as a word that a user can type into a shell.
std::string quoteForShell(llvm::StringRef text);

/// Whether an open first dimension may be the number of samples, as its name
/// tells. Without a telling name it is, unless all inputs have this dimension
/// alone (`hasRows` is false): then it may be a length.
bool mayBeBatch(llvm::StringRef symbol, bool hasRows);

/// Returns sizes for `open`, inputs of which some dimensions have no size, the
/// likeliest first. A dimension's name tells what it may be: a batch is of 1,
/// an image of 224 x 224, a sequence of 128. A name has one size in all inputs,
/// and one such as "past + 1" has what it says.
std::vector<SizeGuess> guessSizes(llvm::ArrayRef<TensorInfo> open,
                                  const GivenShapes &given);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_SIZEGUESSES_H
