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

/// The difference of a compressed model from the original one.
struct Evaluation : accuracy::Score {
  std::vector<accuracy::OutputNoise> outputs; ///< empty without samples
};

/// A model that can be run and whose weights a Compressor compresses. Functions
/// that fail have reported an error.
class EvaluatedModel {
public:
  virtual ~EvaluatedModel() = default;
  virtual Compressor &getCompressor() = 0;
  /// Compares the model with its present compression with the original one.
  virtual llvm::LogicalResult evaluate(Evaluation &evaluation) = 0;
  /// Finds the relative error that each weight causes in the results of the
  /// layers that read it: the sum of squared differences divided by that of the
  /// values, added up over the layers. Without samples, and for layers in
  /// bodies of branches and loops, it is the relative error of the weights
  /// themselves.
  virtual llvm::LogicalResult measureErrors(std::vector<double> &errors) = 0;
  /// Starts to show the progress of the choice of layers.
  virtual std::unique_ptr<accuracy::SearchProgress> showSearch() = 0;
};

/// Compresses the most sensitive layers less until the drop of the metric is at
/// most `maxDrop`. First, as many layers as needed get 256 clusters. If that is
/// not enough for all of them, the most sensitive layers keep their own
/// weights, and then as many of the others as possible get the number of
/// clusters back that was asked for. `evaluation` must hold that of the model
/// with all layers compressed as asked, and is set to that of the result.
/// `evaluated` is raised by the number of evaluated models.
llvm::LogicalResult limitDrop(EvaluatedModel &model, double maxDrop,
                              Evaluation &evaluation, int &evaluated);

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_DROPSEARCH_H
