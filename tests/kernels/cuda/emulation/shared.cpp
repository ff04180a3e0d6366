#include "tests/kernels/cuda/emulation/shared.h"

#include "tests/kernels/cuda/emulation/block.h"

namespace fovea::kernels::cuda::emulation {
namespace {

constexpr unsigned warp_threads = 32;

}  // namespace

SharedArray::SharedArray(std::string name, std::size_t element_bytes, std::int64_t count)
    : name_(std::move(name)),
      element_bytes_(element_bytes),
      count_(count),
      values_(static_cast<std::size_t>(count) * element_bytes),
      elements_(static_cast<std::size_t>(count)) {}

std::string SharedArray::element_name(std::int64_t index) const {
  return name_ + "[" + std::to_string(index) + "]";
}

SharedArray::Element& SharedArray::element(std::int64_t index, const char* doing) {
  if (index < 0 || index >= count_) {
    Block::current()->fail(std::string(doing) + " " + element_name(index) + ", outside the shared array of " +
                           std::to_string(count_) + " elements");
  }
  Element& element = elements_[static_cast<std::size_t>(index)];
  if (element.copying >= 0 && element.written.phase >= Block::current()->first_phase()) {
    Block::current()->fail(std::string(doing) + " " + element_name(index) + ", which thread " +
                           std::to_string(element.copying) + " copies asynchronously and has not waited for");
  }
  return element;
}

namespace {

// Whether an access of this block is one that nothing separates from what the running thread does now.
template <typename Access>
bool meets(const Access& access) {
  const Block& block = *Block::current();
  if (access.phase != block.phase() || access.thread == here.thread) return false;
  return access.thread / warp_threads != here.thread / warp_threads ||
         access.warp_step == block.warp_step(here.thread);
}

template <typename Access>
Access mine(bool atomic) {
  return {Block::current()->phase(), Block::current()->warp_step(here.thread),
          static_cast<std::uint16_t>(here.thread), atomic};
}

}  // namespace

void SharedArray::note_read(Element& element) {
  if (element.read.thread != here.thread && element.read.phase == Block::current()->phase()) {
    const bool mate = element.read.thread / warp_threads == here.thread / warp_threads;
    (mate ? element.read_by_mate : element.read_elsewhere) = element.read;
  }
  element.read = mine<Access>(false);
}

void SharedArray::read(std::int64_t index, void* value) {
  Element& at = element(index, "reads");
  if (at.written.phase < Block::current()->first_phase()) {
    Block::current()->fail("reads " + element_name(index) + " of shared memory, which nobody has written");
  }
  if (meets(at.written)) {
    Block::current()->fail("reads " + element_name(index) + " of shared memory, which thread " +
                           std::to_string(at.written.thread) + " has written since the last barrier");
  }
  note_read(at);
  std::memcpy(value, values_.data() + static_cast<std::size_t>(index) * element_bytes_, element_bytes_);
}

void SharedArray::check_before_write(const Element& at, std::int64_t index, bool atomic) const {
  if (meets(at.written) && !(atomic && at.written.atomic)) {
    Block::current()->fail("writes " + element_name(index) + " of shared memory, which thread " +
                           std::to_string(at.written.thread) + " has written since the last barrier");
  }
  for (const Access* access : {&at.read, &at.read_by_mate, &at.read_elsewhere}) {
    if (!meets(*access)) continue;
    Block::current()->fail("writes " + element_name(index) + " of shared memory, which thread " +
                           std::to_string(access->thread) + " has read since the last barrier");
  }
}

void SharedArray::write(std::int64_t index, const void* value) {
  Element& at = element(index, "writes");
  check_before_write(at, index, false);
  at.written = mine<Access>(false);
  std::memcpy(values_.data() + static_cast<std::size_t>(index) * element_bytes_, value, element_bytes_);
}

std::byte* SharedArray::update(std::int64_t index) {
  Element& at = element(index, "adds to");
  if (at.written.phase < Block::current()->first_phase())
    Block::current()->fail("adds to " + element_name(index) + " of shared memory, which nobody has written");
  check_before_write(at, index, true);
  at.written = mine<Access>(true);
  return values_.data() + static_cast<std::size_t>(index) * element_bytes_;
}

void SharedArray::begin_copy(std::int64_t first, std::int64_t count) {
  for (std::int64_t i = first; i < first + count; ++i) {
    Element& at = element(i, "copies to");
    check_before_write(at, i, false);
    at.written = mine<Access>(false);
    at.copying = static_cast<std::int32_t>(here.thread);
  }
}

void SharedArray::land_copy(std::int64_t first, std::int64_t count, const void* values) {
  for (std::int64_t i = first; i < first + count; ++i) {
    Element& at = elements_[static_cast<std::size_t>(i)];
    at.copying = -1;
    at.written = mine<Access>(false);
  }
  std::memcpy(values_.data() + static_cast<std::size_t>(first) * element_bytes_, values,
              static_cast<std::size_t>(count) * element_bytes_);
}

}  // namespace fovea::kernels::cuda::emulation
