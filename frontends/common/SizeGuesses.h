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

/// A guess of the sizes of all open dimensions of a model. It allows checking
/// the rest of the model before the user gives the sizes of its inputs.
struct SizeGuess {
  GivenShapes shapes; ///< includes the shapes that the user gave
  /// The arguments that bind the dimensions, quoted for a shell:
  /// "--shape image=1x3x224x224". Inputs whose sizes follow from those of
  /// others are left out.
  std::string arguments;
};

/// Returns `text` as a word that a user can type into a shell.
std::string quoteForShell(llvm::StringRef text);

/// Returns true if an open first dimension called `symbol` may be the number of
/// samples. If the name does not tell, the result is `hasRows`: whether an
/// input has further dimensions. If none has, the dimension may be a length.
bool mayBeBatch(llvm::StringRef symbol, bool hasRows);

/// Returns guesses of sizes for `open`, inputs with some open dimensions, the
/// likeliest guess first. The name of a dimension suggests its size: 1 for a
/// batch, 224 x 224 for an image, 128 for a sequence. All dimensions of one
/// name have the same size. A name such as "past + 1" is evaluated.
std::vector<SizeGuess> guessSizes(llvm::ArrayRef<TensorInfo> open,
                                  const GivenShapes &given);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_SIZEGUESSES_H
