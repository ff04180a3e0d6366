// The program built without downloads.
#include "app/commands/download/download.h"

namespace fovea::app {

void add_download(Registry&) {}

}  // namespace fovea::app
