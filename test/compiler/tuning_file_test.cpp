//===- tuning_file_test.cpp - What a tuning file says, and broken ones ----===//

#include "compiler/routines/TuningFile.h"

#include "llvm/Support/FileSystem.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace nnc;

static const char *const kHead = "nnc-tuning 1\n"
                                 "nnc 0.1.0\n"
                                 "chip znver4\n"
                                 "isas avx2 portable\n"
                                 "threads 2\n";
static const char *const kChoices =
    "max-error 3e-06\n"
    "choice conv1 : conv2d_f32_nchw8c_direct_avx2 1 6 2\n"
    "choice a : conv2d_f32_portable\n";
static const char *const kLine =
    "measured conv2d n=1 c=8 then relu : conv2d_f32_nchw8c_direct_avx2 1 6 2 "
    ": 1234\n";

/// Returns the problems of `text` as "12: message", with "! " in front if the
/// file is unusable.
static std::vector<std::string> getProblems(const std::string &text) {
  SmallVector<TuningProblem> problems;
  bool isRead = parseTuningFile(text, problems).has_value();
  std::vector<std::string> texts;
  for (const TuningProblem &problem : problems) {
    texts.push_back((problem.isBroken ? "! " : "") +
                    std::to_string(problem.line) + ": " + problem.message);
    CHECK(isRead == !problems.back().isBroken);
  }
  return texts;
}

static void checkProblem(const std::string &text, const std::string &part) {
  INFO(text);
  std::vector<std::string> problems = getProblems(text);
  REQUIRE(problems.size() == 1);
  CHECK_THAT(problems[0], Catch::Contains(part));
}

TEST_CASE("What is printed of a tuning reads back") {
  TuningFile file;
  file.version = "0.1.0";
  file.chip = "znver4";
  file.isas = {"avx2", "portable"};
  file.threads = 2;
  file.measurements[{"conv2d n=1", "conv2d_f32_portable", {}}] = 7;
  file.measurements[{
      "conv2d n=1 c=8 then relu", "conv2d_f32_nchw8c_direct_avx2", {1, 6, 2}}] =
      1234;
  file.maxError = 3e-6;
  file.choices = {{"conv1", "conv2d_f32_nchw8c_direct_avx2", {1, 6, 2}},
                  {"a", "conv2d_f32_portable", {}}};
  std::string text = file.print();
  CHECK(text == std::string(kHead) + kChoices +
                    "measured conv2d n=1 : conv2d_f32_portable : 7\n" + kLine);
  SmallVector<TuningProblem> problems;
  auto read = parseTuningFile(text, problems);
  REQUIRE(read);
  CHECK(problems.empty());
  CHECK(read->print() == text);
  CHECK(read->choices == file.choices);
  CHECK(read->getChoices(3e-6).size() == 2);
  CHECK(read->getChoices(2e-6).empty());
}

TEST_CASE("Measurements are those of a device") {
  const std::string host = "measured copy n=4 : copy_portable : 20\n",
                    shadow = "measured copy n=4 : shadow:copy_portable : 5\n",
                    choice = "max-error 0\nchoice a : shadow:copy_portable\n";
  SmallVector<TuningProblem> problems;
  auto read = parseTuningFile(kHead + choice + host + shadow, problems);
  REQUIRE(read);
  CHECK(problems.empty());
  CHECK(read->print() == kHead + choice + host + shadow);
  CHECK(read->measurements.at({"copy n=4", "copy_portable", {}}) == 20);
  CHECK(read->measurements.at({"copy n=4", "copy_portable", {}, "shadow"}) ==
        5);
  REQUIRE(read->choices.size() == 1);
  CHECK(read->choices[0].device == "shadow");
  checkProblem(kHead + host + host, "measures again");
  checkProblem(kHead + shadow + shadow, "measures again");
  checkProblem(std::string(kHead) + "measured copy n=4 : shadow:none : 5\n",
               "routine 'none'");
}

