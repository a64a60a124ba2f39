//===- DropSearch.h - Which layers are compressed less ----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_COMPRESSION_DROPSEARCH_H
#define NNC_COMPILER_COMPRESSION_DROPSEARCH_H

#include "compiler/accuracy/LeastCount.h"
#include "compiler/accuracy/Noise.h"
#include "compiler/compression/Compressor.h"

#include <memory>
#include <vector>

namespace nnc::compression {

/// How far a compressed model is from the original one.
struct Evaluation : accuracy::Score {
  std::vector<accuracy::OutputNoise> outputs; ///< none without samples
};

/// A model whose weights are compressed by a Compressor, and that can be run.
/// Functions that fail have reported why.
class EvaluatedModel {
public:
  virtual ~EvaluatedModel() = default;
  virtual Compressor &getCompressor() = 0;
  /// Compares the model as it is compressed now with the original one.
  virtual llvm::LogicalResult evaluate(Evaluation &evaluation) = 0;
  /// Finds how much of what the layers that read each weight compute changes
  /// with the weight: the sum of squared differences over that of the values,
  /// added up over the layers. Without samples, and for layers in bodies, it
  /// is that of the weights.
  virtual llvm::LogicalResult measureErrors(std::vector<double> &errors) = 0;
  /// Shows that layers are being chosen.
  virtual std::unique_ptr<accuracy::SearchProgress> showSearch() = 0;
};

/// Compresses the most sensitive layers less until the drop of the metric is at
/// most `maxDrop`: first as many as needed get 256 clusters; if all of them are
/// not enough, the most sensitive ones keep their own weights, and then as many
/// of the others as possible get their fewer clusters back. `evaluation` is
/// that of the model with all layers compressed as wanted, and becomes that of
/// the result. `evaluated` counts the models.
llvm::LogicalResult limitDrop(EvaluatedModel &model, double maxDrop,
                              Evaluation &evaluation, int &evaluated);

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_DROPSEARCH_H
