#include "app/window/first_screen.h"

#include <algorithm>
#include <utility>

#include "app/library/background.h"
#include "app/window/proposal_words.h"
#include "app/window/wizard_downloads.h"
#include "app/words/qt_text.h"

namespace fovea::app {

struct FirstScreen::Found {
  std::optional<Machine> machine = {};  // nothing: it is of no use
  std::optional<Candidate> best = {};
};

namespace {

// What the window itself can open or fetch.
bool can_be_had(const Candidate& candidate) {
  return candidate.usable() && (!candidate.path.empty() || !candidate.entry->repository.empty());
}

}  // namespace

FirstScreen::FirstScreen(ui::WelcomeView& view, DownloadWorker& downloads)
    : view_(view), downloads_(new WizardDownloads(downloads, this)) {
  connect(&view, &ui::WelcomeView::acceptRequested, this, &FirstScreen::accept);
  connect(&view, &ui::WelcomeView::stopRequested, downloads_, &WizardDownloads::stop);
  connect(&view, &ui::WelcomeView::demoRequested, this,
          [this] { Q_EMIT openRequested(q(world_.demo.string()), {}); });
  connect(downloads_, &WizardDownloads::changed, this, &FirstScreen::download_changed);
}

FirstScreen::~FirstScreen() {
  stop_.request_stop();
}

void FirstScreen::look(const FirstWorld& world) {
  world_ = world;
  view_.set_demo(!world.demo.empty());
  if (download_ && download_->error.empty()) return;  // what is fetched stays proposed
  download_.reset();
  looking_ = true;
  show();
  const int look = ++looks_;
  stop_.request_stop();
  stop_ = std::stop_source();
  const auto find = [make = find_machine_, world, entries = entries_, stop = stop_.get_token()] {
    Found found;
    auto machine = make ? make() : find_machine(world.models_folder, world.device);
    if (!machine || machine->trouble) return found;
    machine->room.precision.stores_folder = world.stores;
    machine->room.sequences = world.sequences;
    std::vector<std::filesystem::path> folders{world.models_folder};
    folders.insert(folders.end(), world.folders.begin(), world.folders.end());
    if (machine->memory_read_gb_per_s <= 0) measure_machine(*machine, stop);
    auto candidates = find_candidates(folders, {}, entries, *machine, stop);
    sort_for(candidates, first_wish);
    const auto best = std::ranges::find_if(candidates, can_be_had);
    if (best != candidates.end()) found.best = *best;
    found.machine = *std::move(machine);
    return found;
  };
  in_background(this, find, [this, look](const Found& found) {
    if (look == looks_) take(found);
  });
}

void FirstScreen::stop() {
  stop_.request_stop();
  ++looks_;
  if (!std::exchange(looking_, false)) return;
  show();
}

void FirstScreen::take(const Found& found) {
  looking_ = false;
  machine_ = found.machine;
  proposed_ = found.best;
  show();
}

void FirstScreen::show() {
  using State = ui::ProposalView::State;
  ui::ProposalView shown;
  if (looking_) {
    shown.state = State::looking;
  } else if (proposed_) {
    shown = proposal_view(*proposed_);
    if (download_ && download_->error.empty()) {
      shown.state = State::busy;
      shown.progress = q(download_->words);
      shown.done = download_->done;
      shown.total = download_->total;
    }
    if (download_) {
      shown.error = q(download_->error);
      shown.error_details = q(download_->error_details);
    }
  }
  view_.set_proposal(shown);
}

void FirstScreen::accept() {
  if (!proposed_) return;
  if (!proposed_->path.empty())
    return Q_EMIT openRequested(q(proposed_->path.string()), proposed_->fit.precision);
  download_ = WizardDownload{};
  downloads_->start(q(proposed_->entry->repository), q(proposed_->entry->file));
  show();
}

void FirstScreen::download_changed(const WizardDownload& download) {
  if (!download_) return;
  download_ = download;
  show();
  if (download.model.empty() || !machine_) return;
  // The planner knows exactly now that the file is here.
  in_background(
      this,
      [path = download.model, machine = *machine_, entries = entries_] {
        return examine_model(path, machine, entries);
      },
      [this](const Candidate& candidate) {
        download_.reset();
        if (candidate.trouble.empty()) {
          proposed_ = candidate;
        } else {
          download_ = WizardDownload{.error = candidate.trouble, .error_details = candidate.trouble_details};
        }
        show();
        if (candidate.usable()) Q_EMIT openRequested(q(candidate.path.string()), candidate.fit.precision);
      });
}

}  // namespace fovea::app
