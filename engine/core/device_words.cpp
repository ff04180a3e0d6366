#include "engine/core/device_words.h"

#include <cstddef>
#include <ranges>

#include "engine/core/errors.h"
#include "engine/core/result.h"

namespace fovea {
namespace {

using kernels::Action;
using Kind = kernels::Obstacle::Kind;

Phrase phrase_of(Action action) {
  switch (action) {
    case Action::choosing_the_device:
      return phrases::choosing_the_device();
    case Action::asking_for_properties:
      return phrases::asking_for_properties();
    case Action::asking_for_free_memory:
      return phrases::asking_for_free_memory();
    case Action::asking_for_priorities:
      return phrases::asking_for_priorities();
    case Action::making_a_stream:
      return phrases::making_a_stream();
    case Action::making_an_event:
      return phrases::making_an_event();
    case Action::recording_an_event:
      return phrases::recording_an_event();
    case Action::clearing_memory:
      return phrases::clearing_memory();
    case Action::releasing_memory:
      return phrases::releasing_memory();
    case Action::releasing_pinned_memory:
      return phrases::releasing_pinned_memory();
    case Action::copying_to_the_device:
      return phrases::copying_to_the_device();
    case Action::copying_from_the_device:
      return phrases::copying_from_the_device();
    case Action::copying_on_the_device:
      return phrases::copying_on_the_device();
    case Action::starting_a_kernel:
      return phrases::starting_a_kernel();
    case Action::running_kernels:
      return phrases::running_kernels();
    case Action::beginning_a_capture:
      return phrases::beginning_a_capture();
    case Action::starting_a_graph:
      return phrases::starting_a_graph();
    case Action::starting_the_library:
      return phrases::starting_cublas();
    case Action::giving_the_library_its_stream:
      return phrases::giving_cublas_its_stream();
    case Action::giving_the_library_memory:
      return phrases::giving_cublas_memory();
    case Action::telling_the_library_how_to_add:
      return phrases::telling_cublas_how_to_add();
    case Action::multiplying:
      return phrases::multiplying_with_cublas();
    case Action::none:
    case Action::waiting:
    case Action::emulating:
      break;
  }
  return {};
}

}  // namespace

Phrase phrase_of(const kernels::Failure& failure) {
  if (failure.empty()) return {};
  if (failure.action == Action::waiting) return phrases::device_hangs(failure.waited_s, failure.last_kernel);
  if (failure.action == Action::emulating) return phrases::emulation_failed(Said{failure.said});
  const Phrase action = phrase_of(failure.action);
  if (failure.library.empty()) return phrases::driver_call_failed(action, Said{failure.said});
  return phrases::cublas_call_failed(action, Said{failure.said}, failure.library);
}

Phrase phrase_of(const kernels::Obstacle& obstacle) {
  const auto name = [&](std::size_t i) { return i < obstacle.names.size() ? obstacle.names[i] : ""; };
  const auto names_from = [&](std::ptrdiff_t first) {
    const auto rest = obstacle.names | std::views::drop(first);
    return std::vector<std::string>(rest.begin(), rest.end());
  };
  const auto file = [&] { return std::filesystem::path(name(0)); };
  const Said said{obstacle.said};
  switch (obstacle.kind) {
    case Kind::none:
      break;
    case Kind::other_system:
      return phrases::gpus_on_linux_only();
    case Kind::no_driver:
      return said.words.empty() ? phrases::no_nvidia_driver() : phrases::no_nvidia_driver_said(said);
    case Kind::silent_driver:
      return phrases::nvidia_driver_silent(said);
    case Kind::old_driver:
      return phrases::nvidia_driver_old(name(0), name(1), name(2));
    case Kind::no_module:
      return phrases::no_gpu_module(obstacle.names);
    case Kind::unloadable_module:
      return phrases::gpu_module_not_loaded(said);
    case Kind::foreign_module:
      return phrases::gpu_module_foreign(file());
    case Kind::other_build:
      return phrases::gpu_module_of_another_build(file(), name(1), name(2));
    case Kind::unknown_switch:
      return phrases::unknown_gpu_switch(name(0));
    case Kind::no_library:
      return phrases::no_cublas(name(0));
    case Kind::library_off:
      return phrases::cublas_off();
    case Kind::unloadable_library:
      return phrases::cublas_not_loaded(file(), said, name(1));
    case Kind::foreign_library:
      return phrases::cublas_foreign(file(), name(1));
    case Kind::no_device_found:
      return phrases::no_gpu_found(said);
    case Kind::no_device:
      return phrases::no_gpu_listed();
    case Kind::architecture:
      return phrases::gpu_architecture(name(0), names_from(1));
    case Kind::failed:
      return phrase_of(obstacle.failure);
  }
  return {};
}

Phrase phrase_of(const kernels::Bf16Products& products) {
  if (!products.library.empty()) return phrases::products_by_library(products.library);
  if (products.obstacle.empty()) return {};
  return phrases::products_by_own_kernels(phrase_of(products.obstacle));
}

std::unexpected<Error> device_failed(const std::string& name, const kernels::Failure& failure) {
  return fail(phrases::name_place(name), errors::device_failed(phrase_of(failure)));
}

}  // namespace fovea
