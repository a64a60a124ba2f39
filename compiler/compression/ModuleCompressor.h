//===- ModuleCompressor.h - Compression of a module's weights ---*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_COMPRESSION_MODULECOMPRESSOR_H
#define NNC_COMPILER_COMPRESSION_MODULECOMPRESSOR_H

#include "compiler/compression/Weights.h"

namespace nnc::compression {

/// The compressor of a module imported by any frontend. The models that it
/// writes are modules, too.
class ModuleCompressor : public Compressor {
public:
  /// `module` must outlive the compressor. Its batch norms have been folded;
  /// `folded` is their number, and `fileBytes` the size of the model's file in
  /// bytes.
  ModuleCompressor(mlir::ModuleOp module, const Options &options, int folded,
                   int64_t fileBytes);

  int getNumOutputs() const override;
  bool isSoftmax(const std::string &output) const override;
  std::string describeTensor(const std::string &tensor) const override;
  std::string describeReader(const std::string &tensor) const override;
  llvm::Expected<std::string> printOriginal() const override;
  llvm::Expected<std::string>
  printErrors(std::vector<ObservedError> &errors) const override;
  /// Returns text if the path ends in .mlir, else bytecode.
  llvm::Expected<std::string>
  printCompressed(llvm::StringRef path) const override;
  llvm::Expected<std::string> printToRun() const override;

private:
  std::vector<float> getOwn(size_t weight) const override {
    return weights[weight].getMatrix();
  }
  std::vector<float> getScales(size_t weight) const override {
    return weights[weight].getScaleMatrix();
  }
  int getElementBytes(size_t weight) const override {
    return weights[weight].getElementBytes();
  }
  std::vector<ObservedUse> findUses(const Weights &own, std::string &reason);
  /// A value that weights multiply, and the first layer that does so.
  struct ObservedValue {
    mlir::Value value;
    mlir::Operation *layer;
  };
  const ObservedValue &getValue(const std::string &tensor) const;
  mlir::OwningOpRef<mlir::ModuleOp> makeCompressed() const;

  mutable mlir::ModuleOp module;
  mutable mlir::func::FuncOp main;
  std::vector<Weights> weights;        ///< for each summary
  std::vector<ObservedValue> observed; ///< by number
};

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_MODULECOMPRESSOR_H
