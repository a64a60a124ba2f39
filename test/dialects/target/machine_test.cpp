//===- machine_test.cpp - Where data comes from, and how long it takes ----===//

#include "dialects/target/Target.h"

#include "mlir/AsmParser/AsmParser.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace nnc;
using target::CoreAttr;
using target::DeviceAttr;
using target::MachineAttr;

static MachineAttr getRow(MLIRContext &context, StringRef name) {
  auto row = target::getMachine(name, UnknownLoc::get(&context));
  REQUIRE(succeeded(row));
  return *row;
}

static CoreAttr getCore(MLIRContext &context, StringRef name) {
  return getRow(context, name).getHost().getCore();
}

TEST_CASE("The first level that holds data is where it comes from") {
  MLIRContext context;
  // 32 KB, 512 KB, and 16 MB for all cores.
  CoreAttr machine = getCore(context, "x86-64-v3");
  CHECK(machine.getLevelFor(32768) == 0);
  CHECK(machine.getLevelFor(32769) == 1);
  CHECK(machine.getLevelFor(524288) == 1);
  CHECK(machine.getLevelFor(524289) == 2);
  // Other data needs its share of the last level.
  CHECK(machine.getLevelFor(16777216 / 3) == 2);
  CHECK(!machine.getLevelFor(16777216 / 3 + 1));
  CHECK(machine.getBandwidthFor(16777216) == Approx(20000e6));
  // It needs its share of the second level if there is no third.
  CoreAttr two = getCore(context, "armv7");
  CHECK(two.getLevelFor(524288 / 3) == 1);
  CHECK(!two.getLevelFor(524288 / 3 + 1));
}

TEST_CASE("Instruction sets of AMX have tiles, and its target prefers them") {
  MLIRContext context;
  CHECK(target::usesTiles("amxint8"));
  CHECK(target::usesTiles("amxbf16"));
  CHECK(!target::usesTiles("avx512vnni"));
  CHECK(!target::usesTiles("portable"));
  DeviceAttr host = getRow(context, "x86-64-v4-amx").getHost();
  CHECK(host.hasIsa("avx512vnni"));
  CHECK(host.hasVectors());
  if (!target::hostHas("amx-tile"))
    CHECK(!target::detectMachine(&context).getHost().hasIsa("amxint8"));
}

TEST_CASE("Data is read from each level that holds a part of it") {
  MLIRContext context;
  CoreAttr machine = getCore(context, "x86-64-v3");
  const double cycle = 1 / 3200e6;
  CHECK(machine.getReadSeconds(0) == 0);
  CHECK(machine.getReadSeconds(16384) == Approx(16384 / 64.0 * cycle));
  // The second level and the last one hold half each of what the first lacks.
  CHECK(machine.getReadSeconds(32768 + 65536) ==
        Approx((32768 / 64.0 + 32768 / 32.0 + 32768 / 16.0) * cycle));
  const double near = machine.getReadSeconds(524288);
  CHECK(machine.getReadSeconds(524288 + 16000) ==
        Approx(near + 16000 / 16.0 * cycle));
  CHECK(machine.getReadSeconds(100 << 20) == Approx((100 << 20) / 20000e6));
  double last = 0;
  for (int64_t bytes = 1024; bytes < 100 << 20; bytes *= 2) {
    INFO(bytes);
    CHECK(machine.getReadSeconds(bytes) > last);
    last = machine.getReadSeconds(bytes);
  }
  // There is no level behind the second.
  CoreAttr two = getCore(context, "armv7");
  CHECK(two.getReadSeconds(32768 + 8000) ==
        Approx((32768 / 16.0 + 8000 / 8.0) / 1500e6));
}

TEST_CASE("Narrow vectors keep a core busy that begins few wide ones") {
  MLIRContext context;
  CoreAttr wide = getCore(context, "x86-64-v4");
  CoreAttr narrow = getCore(context, "x86-64-v3");
  CHECK(wide.getPeak("avx2") == Approx(wide.getPeak("avx512") / 2));
  CHECK(narrow.getPeak("sse4") < 0.49 * narrow.getPeak("avx2"));
}

TEST_CASE("A machine without caches reads everything from memory") {
  MLIRContext context;
  context.loadDialect<target::TargetDialect>();
  auto none = dyn_cast_if_present<CoreAttr>(parseAttribute(
      R"(#target.core<vector_bytes = 16, vector_registers = 16, caches = [],
         bandwidth = [], memory_mb_s = 1000, multiply_adds = 1, mhz = 100>)",
      &context));
  REQUIRE(none);
  CHECK(none.getLastBytes() == 0);
  CHECK(none.getSecondBytes() == 0);
  CHECK(!none.isNear(1));
  CHECK(!none.getLevelFor(1));
  CHECK(none.getLastBandwidth() == Approx(1000e6));
  CHECK(none.getSecondBytesPerCycle() == Approx(10));
  CHECK(none.getReadSeconds(5000) == Approx(5000 / 1000e6));
  // The only cache of a machine with one stands for the second, too.
  CoreAttr two = getCore(context, "armv7");
  CHECK(two.getSecondBytes() == 524288);
  CHECK(two.getSecondBytesPerCycle() == 8);
}

