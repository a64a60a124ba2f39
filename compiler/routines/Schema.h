//===- Schema.h - Representation of the elements of a tensor -- -*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_SCHEMA_H
#define NNC_COMPILER_ROUTINES_SCHEMA_H

#include "dialects/nn/Nn.h"

namespace nnc {

/// The representation of a tensor's elements, apart from the shape: their
/// device, their type, and their layout, which for a weight includes the
/// encoding in which it is stored. The search chooses the schemas of the values
/// between layers (SoftNeuro, section III). An adapt converts a value from one
/// schema to another.
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
