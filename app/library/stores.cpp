#include "app/library/stores.h"

#include "app/library/data_folder.h"

namespace fovea::app {

std::filesystem::path stores_folder() {
  return data_folder() / "stores";
}

}  // namespace fovea::app
