//===- Params.h - Reads an MXNet file of parameters -------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_MXNET_FILE_PARAMS_H
#define NNC_FRONTENDS_MXNET_FILE_PARAMS_H

#include "frontends/common/Problems.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <optional>
#include <string>

namespace nnc::mxnet {
using namespace nnc::frontends;

/// A parameter of the network, whose bytes are in the file.
struct Param {
  llvm::SmallVector<int64_t> shape;
  int32_t type = 0; ///< MXNet's number of the element type
  llvm::StringRef bytes;
};

/// The parameters of a network: the named arrays of a file that MXNet's
/// nd.save() wrote, mapped into memory.
struct Params {
  std::string path;
  std::shared_ptr<llvm::MemoryBuffer> file;
  llvm::StringMap<Param> arrays; ///< without the prefixes "arg:" and "aux:"

  const Param *find(llvm::StringRef name) const {
    auto found = arrays.find(name);
    return found == arrays.end() ? nullptr : &found->second;
  }
};

/// Returns the path of the file of parameters of the symbol at `symbol`:
/// `given`, unless it is empty, otherwise the only file PREFIX-NNNN.params
/// beside PREFIX-symbol.json. Returns nullopt after an error if there is none,
/// or if there are several.
std::optional<std::string>
findParams(llvm::StringRef symbol, llvm::StringRef given, Problems &problems);

/// Reads the file at `path`, in any of MXNet's formats of arrays: those without
/// a magic number, and versions 1 to 3. Sparse arrays are reported. Returns
/// nullopt after an error.
std::optional<Params> loadParams(llvm::StringRef path, Problems &problems);

/// Returns the type of elements with the number `type`; null for types that nnc
/// does not handle. Halves are computed as f32.
mlir::Type getElementType(mlir::MLIRContext *context, int64_t type);
/// Returns MXNet's name of the element type with the number `type`.
std::string getTypeName(int64_t type);
/// Returns the number of the element type with the name `name`, such as
/// "float32"; -1 if there is none.
int64_t getTypeNumber(llvm::StringRef name);

/// Returns the parameter as a constant. Its elements are those in the mapped
/// file, except for halves, which become f32. Returns null, and reports why at
/// `loc`, if nnc does not handle it.
mlir::ElementsAttr makeConstant(const Params &params, const Param &param,
                                llvm::StringRef name, Problems &problems,
                                mlir::Location loc);

} // namespace nnc::mxnet

#endif // NNC_FRONTENDS_MXNET_FILE_PARAMS_H
