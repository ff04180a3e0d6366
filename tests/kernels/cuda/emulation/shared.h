// Shared memory with a shadow: each element knows who wrote and read it last and in which phase between
// barriers, so that reads of what nobody wrote, accesses outside an array, and accesses of two threads
// without a barrier between them are found when they happen, in whatever order the threads run.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace fovea::kernels::cuda::emulation {

class SharedArray {
 public:
  SharedArray(std::string name, std::size_t element_bytes, std::int64_t count);

  // Of the thread that runs. They check, note the access, and end the kernel with a message where it is
  // wrong.
  void read(std::int64_t index, void* value);
  void write(std::int64_t index, const void* value);
  std::byte* update(std::int64_t index);  // an atomic operation's access: it may meet its like
  // An asynchronous copy: begun by a thread, it lands when that thread waits for it.
  void begin_copy(std::int64_t first, std::int64_t count);
  void land_copy(std::int64_t first, std::int64_t count, const void* values);

  const std::string& name() const { return name_; }
  std::int64_t count() const { return count_; }
  std::int64_t bytes() const { return count_ * static_cast<std::int64_t>(element_bytes_); }

 private:
  // Phases are numbered through all blocks, so that what an earlier block left is older than the first.
  struct Access {
    std::uint64_t phase = 0;      // between two barriers of the block; 0: never
    std::uint32_t warp_step = 0;  // between two barriers of the warp
    std::uint16_t thread = 0;
    bool atomic = false;
  };
  struct Element {
    Access written;
    Access read;                // the latest
    Access read_by_mate;        // the latest of another thread of that warp
    Access read_elsewhere;      // the latest of another warp
    std::int32_t copying = -1;  // the thread whose asynchronous copy is under way
  };

  Element& element(std::int64_t index, const char* doing);
  void note_read(Element&);
  void check_before_write(const Element&, std::int64_t index, bool atomic) const;
  std::string element_name(std::int64_t index) const;

  std::string name_;
  std::size_t element_bytes_;
  std::int64_t count_;
  std::vector<std::byte> values_;
  std::vector<Element> elements_;
};

// One element, as a kernel names it: shared[i]. Reading and writing go through the shadow.
template <typename T>
class SharedElement {
 public:
  SharedElement(SharedArray& array, std::int64_t index) : array_(array), index_(index) {}
  SharedElement(const SharedElement&) = default;

  operator T() const {  // NOLINT: it stands for a T&
    T value;
    array_.read(index_, &value);
    return value;
  }
  const SharedElement& operator=(T value) const {
    array_.write(index_, &value);
    return *this;
  }
  const SharedElement& operator=(const SharedElement& other) const { return *this = static_cast<T>(other); }
  const SharedElement& operator+=(T value) const { return *this = static_cast<T>(*this) + value; }
  const SharedElement& operator*=(T value) const { return *this = static_cast<T>(*this) * value; }

  T fetch_add(T value) const {
    std::byte* const bytes = array_.update(index_);
    T old;
    std::memcpy(&old, bytes, sizeof old);
    const T sum = old + value;
    std::memcpy(bytes, &sum, sizeof sum);
    return old;
  }

 private:
  SharedArray& array_;
  std::int64_t index_;
};

}  // namespace fovea::kernels::cuda::emulation
