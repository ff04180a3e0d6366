// A model that could be used, in the words of those who see Fovea first.
#pragma once

#include "app/advisor/candidates.h"
#include "ui/chat/welcome_view.h"

namespace fovea::app {

ui::ProposalView proposal_view(const Candidate& candidate);

}  // namespace fovea::app
