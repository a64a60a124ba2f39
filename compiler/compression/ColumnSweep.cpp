//===- ColumnSweep.cpp - Weights settle column by column ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/compression/ColumnSweep.h"

#include <algorithm>
#include <vector>

using namespace nnc::compression;

void nnc::compression::sweepColumns(
    llvm::MutableArrayRef<double> values, int64_t rows, int64_t columns,
    llvm::ArrayRef<double> factor, int64_t width, int64_t run,
    llvm::function_ref<void(int64_t, int64_t, MatrixPart<const double>)> choose,
    llvm::function_ref<double(int64_t, int64_t, double)> settle) {
  MatrixPart<double> current{values.data(), columns};
  std::vector<double> errors(rows * width);
  for (int64_t begin = 0, end; begin < columns; begin = end) {
    end = std::min({begin + width, (begin / run + 1) * run, columns});
    choose(begin, end, {values.data(), columns});
    for (int64_t row = 0; row < rows; ++row) {
      double *own = current.getRow(row);
      for (int64_t j = begin; j < end; ++j) {
        const double *towards = &factor[j * columns];
        double settled = settle(row, j, own[j]);
        double error = (own[j] - settled) / towards[j];
        own[j] = settled;
        errors[row * width + j - begin] = error;
        if (error != 0)
          for (int64_t k = j + 1; k < end; ++k)
            own[k] -= error * towards[k];
      }
    }
    // The columns after the block compensate the errors of the whole block at
    // once.
    subtractProduct({values.data() + end, columns}, {errors.data(), width},
                    {factor.data() + begin * columns + end, columns}, rows,
                    end - begin, columns - end);
  }
}
