//===- Quantizer.h - A float ONNX model becomes a quantized one -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_QUANTIZE_QUANTIZER_H
#define NNC_FRONTENDS_ONNX_QUANTIZE_QUANTIZER_H

#include "compiler/quantize/AffineFolds.h"
#include "compiler/quantize/Methods.h"
#include "compiler/quantize/Range.h"
#include "frontends/common/Import.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace nnc::onnx {

struct QuantizeOptions {
  bool perChannel = false; ///< scales of weights
  /// The values whose channels equalize() scales; empty: none.
  quantize::ChannelRanges channelRanges;
  /// Scales and shifts behind layers that were folded into weights, as the
  /// import of the model found them.
  std::vector<quantize::AffineFold> folds;
  /// Whether the results of products that only float nodes read stay unrounded.
  bool unrounded = false;
  quantize::Storage storage = quantize::Storage::s8; ///< of activations
  std::set<std::string> exclude;                     ///< names of nodes
  std::set<std::string> ops; ///< operators to quantize; empty: all
};

/// A layer of the model that is quantized.
struct LayerSummary {
  int node; ///< number that stays the same as long as the model is open
  std::string name, op;
  std::vector<std::string> inputs; ///< names of quantized tensors
  std::string output;
  bool isMove;    ///< moves elements, which keep their scale
  bool isRounded; ///< whether the output is, see QuantizeOptions::unrounded
};

/// A node that could be quantized by its kind, but is not.
struct FloatSummary {
  std::string name, op, reason;
  /// Whether it multiplies by weights, or the user or the search decided it.
  bool isImportant;
};

/// A float model while it is being quantized. It does not run the model: it
/// writes models that observe what has to be known, and is told the results.
class Quantizer {
public:
  /// Reads the model at `path`, raises its operator set where it has to be,
  /// folds batch norms, equalizes its weights if ranges are given, and plans
  /// what to quantize. Returns null, and reports why, if that fails.
  static std::unique_ptr<Quantizer> open(llvm::StringRef path,
                                         llvm::StringRef externalData,
                                         const QuantizeOptions &options,
                                         mlir::MLIRContext &context,
                                         frontends::ImportStatus &status);
  ~Quantizer();

  /// Names of all nodes of the file.
  const std::vector<std::string> &getNodeNames() const;
  /// Name of a node that computes on quantized values already, or "".
  std::string findQuantizedNode() const;
  int getNumFolded() const;      ///< batch norms and other factors of channels
  int getNumEqualized() const;   ///< pairs of layers
  int64_t getFloatBytes() const; ///< with its external data
  int64_t getOpset() const;
  int getNumOutputs() const; ///< of the model itself

  std::vector<LayerSummary> getLayers() const;
  std::vector<FloatSummary> getFloats() const;
  /// The tensors that are quantized, in the order in which they are computed.
  std::vector<std::string> getTensors() const;
  /// Returns what computes a tensor: "node 'conv1' (Conv)", or "an input".
  std::string describeProducer(const std::string &tensor) const;

  /// The values whose channels equalization could scale, see equalize().
  std::vector<std::string> getEqualizable() const;

  /// Whether a tensor is the result of a softmax, perhaps in another shape.
  bool isSoftmax(const std::string &tensor) const;

  /// Excludes a tensor; `reason` follows its name in a sentence.
  void setUnusable(const std::string &tensor, const std::string &reason);
  /// Sets which layers stay floats, by their node, and why.
  void keepFloats(const std::map<int, std::string> &nodes);
  /// Sets the ranges of the tensors and derives their scales.
  void setRanges(const std::map<std::string, quantize::Range> &ranges);
  quantize::Parameters getParameters(const std::string &tensor) const;

  /// Serializes the float model with the quantized tensors, and `others`, as
  /// additional outputs.
  llvm::Expected<std::string>
  printObserved(llvm::ArrayRef<std::string> others) const;
  /// Serializes a model whose additional outputs are what the quantization of
  /// its weights alone adds to the sums of each layer with a bias, or with
  /// room for one. `outputs` gives the layer's node of each.
  llvm::Expected<std::string>
  printWeightErrors(std::map<std::string, int> &outputs);
  /// Subtracts the means over the channels from the layer's bias. The channels
  /// are axis 1 of Conv and ConvTranspose, and the last axis of others.
  void correctBias(int node, const std::vector<double> &means);
  /// Serializes the quantized model; if `observed` is not null, with the
  /// dequantized tensors as additional outputs, whose names are put there by
  /// those of the tensors.
  llvm::Expected<std::string>
  printQuantized(std::map<std::string, std::string> *observed = nullptr) const;
  /// Serializes the quantized model without the shapes that the file states for
  /// what it computes: they may not fit the shapes that the user gave inputs.
  llvm::Expected<std::string> printWithoutShapes() const;

private:
  struct Implementation;
  explicit Quantizer(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> own;
};

/// Returns the operators that can be quantized, as users name them.
const std::vector<std::string> &getQuantizableOps();

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QUANTIZE_QUANTIZER_H
