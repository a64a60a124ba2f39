//===- Compressor.h - A model becomes one with fewer weights ----*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_COMPRESSION_COMPRESSOR_H
#define NNC_COMPILER_COMPRESSION_COMPRESSOR_H

#include "compiler/compression/LayerInputs.h"
#include "compiler/compression/SecondOrder.h"
#include "dialects/nn/stored_weights/forms/StoredSizes.h"

#include "llvm/Support/Error.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace nnc::compression {

struct Options {
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
  stored::MatrixShape shape;
  Treatment treatment = Treatment::asked;
  /// The reason why the inputs of the layer are not observed, so that weights
  /// are chosen by their magnitudes; "" if they are observed.
  std::string unobserved;
};

/// A constant that would be compressed but for the reason.
struct LeftSummary {
  std::string name, node, op, reason;
  bool isFinite = true;
};

/// The weights of a layer as they were compressed.
struct CompressedSizes {
  stored::StoredSizes stored;
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

/// One use of a weight: the input tensor of the layer, by the name that the
/// compressor gives it, and which vectors of that tensor are multiplied by the
/// rows of the weight.
struct ObservedUse {
  std::string tensor;
  LayerInputs vectors;
};

/// Why nothing is known of what weights multiply that several layers read.
inline constexpr const char *kDifferentForms =
    "is read by nodes that sum over different axes or groups of it";

/// A model while its weights are being compressed. It does not run the model.
/// Models of different forms are read and written by what is derived from it.
class Compressor {
public:
  Compressor(const Compressor &) = delete;
  virtual ~Compressor();

  /// Names of all nodes of the file.
  const std::vector<std::string> &getNodeNames() const { return nodeNames; }
  /// Batch norms and other factors of channels that became part of weights.
  int getNumFolded() const { return folded; }
  /// Bytes of the model before, with external data.
  int64_t getFileBytes() const { return fileBytes; }
  virtual int getNumOutputs() const = 0;
  /// Whether an output is the result of a softmax, perhaps in another shape.
  virtual bool isSoftmax(const std::string &output) const = 0;

  const std::vector<WeightSummary> &getWeights() const { return summaries; }
  const std::vector<LeftSummary> &getLeft() const { return left; }
  /// Returns whether Treatment::finer gives other weights than
  /// Treatment::asked.
  bool canBeFiner() const;
  void setTreatment(size_t weight, Treatment treatment) {
    summaries[weight].treatment = treatment;
  }

  /// Returns the tensors that weights multiply, to be observed by second order.
  /// They are outputs or inputs of the model that printOriginal() writes.
  std::vector<std::string> getObserved() const;
  /// Returns the name of such a tensor in the model.
  virtual std::string describeTensor(const std::string &tensor) const = 0;
  /// Describes the first node that reads a tensor: its name and operator.
  virtual std::string describeReader(const std::string &tensor) const = 0;
  /// Adds the elements of such a tensor in one of `samples` samples.
  void observe(const std::string &tensor, llvm::ArrayRef<int64_t> shape,
               llvm::ArrayRef<float> values, size_t samples);
  /// Compresses a weight as it is to be now, unless it is done: by second order
  /// that takes a while. The functions below do it themselves otherwise.
  void compress(size_t weight) const { (void)getCompressed(weight); }
  CompressedSizes measure(size_t weight) const;

  /// Serializes the model with its own weights. Its outputs come first; those
  /// of the tensors to be observed that are no inputs follow.
  virtual llvm::Expected<std::string> printOriginal() const = 0;
  /// Serializes the model with its own weights, and nodes that compute what
  /// the compression of each weight changes at the layers that read it.
  virtual llvm::Expected<std::string>
  printErrors(std::vector<ObservedError> &errors) const = 0;
  /// Serializes the compressed model as the file `path` holds it.
  virtual llvm::Expected<std::string>
  printCompressed(llvm::StringRef path) const = 0;
  /// Serializes the compressed model to be run on the samples.
  virtual llvm::Expected<std::string> printToRun() const = 0;

protected:
  explicit Compressor(Options options) : options(std::move(options)) {}

  /// Adds a weight; `uses` are those of all layers that read it, or none if
  /// `summary.unobserved` says why.
  void addWeight(WeightSummary summary, std::vector<ObservedUse> uses);
  /// Returns the model's own elements of a weight as a matrix: floats, or
  /// integers minus their zero point.
  virtual std::vector<float> getOwn(size_t weight) const = 0;
  /// Returns the scale of each element of the matrix; none for floats.
  virtual std::vector<float> getScales(size_t weight) const = 0;
  /// Returns the bytes of an element in the model.
  virtual int getElementBytes(size_t weight) const = 0;

  /// Returns the matrix of a weight that is treated in a way.
  const std::vector<float> &getMatrix(size_t weight, Treatment treatment) const;

  const Options options;
  std::vector<std::string> nodeNames;
  int folded = 0;
  int64_t fileBytes = 0;
  std::vector<WeightSummary> summaries;
  std::vector<LeftSummary> left;

private:
  /// The statistics of the inputs of the layers that read a weight.
  struct ObservedInputs {
    std::vector<ObservedUse> uses; ///< none if nothing is known
    compression::InputMoments moments;
  };
  /// A weight as it was compressed.
  struct CompressedWeight {
    std::vector<float> matrix;
    std::optional<compression::OutputErrors> errors;
  };

  const CompressedWeight &getCompressed(size_t weight,
                                        Treatment treatment) const;
  const CompressedWeight &getCompressed(size_t weight) const {
    return getCompressed(weight, summaries[weight].treatment);
  }

  std::vector<ObservedInputs> inputs; ///< of the weights
  /// Compressed weights, by the number of the weight.
  mutable std::map<std::pair<size_t, Treatment>, CompressedWeight> known;
};

/// Replaces the elements of a matrix by fewer different ones or zeros, by their
/// magnitudes or, with `moments` of the inputs, by second order. Returns the
/// errors of the layers' results where these are known.
std::optional<compression::OutputErrors>
compressMatrix(std::vector<float> &matrix, const stored::MatrixShape &shape,
               llvm::ArrayRef<float> scales,
               const compression::WeightGoal &goal,
               const compression::InputMoments *moments);

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_COMPRESSOR_H
