//===- Fourier.h - Fourier transforms of lines ----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_FOURIER_H
#define NNC_FRONTENDS_COMMON_FOURIER_H

#include "frontends/common/LayerBuilder.h"

namespace nnc::frontends {

/// The length of the longest transform. Its roots of unity are constants of the
/// model.
inline constexpr int64_t kMaxLineLength = 1 << 24;

/// Returns a constant of the float type `element` whose values are computed in
/// f64.
mlir::Value makeReals(LayerBuilder &layer, llvm::ArrayRef<int64_t> shape,
                      mlir::Type element, llvm::ArrayRef<double> values);

/// Builds the nn.dft of lines of `length` elements of `x` along `axis`, which
/// begin every `step` elements, or of one line if `step` is 0. The last axis of
/// `x` holds the parts of a number. `window` has one element for each of a
/// line, or is null. Returns null after an error if a line is too long.
mlir::Value transformLines(LayerBuilder &layer, mlir::Value x,
                           mlir::Value window, int64_t axis, int64_t length,
                           int64_t step, bool isInverse, bool isOneSided);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_FOURIER_H
