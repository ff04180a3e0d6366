// The chat in the terminal, for other commands that end up there.
#pragma once

#include "app/commands/chat_flags.h"

namespace fovea::app {

// One answer when there is a prompt or the input is no terminal, else a conversation.
Result<void> chat(const ChatFlags& flags, Console& console, Interrupts& interrupts);

}  // namespace fovea::app
