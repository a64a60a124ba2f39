//===- Fusion.h - One layer in the place of two ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PASSES_FUSION_H
#define NNC_COMPILER_PASSES_FUSION_H

#include "compiler/routines/Candidates.h"
#include "compiler/routines/FusedForms.h"
#include "compiler/routines/TuningFile.h"

namespace nnc {

/// What happens between two parts of a layer.
struct InnerEpilogue {
  mlir::Value scale; ///< a value a channel, or null; so is the bias
  mlir::Value bias;
  nn::InnerActivation activation = nn::InnerActivation::none;
  double low = 0, high = 0;
};

/// Sets the inner's activation to what `op` computes, if it can be that.
bool setActivation(mlir::Operation &op, InnerEpilogue &inner);

/// The layer's convolution if it is of 1 x 1, stride 1 and one group, or of one
/// filter a channel; or null.
nn::ConvOp getPointwise(nn::LayerOp layer);
nn::ConvOp getDepthwise(nn::LayerOp layer);

/// What images of type `x` have for each channel: one value.
mlir::RankedTensorType getPerChannelType(mlir::RankedTensorType x);

/// `own`, or where it is null a constant of `value` for each channel of images
/// of type `x`.
mlir::Value getPerChannel(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value own, mlir::RankedTensorType x,
                          double value);

/// The layer that computes what `first` and `second` do, beside them: with the
/// second's name and epilogue, and the anchor that `create` makes of `inputs`.
nn::LayerOp createOneLayer(
    nn::LayerOp first, nn::LayerOp second, mlir::ValueRange inputs,
    mlir::OpBuilder &builder,
    llvm::function_ref<mlir::Value(mlir::Location, mlir::Block &)> create);

/// The epilogue of the first of two convolutions, of floats with constant
/// weights, if it is a constant bias and an activation, or less.
std::optional<InnerEpilogue> getInnerEpilogue(nn::LayerOp first,
                                              nn::LayerOp second);

/// The layer of an Op for two convolutions with `inner` between them, of which
/// `window` is the one that has more than a pixel in its filters.
template <class Op>
nn::LayerOp createOneLayer(nn::LayerOp first, nn::LayerOp second,
                           const InnerEpilogue &inner, nn::ConvOp window) {
  mlir::OpBuilder builder(second);
  mlir::RankedTensorType between = nn::getTensorType(first.getY());
  mlir::SmallVector<mlir::Value> inputs = {
      first.getInputs()[0], first.getInputs()[1],
      getPerChannel(builder, first.getLoc(), inner.bias, between, 0),
      second.getInputs()[1]};
  return createOneLayer(
      first, second, inputs, builder,
      [&](mlir::Location loc, mlir::Block &block) {
        return builder.create<Op>(
            loc, second.getAnchorOp()->getResult(0).getType(), inner.activation,
            block.getArgument(0), block.getArgument(1), block.getArgument(2),
            block.getArgument(3), window.getStrides(), window.getDilations(),
            window.getPads(), llvm::APFloat(inner.low),
            llvm::APFloat(inner.high));
      });
}

/// Makes one layer of two, beside them, or null.
using FuseFunction = nn::LayerOp (*)(nn::LayerOp first, nn::LayerOp second);

/// Of a depthwise layer and one of 1 x 1.
nn::LayerOp fuseSeparable(nn::LayerOp first, nn::LayerOp second);

/// What is fused, and when.
struct FusionRule {
  FusedForm form;
  FuseFunction fuse;
  /// Of the second and what alone reads it: where that saves more, the first
  /// stays apart. Or null.
  FuseFunction rival;
  bool countsFetch; ///< two also bring the place of what lies between them near
};

struct FusionOptions : FusionRule {
  llvm::StringRef target;
  double maxError;         ///< of what computes a layer
  const TuningFile *tuned; ///< whose choice of a routine decides; or null
};

/// For each convolution that alone reads another layer, and of which one layer
/// is made with it: puts that into the place of both where it is faster, else
/// erases it.
mlir::LogicalResult fuseLayers(mlir::ModuleOp module,
                               const FusionOptions &options);

/// A pass that does so by Pass::getRule(), with the options `target` and
/// `maxError`.
template <class Pass, template <class> class Base, class Options>
class FusionPass : public Base<Pass> {
public:
  using Base<Pass>::Base;
  FusionPass(Options options, std::shared_ptr<const TuningFile> tuned)
      : Base<Pass>(std::move(options)), tuned(std::move(tuned)) {}

  void runOnOperation() override {
    FusionOptions options{Pass::getRule(), this->target, this->maxError,
                          tuned.get()};
    if (failed(fuseLayers(this->getOperation(), options)))
      this->signalPassFailure();
  }

private:
  std::shared_ptr<const TuningFile> tuned;
};

} // namespace nnc

#endif // NNC_COMPILER_PASSES_FUSION_H