TEST_CASE("Lines of devices that the target lacks are left out") {
  llvm::SmallString<64> path;
  REQUIRE(!llvm::sys::fs::createTemporaryFile("nnc", "tuning", path));
  std::error_code code;
  llvm::raw_fd_ostream(path, code)
      << "nnc-tuning 1\nchip x\nisas portable\n"
         "measured copy n=4 : copy_portable : 20\n"
         "measured copy n=4 : shadow:copy_portable : 5\n"
         "measured copy n=4 : npu:copy_portable : 1\n";
  MLIRContext context;
  std::string said;
  ScopedDiagnosticHandler keeps(
      &context, [&](Diagnostic &diagnostic) { said += diagnostic.str(); });
  auto count = [&](StringRef target) {
    said.clear();
    auto machine = target::getMachine(target, UnknownLoc::get(&context));
    REQUIRE(succeeded(machine));
    auto read = readTuningFile(path, *machine);
    REQUIRE(succeeded(read));
    return read->measurements.size();
  };
  CHECK(count("test-two-devices") == 2);
  CHECK_THAT(said, Catch::Contains("device 'npu'"));
  CHECK_THAT(said, !Catch::Contains("shadow"));
  CHECK(count("portable") == 1);
  CHECK_THAT(said, Catch::Contains("device 'shadow'"));
  llvm::sys::fs::remove(path);
}

TEST_CASE("The precision is said where it is not f32") {
  TuningFile file;
  file.chip = "cortex-a76";
  file.isas = {"neonfp16", "neon", "portable"};
  CHECK_THAT(file.print(), !Catch::Contains("precision"));
  file.precision = Precision::f16;
  std::string text = file.print();
  CHECK_THAT(text, Catch::Contains("\nthreads 1\nprecision f16\n"));
  SmallVector<TuningProblem> problems;
  auto read = parseTuningFile(text, problems);
  REQUIRE(read);
  CHECK(read->precision == Precision::f16);
  CHECK(read->print() == text);
}

TEST_CASE(
    "Order, spaces, comments and line ends of other systems do not count") {
  std::string text = std::string("\n# mine\n") + "nnc-tuning 1\r\n" + kLine +
                     "  isas  avx2   portable\r\n\r\nthreads 1\nchip znver4";
  SmallVector<TuningProblem> problems;
  auto read = parseTuningFile(text, problems);
  REQUIRE(read);
  CHECK(problems.empty());
  CHECK(read->isas == std::vector<std::string>{"avx2", "portable"});
  CHECK(read->measurements.size() == 1);
}

TEST_CASE("Files that are broken say where and why") {
  std::string head = kHead;
  checkProblem("", "! 1: is not a tuning file");
  checkProblem("\x7f"
               "ELF\n",
               "! 1: is not a tuning file");
  checkProblem("nnc-tuning x\n", "! 1: is not a tuning file");
  checkProblem("nnc-tuning 2\n", "! 1: is of format 2, this nnc reads 1");
  checkProblem("nnc-tuning 1\n", "lacks the line 'chip' or 'isas'");
  checkProblem("nnc-tuning 1\nthreads -1\n",
               "! 2: expected a number of threads");
  checkProblem("nnc-tuning 1\nprecision half\n",
               "! 2: expected the --precision of what was measured");
  for (const char *line :
       {"measured", "measured a", "measured a : conv2d_f32_portable",
        "measured a : conv2d_f32_portable : ", "measured a :  : 5",
        "measured a : conv2d_f32_portable : 0",
        "measured a : conv2d_f32_portable : -5",
        "measured a : conv2d_f32_portable : 1.5",
        "measured a : conv2d_f32_portable : 99999999999999999999",
        "measured a : conv2d_f32_portable : 5 : 6"})
    checkProblem(head + line + "\n", "! 6: expected 'measured LAYER");
  checkProblem(head + kLine + kLine, "! 7: measures again");
  for (const char *line : {"choice", "choice conv1",
                           "choice conv1 : ", "choice  : conv2d_f32_portable"})
    checkProblem(head + line + "\n", "! 6: expected 'choice NAME");
  for (const char *value : {"", "small", "-1", "nan"})
    checkProblem(head + "max-error " + value + "\n",
                 "! 6: expected the --max-error");
}

TEST_CASE("Lines of another nnc are named and left out") {
  std::string head = kHead;
  checkProblem(head + "colour blue\n", "6: begins with 'colour'");
  checkProblem(head + "measured a : conv9d_f32 : 5\n",
               "6: names the routine 'conv9d_f32', which this nnc lacks");
  checkProblem(head + "choice conv1 : conv9d_f32\n",
               "6: names the routine 'conv9d_f32', which this nnc lacks");
  checkProblem(head + "measured a : conv2d_f32_portable 1 : 5\n",
               "6: gives the params '1' to conv2d_f32_portable, which has 0");
  checkProblem(head + "measured a : conv2d_f32_nchw8c_direct_avx2 1 x 2 : 5\n",
               "6: gives the params '1 x 2'");
}
