//===- probe_file_test.cpp - What a probe's file says, and broken ones ----===//

#include "compiler/tuning/ProbeFile.h"

#include "mlir/IR/MLIRContext.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace nnc;

static const char *const kText = "nnc-probe 1\n"
                                 "nnc 0.1.0\n"
                                 "chip znver4\n"
                                 "isas avx2 sse4 portable\n"
                                 "mhz 3670\n"
                                 "multiply_adds 16\n"
                                 "cache 32768 57\n"
                                 "cache 1048576 31\n"
                                 "memory_mb_s 20000\n"
                                 "# bytes a cycle: many\n";

static std::optional<ProbeFile> parse(const std::string &text) {
  std::string problem;
  unsigned line;
  return parseProbeFile(text, problem, line);
}

/// Requires that reading `text` fails at `line` with a message that contains
/// `part`.
static void checkProblem(const std::string &text, unsigned line,
                         const std::string &part) {
  INFO(text);
  std::string problem;
  unsigned found;
  CHECK(!parseProbeFile(text, problem, found));
  CHECK(found == line);
  CHECK_THAT(problem, Catch::Contains(part));
}

/// Returns kText with `line` in place of the line that begins with `word`.
static std::string replaceLine(const std::string &word,
                               const std::string &line) {
  std::string text = kText;
  size_t begin = text.find("\n" + word) + 1;
  return text.replace(begin, text.find('\n', begin) - begin, line);
}

TEST_CASE("What is printed of a probe reads back") {
  auto file = parse(kText);
  REQUIRE(file);
  file->comments = {"bytes a cycle: many"};
  CHECK(file->print() == kText);
}

TEST_CASE("The figures take the place of the target's own") {
  MLIRContext context;
  auto row = target::getMachine("x86-64-v3", UnknownLoc::get(&context));
  REQUIRE(succeeded(row));
  target::MachineAttr machine = parse(kText)->apply(*row);
  target::CoreAttr core = machine.getHost().getCore();
  CHECK(machine.getName() == "x86-64-v3");
  CHECK(machine.getHost().getIsas() == row->getHost().getIsas());
  CHECK(core.getMhz() == 3670);
  CHECK(core.getPeak() == Approx(16 * 3670e6));
  CHECK(core.getCaches().asArrayRef() == ArrayRef<int64_t>{32768, 1048576});
  CHECK(core.getBandwidthFor(40000) == Approx(31 * 3670e6));
  CHECK(core.getBandwidthFor(1 << 30) == Approx(20000e6));
}

TEST_CASE("Files that are none are refused at their first line") {
  checkProblem("", 1, "lacks one of the lines");
  checkProblem("nnc-tuning 1\n", 1, "is not a probe's file");
  checkProblem(std::string("\0\xff\n\0", 4), 1, "is not a probe's file");
  checkProblem("nnc-probe soon\n", 1, "is not a probe's file");
  checkProblem("\n# mine\nnnc-probe 2\n", 3, "is of format 2");
}

TEST_CASE("Lines that say nothing are refused") {
  for (const char *figure : {"0", "-5", "3.5", "1e9", "many", "", "1 2",
                             "99999999999999999999", "2000000000000"}) {
    checkProblem(replaceLine("mhz", std::string("mhz ") + figure), 5,
                 "expected 'mhz' and a number above 0");
    checkProblem(replaceLine("memory", std::string("memory_mb_s ") + figure), 9,
                 "expected 'memory_mb_s'");
  }
  checkProblem(replaceLine("cache", "cache 32768"), 7, "expected 'cache BYTES");
  checkProblem(replaceLine("cache", "cache 2097152 64"), 8,
               "behind a larger one");
  checkProblem(replaceLine("cache", "cache 1 1\ncache 1 1\ncache 1 1\n"
                                    "cache 1 1"),
               11, "more than 4 levels");
  checkProblem(replaceLine("mhz", "colour blue"), 5, "begins with 'colour'");
  // Each is needed.
  for (const char *word : {"chip", "isas", "mhz", "multiply_adds", "memory"})
    checkProblem(replaceLine(word, "#"), 11, "lacks one of the lines");
}
