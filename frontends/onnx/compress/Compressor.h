//===- Compressor.h - An ONNX model becomes one with fewer weights --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_COMPRESS_COMPRESSOR_H
#define NNC_FRONTENDS_ONNX_COMPRESS_COMPRESSOR_H

#include "dialects/nn/compression/SecondOrder.h"
#include "dialects/nn/compression/StoredSizes.h"
#include "frontends/common/Import.h"

#include "llvm/Support/Error.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace nnc::onnx {

struct CompressOptions {
  std::optional<double> sparsity; ///< share of each layer's weights
  std::optional<compression::Pattern> pattern;
  /// Most values that a layer's weights may have, or 0 for any number.
  int clusters = 0;
  /// Rows of the output that share a table of values, or 0 for all.
  int64_t block = 0;
  /// Whether weights are chosen by what they do to the results of layers, for
  /// which the inputs of these are observed.
  bool isSecondOrder = false;
  std::set<std::string> exclude; ///< names of nodes
};

/// How a layer's weights are compressed: as the options say, as they say but
/// with kMostValues clusters, or not at all.
enum class Treatment { asked, finer, none };

/// A constant that one layer multiplies by, or several.
struct WeightSummary {
  std::string name;
  std::vector<std::string> nodes; ///< names
  std::string op;                 ///< of the first node
  compression::MatrixShape shape;
  Treatment treatment = Treatment::asked;
  /// Why nothing is known of what the weights multiply, so that they are chosen
  /// by their magnitudes; "" otherwise.
  std::string unobserved;
};

/// A constant that would be compressed but for the reason.
struct LeftSummary {
  std::string name, node, op, reason;
  bool isFinite = true;
};

/// The weights of a layer as they were compressed.
struct CompressedSizes {
  compression::StoredSizes stored;
  /// Root mean square of the differences to the model's own weights, relative
  /// to that of these; for integers, of the numbers that they stand for.
  double error = 0;
  /// Errors of the layers' results; none where nothing was observed.
  std::optional<compression::OutputErrors> outputErrors;
  /// Whether these know how all columns of the inputs are related.
  bool isDense = true;
};

/// The squared norms of what a layer computes with its own weights, and of the
/// difference that the compression of these alone makes; names of outputs.
struct ObservedError {
  size_t weight; ///< number
  std::string signal, noise;
};

/// A model while its weights are being compressed. It does not run the model.
class Compressor {
public:
  /// Reads the model at `path` and folds batch norms: whoever folds them later
  /// would scale the channels of weights that share values. Returns null, and
  /// reports why, if that fails.
  static std::unique_ptr<Compressor> open(llvm::StringRef path,
                                          llvm::StringRef externalData,
                                          const CompressOptions &options,
                                          mlir::MLIRContext &context,
                                          frontends::ImportStatus &status);
  ~Compressor();

  /// Names of all nodes of the file.
  const std::vector<std::string> &getNodeNames() const;
  int getNumFolded() const;     ///< batch norms and other factors of channels
  int64_t getFileBytes() const; ///< of the model before, with external data
  int getNumOutputs() const;
  /// Whether a tensor is the result of a softmax, perhaps in another shape.
  bool isSoftmax(const std::string &tensor) const;

  const std::vector<WeightSummary> &getWeights() const;
  const std::vector<LeftSummary> &getLeft() const;
  /// Whether Treatment::finer leaves the weights other values than
  /// Treatment::asked.
  bool canBeFiner() const;
  void setTreatment(size_t weight, Treatment treatment);

  /// Returns the tensors that weights multiply, to be observed by second order.
  std::vector<std::string> getObserved() const;
  /// Describes the first node that reads a tensor: its name and operator.
  std::string describeReader(const std::string &tensor) const;
  /// Adds the elements of such a tensor in one of `samples` samples.
  void observe(const std::string &tensor, llvm::ArrayRef<int64_t> shape,
               llvm::ArrayRef<float> values, size_t samples);
  /// Compresses a weight as it is to be now, unless it is done: by second order
  /// that takes a while. The functions below do it themselves otherwise.
  void compress(size_t weight) const;
  CompressedSizes measure(size_t weight) const;

  /// Serializes the model with its own weights. Its outputs come first; those
  /// of the tensors to be observed that are no inputs follow.
  llvm::Expected<std::string> printOriginal() const;
  /// Serializes the model with its own weights, and nodes that compute what
  /// the compression of each weight changes at the layers that read it.
  llvm::Expected<std::string>
  printErrors(std::vector<ObservedError> &errors) const;
  /// Serializes the compressed model, whose metadata say how each weight was
  /// compressed.
  llvm::Expected<std::string> printCompressed() const;
  /// The model without the shapes that the file states for computed values.
  llvm::Expected<std::string> printWithoutShapes() const;

private:
  struct Implementation;
  explicit Compressor(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> own;
};

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_COMPRESS_COMPRESSOR_H
