//===- TestData.h - Inputs with the results that they should give ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_DRIVER_TESTDATA_H
#define NNC_TOOLS_DRIVER_TESTDATA_H

#include "compiler/tools/driver/Manifest.h"

namespace nnc::tools {

struct TestCase {
  std::string name;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs; ///< none if no results are known
};

/// The cases in a folder:
/// - ONNX's test_data_set_N folders, or one of them, with input_I.pb and
///   output_I.pb in the model's order;
/// - or a .npy file an input, called by its name or input_I, and an output.
llvm::Expected<std::vector<TestCase>> readTestData(const std::string &folder,
                                                   const Manifest &manifest);

/// A tensor in ONNX's own form.
llvm::Expected<Tensor> readTensorProto(const std::string &path);

} // namespace nnc::tools

#endif // NNC_TOOLS_DRIVER_TESTDATA_H
