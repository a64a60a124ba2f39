//===- PanelFilters.h - Weights of convolutions in panels for GPUs --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_ENCODINGS_PANELFILTERS_H
#define NNC_DIALECTS_NN_ENCODINGS_PANELFILTERS_H

#include "dialects/nn/encodings/WeightEncoding.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm_plan.h"

namespace nnc::nn {

/// An encoding of the weights of a convolution, whose axes are filters,
/// channels and taps, in panels of filters that kernels of a GPU read.
class PanelFilters : public WeightEncoding {
public:
  using WeightEncoding::WeightEncoding;

  mlir::LogicalResult verifyBlocks(LayoutAttr layout,
                                   EmitError emitError) const override {
    llvm::SmallVector<LayoutAttr::Block> blocks = layout.getBlocks();
    llvm::SmallVector<unsigned> axes = layout.getOuterAxes();
    if (blocks.size() == 1 && blocks.front().size == gemm_panel &&
        blocks.front().axis == 0 && axes.size() > 2 && axes.front() == 0 &&
        axes.back() == 1)
      return mlir::success();
    return emitError() << "needs one block, of " << gemm_panel
                       << " filters, and the axes in the order of filters, "
                          "taps and channels";
  }

  bool takes(mlir::Type element) const override {
    return element.isF32() || isHalf(element) || element.isSignlessInteger(8);
  }

protected:
  /// Stores the elements in the order in which weights.visit() tells their
  /// filters, taps and channels. A filter of -1 stands for a zero.
  template <class Weights>
  static void encodeAs(const Weights &weights, mlir::RankedTensorType type,
                       llvm::ArrayRef<float> weight,
                       llvm::MutableArrayRef<float> stored) {
    const int64_t channels = type.getDimSize(1);
    float *next = stored.data();
    weights.visit(getElementBytes(type.getElementType()),
                  [&](int filter, int tap, int channel) {
                    const int64_t row = filter * channels + channel;
                    *next++ =
                        filter < 0 ? 0.0f : weight[row * weights.taps + tap];
                  });
  }
};

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_ENCODINGS_PANELFILTERS_H
