//===- device_cost_test.cpp - Costs on devices, and between them ----------===//

#include "compiler/routines/Cost.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace {
struct Fixture {
  Fixture() {
    context.loadDialect<nn::NnDialect, target::TargetDialect>();
    auto found =
        target::getMachine("test-two-devices", UnknownLoc::get(&context));
    REQUIRE(succeeded(found));
    machine = *found;
  }
  RankedTensorType getType(StringRef layout) {
    return nn::withLayout(
        RankedTensorType::get({1, 64, 56, 56}, Float32Type::get(&context)),
        layout);
  }
  MLIRContext context;
  target::MachineAttr machine;
};
} // namespace

TEST_CASE_METHOD(Fixture, "A device has its own estimates") {
  CostModel host(machine, 1 << 20);
  CHECK(host.getDeviceName().empty());
  CHECK(host.getDevice() == machine.getHost());
  CostModel shadow = host.forDevice("shadow");
  CHECK(shadow.getDeviceName() == "shadow");
  double slow = host.getAdapt(getType("plain"), getType("NHWC")).seconds,
         fast = shadow.getAdapt(getType("plain"), getType("NHWC")).seconds;
  CHECK(slow > 2 * fast);
  CHECK(fast > slow / 5);
  // Back on the host all is as it was.
  CostModel again = shadow.forDevice("");
  CHECK(again.getAdapt(getType("plain"), getType("NHWC")).seconds == slow);
}

TEST_CASE_METHOD(Fixture, "A measurement counts on its device alone") {
  RankedTensorType from = getType("plain"), to = getType("NHWC");
  AdaptCost adapt = CostModel(machine, 0).getAdapt(from, to);
  REQUIRE(adapt.routine);
  std::string layer = describeAdapt(*nn::getAdaptCall(from, to), from);
  auto getSeconds = [&](StringRef measuredOn, StringRef askedOn) {
    Measurements measured;
    measured[{layer, adapt.routine->name.str(),
              std::vector<int64_t>(adapt.params.begin(), adapt.params.end()),
              measuredOn.str()}] = 1;
    return CostModel(machine, 0, &measured)
        .forDevice(askedOn)
        .getAdapt(from, to)
        .seconds;
  };
  CHECK(getSeconds("", "") == Approx(1e-9));
  CHECK(getSeconds("shadow", "shadow") == Approx(1e-9));
  CHECK(getSeconds("", "shadow") > 1e-6);
  CHECK(getSeconds("shadow", "") > 1e-6);
}

TEST_CASE_METHOD(Fixture, "An adapt costs what its device or the link takes") {
  CostModel host(machine, 0);
  RankedTensorType plain = getType("plain"), nhwc = getType("NHWC"),
                   far = nn::onDevice(plain, "shadow"),
                   farNhwc = nn::onDevice(nhwc, "shadow");
  CHECK(host.getAdapt(far, farNhwc).seconds ==
        host.forDevice("shadow").getAdapt(plain, nhwc).seconds);
  CHECK(host.getAdapt(far, farNhwc).routine);
  AdaptCost transfer = host.getAdapt(nhwc, farNhwc);
  CHECK(transfer.seconds ==
        host.getTransferSeconds("", "shadow", nn::getPhysicalBytes(nhwc)));
  CHECK(!transfer.routine);
  // One thing at a time.
  CHECK(std::isinf(host.getAdapt(plain, farNhwc).seconds));
  CHECK(std::isinf(host.getAdapt(plain, nn::onDevice(plain, "npu")).seconds));
}

TEST_CASE_METHOD(Fixture, "A transfer takes a latency and its bytes' time") {
  CostModel cost(machine, 0);
  CHECK(cost.getTransferSeconds("", "", 1 << 20) == 0);
  CHECK(cost.getTransferSeconds("shadow", "shadow", 1 << 20) == 0);
  CHECK(cost.getTransferSeconds("", "shadow", 0) == Approx(2e-6));
  CHECK(cost.getTransferSeconds("", "shadow", 8000) == Approx(3e-6));
  CHECK(cost.getTransferSeconds("shadow", "host", 8000) == Approx(3e-6));
  CHECK(std::isinf(cost.getTransferSeconds("", "npu", 1)));
  // From one such device to another data passes through the host.
  target::DeviceAttr shadow = machine.findDevice("shadow");
  auto other = target::DeviceAttr::get(
      &context, "other", shadow.getIsas(), shadow.getFeatures(),
      shadow.getSpaces(), shadow.getCompiler(), shadow.getFlags(),
      shadow.getCost(), /*link_mb_s=*/1000, /*link_ns=*/500);
  SmallVector<Attribute> devices(machine.getDevices().getValue());
  devices.push_back(other);
  auto three = target::MachineAttr::get(
      &context, "three", "", "", ArrayAttr::get(&context, devices), "", "");
  CHECK(TransferCost(three).getSeconds("shadow", "other", 8000) ==
        Approx(3e-6 + 8.5e-6));
}
