// What a thread says about itself to the system.
#pragma once

namespace fovea {

// The name that debuggers and `top` show; at most 15 characters.
void name_this_thread(const char* name);

// Background work: the system runs it in what others leave, so that it does not take a core from the kernels'
// threads in the middle of an operation. Does nothing where the system has no such thing for one thread.
void yield_to_others();

}  // namespace fovea
