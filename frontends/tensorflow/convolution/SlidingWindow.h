//===- SlidingWindow.h - Sliding windows over images ------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_CONVOLUTION_SLIDINGWINDOW_H
#define NNC_FRONTENDS_TENSORFLOW_CONVOLUTION_SLIDINGWINDOW_H

#include "frontends/common/Window.h"
#include "frontends/tensorflow/graph/Layer.h"

namespace nnc::tensorflow {

/// Returns true if the attribute `data_format` puts the channels last.
bool isChannelsLast(Layer &layer);

/// Returns the image `x` with the channels second, whatever the data format;
/// null after an error if it has not 3 to 5 axes.
mlir::Value toImage(Layer &layer, mlir::Value x);
/// Returns a result with the channels second in the data format of the node.
mlir::Value fromImage(Layer &layer, mlir::Value y);

/// Returns the spatial sizes of `values`, a list with one number for each axis
/// of an image in the node's data format. Reports lists of another length, and
/// numbers other than 1 for samples and channels.
std::optional<Sizes> getSpatial(Layer &layer, llvm::StringRef attribute,
                                llvm::ArrayRef<int64_t> values, int64_t rank);

/// Returns the window over images with these spatial `sizes` that the
/// attributes `strides`, `dilations`, `padding` and `explicit_paddings` state;
/// nullopt after an error.
std::optional<Window> readWindow(Layer &layer, llvm::ArrayRef<int64_t> sizes,
                                 llvm::ArrayRef<int64_t> kernel);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_CONVOLUTION_SLIDINGWINDOW_H
