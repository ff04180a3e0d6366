// fovea download REPOSITORY [FILE]. Apart from the other commands, which need neither Qt nor a network.
#pragma once

#include "app/commands/command.h"

namespace fovea::app {

void add_download(Registry&);

}  // namespace fovea::app
