//===- Attributes.h - Numbers in the texts of attributes --------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
//
// MXNet stores the parameters of operators as texts, as Python or C++ print
// them: "(3, 3)", "[1,2]", "(2L, 2L)", "True", "1", "None". Each function
// returns nullopt if a text has another form.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_MXNET_FILE_ATTRIBUTES_H
#define NNC_FRONTENDS_MXNET_FILE_ATTRIBUTES_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace nnc::mxnet {

std::optional<int64_t> parseInt(llvm::StringRef text);
std::optional<double> parseReal(llvm::StringRef text);
std::optional<bool> parseBool(llvm::StringRef text);

/// The entries of a tuple, nullopt for "None".
using OptionalInts = llvm::SmallVector<std::optional<int64_t>>;
/// Parses a tuple of integers, or of tuples of them, such as pairs of a
/// padding, whose entries follow each other. A single integer is a tuple of
/// one.
std::optional<OptionalInts> parseTuple(llvm::StringRef text);
/// Parses a tuple of real numbers; a single number is a tuple of one.
std::optional<llvm::SmallVector<double>> parseReals(llvm::StringRef text);

} // namespace nnc::mxnet

#endif // NNC_FRONTENDS_MXNET_FILE_ATTRIBUTES_H
