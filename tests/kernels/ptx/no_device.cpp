// Where there is nothing of nvcc's to execute.
#include "device.h"

namespace fovea::tests::ptx {

bool is_available() {
  return false;
}

std::unique_ptr<kernels::Device> device(DeviceOptions) {
  return nullptr;
}

std::int64_t kernels_run(const kernels::Device&) {
  return 0;
}
std::int64_t instructions_run(const kernels::Device&) {
  return 0;
}
std::int64_t waited_unasked(const kernels::Device&) {
  return 0;
}

}  // namespace fovea::tests::ptx