TEST_CASE("A microcontroller has no caches, and a board") {
  MLIRContext context;
  for (StringRef name : {"cortex-m0plus", "cortex-m4", "cortex-m55"}) {
    MachineAttr machine = getRow(context, name);
    CHECK(machine.isBare());
    CHECK(machine.getHost().getAlign() == 8);
    CoreAttr core = machine.getHost().getCore();
    CHECK(core.getCaches().empty());
    CHECK(core.getSecondBytesPerCycle() == Approx(4));
    CHECK(core.getReadSeconds(1000) > 0);
  }
  CHECK(!getRow(context, "armv7").isBare());
  CHECK(getRow(context, "armv7").getHost().getAlign() == 64);
  CHECK(!target::detectMachine(&context).isBare());
}

TEST_CASE("An alignment is a power of two, large enough for each number") {
  MLIRContext context;
  context.loadDialect<target::TargetDialect>();
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  auto parse = [&](std::string align) {
    return parseAttribute(
        R"(#target.space<name = "ram", align = )" + align + ">", &context);
  };
  CHECK(parse("8"));
  CHECK(parse("128"));
  CHECK(!parse("4"));
  CHECK(!parse("24"));
  CHECK(!parse("0"));
}

TEST_CASE("A hidden target is found by its name and listed nowhere") {
  MLIRContext context;
  MachineAttr machine = getRow(context, "test-two-devices");
  for (MachineAttr listed : target::getMachines(&context))
    CHECK(listed.getName() != machine.getName());
  CHECK(target::detectMachine(&context).getDevices().size() == 1);
  std::string said;
  ScopedDiagnosticHandler keeps(
      &context, [&](Diagnostic &diagnostic) { said = diagnostic.str(); });
  CHECK(failed(target::getMachine("none", UnknownLoc::get(&context))));
  CHECK(StringRef(said).contains("rv64gc"));
  CHECK(!StringRef(said).contains(machine.getName()));
}

TEST_CASE("A machine's devices have names, spaces and a link to the host") {
  MLIRContext context;
  MachineAttr machine = getRow(context, "test-two-devices");
  CHECK(machine.findDevice("") == machine.getHost());
  CHECK(machine.findDevice("host") == machine.getHost());
  CHECK(!machine.findDevice("gpu"));
  DeviceAttr shadow = machine.findDevice("shadow");
  REQUIRE(shadow);
  CHECK(shadow.getKind() == target::DeviceKind::core);
  CHECK(shadow.hasIsa("portable"));
  CHECK(shadow.getAlign() == 128);
  CHECK(shadow.getLinkMbS() == 8000);
  CHECK(shadow.getCore().getPeak() ==
        Approx(4 * machine.getHost().getCore().getPeak()));
}

TEST_CASE("The tensor cores of a GPU reach what its data sheet states") {
  MLIRContext context;
  auto getGpu = [&](StringRef name) {
    return cast<target::GpuAttr>(getRow(context, name).getHost().getCost());
  };
  // Operations are multiplications and additions.
  CHECK(2 * getGpu("cuda-sm75").getTensorPeakF16() ==
        Approx(65e12).epsilon(0.01));
  CHECK(2 * getGpu("cuda-sm75").getTensorPeakI8() ==
        Approx(130e12).epsilon(0.01));
  CHECK(2 * getGpu("cuda-sm80").getTensorPeakF16() ==
        Approx(312e12).epsilon(0.01));
  CHECK(2 * getGpu("cuda-sm80").getTensorPeakI8() ==
        Approx(624e12).epsilon(0.01));
  CHECK(2 * getGpu("cuda-sm86").getTensorPeakF16() ==
        Approx(125e12).epsilon(0.01));
  CHECK(2 * getGpu("cuda-sm89").getTensorPeakF16() ==
        Approx(121e12).epsilon(0.01));
  // The instructions of earlier architectures reach a part of an H200's peak.
  CHECK(2 * getGpu("cuda-sm90").getTensorPeakF16() ==
        Approx(0.63 * 989e12).epsilon(0.02));
  // Each multiprocessor has a whole number of units for f32.
  for (StringRef name :
       {"cuda-sm75", "cuda-sm80", "cuda-sm86", "cuda-sm89", "cuda-sm90"}) {
    INFO(name.str());
    CHECK(getGpu(name).getCore().getMultiplyAdds() %
              (64 * getGpu(name).getMultiprocessors()) ==
          0);
  }
}

TEST_CASE("Several GPUs have the figures of the oldest") {
  MLIRContext context;
  MachineAttr both = getRow(context, "cuda-sm90,cuda-sm80");
  auto gpu = cast<target::GpuAttr>(both.getHost().getCost());
  auto oldest =
      cast<target::GpuAttr>(getRow(context, "cuda-sm80").getHost().getCost());
  CHECK(gpu.getArchitectures().size() == 2);
  CHECK(gpu.withArchitectures(oldest.getArchitectures()) == oldest);
}
