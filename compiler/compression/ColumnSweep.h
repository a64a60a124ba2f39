//===- ColumnSweep.h - Weights settle column by column ----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_COMPRESSION_COLUMNSWEEP_H
#define NNC_COMPILER_COMPRESSION_COLUMNSWEEP_H

#include "compiler/compression/Cholesky.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace nnc::compression {

/// Settles the weights of rows one column after the other. The error that a
/// settled weight makes in the products with the layer's inputs is compensated
/// by the weights of its row that are not settled yet, as well as these can:
/// "Optimal Brain Surgeon" (Hassibi and Stork, 1993) with the fixed order of
/// columns of "GPTQ" (Frantar et al., 2022) and "SparseGPT" (Frantar and
/// Alistarh, 2023).
///
/// `values` has `rows` rows of `columns` weights and gets the settled ones.
/// `factor` is that of factorInverse() for the columns' Hessian. Before each
/// `width` columns, or fewer at the end of each `run` columns, `choose` gets
/// the first column, the end, and the rows as they are by then; after that
/// `settle` returns what becomes of the value at a row and column.
void sweepColumns(
    llvm::MutableArrayRef<double> values, int64_t rows, int64_t columns,
    llvm::ArrayRef<double> factor, int64_t width, int64_t run,
    llvm::function_ref<void(int64_t, int64_t, MatrixPart<const double>)> choose,
    llvm::function_ref<double(int64_t, int64_t, double)> settle);

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_COLUMNSWEEP_H
