//===- Schema.h - How the elements of a tensor are held ---------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_SCHEMA_H
#define NNC_COMPILER_ROUTINES_SCHEMA_H

#include "dialects/nn/Nn.h"

namespace nnc {

/// How the elements of a tensor are held, apart from its shape: on which
/// device, their type, and their layout, in which for a weight the encoding
/// stands that it is stored in. Values between layers have schemas of which the
/// search chooses (SoftNeuro section III); an adapt brings a value from one
/// into another.
struct Schema {
  mlir::Type element;
  nn::LayoutAttr layout;  ///< null for row-major order
  llvm::StringRef device; ///< empty for the host

  static Schema of(mlir::RankedTensorType type) {
    return {type.getElementType(), nn::getLayout(type), nn::getDevice(type)};
  }
  /// Returns the type of a tensor of this schema with the shape of `type`.
  mlir::RankedTensorType on(mlir::RankedTensorType type) const {
    auto plain = mlir::RankedTensorType::get(type.getShape(), element);
    return nn::onDevice(nn::withLayout(plain, layout), device);
  }
};

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_SCHEMA_H
