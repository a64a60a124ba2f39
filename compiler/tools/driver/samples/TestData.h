//===- TestData.h - Inputs with their expected results --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_SAMPLES_TESTDATA_H
#define NNC_COMPILER_TOOLS_DRIVER_SAMPLES_TESTDATA_H

#include "compiler/tools/driver/manifest/Manifest.h"

namespace nnc::tools {

/// Inputs of a model with the results that they should give.
struct TestCase {
  std::string name;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs; ///< empty if no results are known
  int64_t steps = 1;           ///< consecutive runs, as in RunRequest
  std::vector<int64_t> sizes;  ///< as in RunRequest
};

/// Returns the test cases in a folder, which holds one of these:
/// - ONNX's test_data_set_N folders, or one of them, with files input_I.pb and
///   output_I.pb in the model's order;
/// - one .npy file per input, named after it or input_I, and one per output.
llvm::Expected<std::vector<TestCase>> readTestData(const std::string &folder,
                                                   const Manifest &manifest);

/// Reads a file with a tensor in the format of one of the frontends, such as
/// `.pb`.
llvm::Expected<Tensor> readTensorFile(const std::string &path);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_SAMPLES_TESTDATA_H
