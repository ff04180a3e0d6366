// What the wizard's pages show: each gets its numbers from another thread.
#include <algorithm>
#include <utility>

#include "app/advisor/command_line.h"
#include "app/library/background.h"
#include "app/library/stores.h"
#include "app/wizard/device_views.h"
#include "app/wizard/wizard_controller.h"
#include "app/words/error_words.h"
#include "app/words/tier_words.h"

namespace fovea::app {
namespace {

using Page = ui::WizardPage;

template <class Value>
int index_of(const std::vector<Value>& values, const Value& value) {
  const auto found = std::ranges::find(values, value);
  return found == values.end() ? 0 : static_cast<int>(found - values.begin());
}

bool same_model(const Candidate& a, const Candidate& b) {
  if (a.entry && b.entry) return a.entry->id == b.entry->id;
  return a.path == b.path && !a.path.empty();
}

// What someone who asks for less memory wants: experts at two precisions, within less than it takes now, and
// with room above the least for some to change.
LoadOptions smaller_setup(const Candidate& candidate, const Machine& machine, const LoadOptions& open,
                          std::int64_t open_bytes) {
  LoadOptions setup = setup_of(open);
  if (setup.precision.policy != PolicyKind::none) return setup;
  for (const PrecisionRequest& choice : precision_choices(candidate, machine)) {
    if (choice.policy != (candidate.experts > 0 ? PolicyKind::fovea : PolicyKind::static_tiers)) continue;
    setup = with_choice(setup, choice);
    break;
  }
  setup.precision.budget_bytes = open_bytes * 4 / 5;
  if (const auto report = plan_of(candidate, setup, machine)) {
    const std::int64_t least = report->plan.min_bytes;
    setup.precision.budget_bytes = std::max({setup.precision.budget_bytes, least, (least + open_bytes) / 2});
  }
  setup.precision.budget_bytes = std::min(machine.room.precision.budget_bytes, setup.precision.budget_bytes);
  return setup;
}

struct Planned {
  Result<LoadPlan> report;
  std::vector<Remedy> remedies = {};
  StoreNeed store = {};
};

struct Opened {
  Candidate candidate;
  LoadOptions setup;
  std::vector<PrecisionRequest> choices;
};

}  // namespace

// --- machine

void WizardController::find() {
  measuring_ = true;
  const int number = ++machines_;
  const bool held_there = world_.open && same_device(world_.open->device, world_.device.name);
  const auto look = [make = world_.machine, models = world_.models_folder, device = world_.device,
                     held = held_there ? world_.open_bytes : 0] {
    return make ? make(device) : find_machine(models, device, held);
  };
  in_background(this, look, [this, number](Result<Machine> found) {
    if (number != machines_) return;
    if (!found) {
      measuring_ = false;
      const ErrorText error = error_text(found.error());
      dialog_->set_machine({}, error.text, false, error.details);
      return;
    }
    if (machine_) {  // measured before, for another device
      found->memory_read_gb_per_s = machine_->memory_read_gb_per_s;
      found->disk_read_gb_per_s = machine_->disk_read_gb_per_s;
      found->processor_gop_per_s = machine_->processor_gop_per_s;
    }
    machine_ = *std::move(found);
    machine_->room.precision.stores_folder = world_.stores;
    machine_->room.sequences = world_.sequences;
    measuring_ = machine_->memory_read_gb_per_s <= 0 && !machine_->trouble;
    show_machine();
    update_navigation();
    if (machine_->trouble) return;
    if (first_page_ == Page::memory && world_.open) take_open_model();
    if (!measuring_) return look_for_models();
    in_background(
        this,
        [machine = *machine_, stop = stop_.get_token()]() mutable {
          measure_machine(machine, stop);
          return machine;
        },
        [this, number](const Machine& machine) {
          if (number != machines_) return;
          machine_ = machine;
          measuring_ = false;
          show_machine();
          look_for_models();
        });
  });
}

void WizardController::show_machine() {
  const DeviceViews devices = device_views(machine_->devices, machine_->no_gpu, world_.device);
  dialog_->set_devices(devices.views, devices.chosen);
  dialog_->set_machine(machine_facts(*machine_, measuring_), machine_note(*machine_), measuring_);
}

// Everything that was planned was for another device.
void WizardController::choose_device(const QString& id) {
  if (!machine_) return;
  const DeviceChoice choice = choice_of_device(machine_->devices, id);
  if (choice == world_.device) return;
  world_.device = choice;
  plan_stop_.request_stop();
  ++planning_;
  plan_timer_.stop();
  candidates_.clear();
  chosen_.reset();
  chosen_by_user_ = looking_ = looked_ = plan_pending_ = false;
  report_.reset();
  find();
}

void WizardController::take_open_model() {
  in_background(
      this,
      [machine = *machine_, open = *world_.open, bytes = world_.open_bytes, entries = world_.catalogue] {
        Opened opened{.candidate = examine_model(open.model, machine, entries), .setup = {}, .choices = {}};
        if (opened.candidate.trouble.empty()) {
          opened.setup = smaller_setup(opened.candidate, machine, open, bytes);
          if (const auto report = plan_of(opened.candidate, opened.setup, machine))
            opened.setup = named(opened.setup, *report);
        }
        return opened;
      },
      [this, number = machines_](Opened opened) {
        if (chosen_by_user_ || number != machines_) return;
        chosen_by_user_ = true;
        take(opened.candidate);
        setup_ = opened.setup;
        if (page_ == Page::memory) show_memory();
      });
}

// --- models

void WizardController::look_for_models() {
  if (!machine_ || looking_) return;
  looking_ = true;
  std::vector<std::filesystem::path> folders{world_.models_folder};
  folders.insert(folders.end(), world_.folders.begin(), world_.folders.end());
  in_background(
      this,
      [folders, paths = world_.models, entries = world_.catalogue, machine = *machine_,
       stop = stop_.get_token()] {
        auto found = find_candidates(folders, paths, entries, machine, stop);
        for (Candidate& candidate : found)
          if (!stop.stop_requested()) find_longest_context(candidate, machine);
        return found;
      },
      [this, number = machines_](std::vector<Candidate> found) {
        if (number == machines_) take_candidates(std::move(found));
      });
}

void WizardController::take_candidates(std::vector<Candidate> found) {
  looking_ = false;
  looked_ = true;
  candidates_ = std::move(found);
  // The one that was chosen may be here now.
  if (chosen_ && chosen_->path.empty()) {
    const auto now =
        std::ranges::find_if(candidates_, [&](const Candidate& c) { return same_model(c, *chosen_); });
    if (now != candidates_.end() && !now->path.empty()) take(*now);
  }
  show_models();
}

void WizardController::show_models() {
  sort_for(candidates_, wish_);
  std::vector<ui::ModelRow> rows;
  int current = 0;
  for (const Candidate& candidate : candidates_) {
    if (chosen_by_user_ && chosen_ && same_model(candidate, *chosen_))
      current = static_cast<int>(rows.size());
    rows.push_back(model_row(candidate, *machine_));
  }
  if (!candidates_.empty() && !chosen_by_user_) take(candidates_.front());
  const bool some_fit = std::ranges::any_of(candidates_, &Candidate::usable);
  QString note;
  if (looked_ && candidates_.empty()) {
    note = tr(
        "No model was found, and none is known to fit. Open a file from the menu at the top right instead.");
  } else if (looked_ && !some_fit) {
    note =
        tr("None of these fits in what is free now. Close other programs, go back to the first page, and try "
           "again.");
  } else if (!candidates_.empty() && candidates_.front().path.empty() && !world_.open &&
             std::ranges::any_of(candidates_,
                                 [](const Candidate& c) { return c.usable() && !c.path.empty(); })) {
    note =
        tr("You do not have to download anything to begin: closing this window opens a model that is already "
           "on this computer.");
  }
  dialog_->set_models(rows, current, note, (looking_ || measuring_) && candidates_.empty());
  update_navigation();
}

void WizardController::choose(int row) {
  if (row < 0 || row >= static_cast<int>(candidates_.size())) return;
  chosen_by_user_ = true;
  take(candidates_[static_cast<std::size_t>(row)]);
  update_navigation();
}

void WizardController::take(const Candidate& candidate) {
  const bool other = !chosen_ || !same_model(*chosen_, candidate) || chosen_->path != candidate.path;
  chosen_ = candidate;
  if (!other) return;
  choices_.clear();
  report_.reset();
  remedies_.clear();
  setup_ = usual_setup(candidate, *machine_);
  if (wish_ == Wish::long_context && candidate.best_context > setup_.context)
    setup_.context = candidate.best_context;
}

// --- memory

void WizardController::show_memory() {
  if (!chosen_ || !chosen_->trouble.empty()) return;
  plan_pending_ = true;
  in_background(
      this,
      [candidate = *chosen_, machine = *machine_, stores = world_.stores] {
        const auto prepared =
            candidate.path.empty() ? std::vector<StoreFile>() : stores_of(candidate.path, stores);
        return precision_choices(candidate, machine, prepared);
      },
      [this, path = chosen_->path, name = chosen_->name](std::vector<PrecisionRequest> choices) {
        if (!chosen_ || chosen_->path != path || chosen_->name != name) return;
        choices_ = std::move(choices);
        if (std::ranges::find(choices_, choice_of(setup_)) == choices_.end())
          choices_.push_back(choice_of(setup_));
        contexts_ = offered_contexts(*chosen_);
        if (std::ranges::find(contexts_, setup_.context) == contexts_.end()) {
          contexts_.push_back(setup_.context);
          std::ranges::sort(contexts_);
        }
        dialog_->set_memory_options(memory_options(*chosen_, contexts_, choices_, *machine_));
        show_setup();
        plan();
        update_navigation();
      });
}

void WizardController::show_setup() {
  dialog_->set_memory_choice({.context = index_of(contexts_, setup_.context),
                              .kv_type = static_cast<int>(setup_.kv),
                              .precision = index_of(choices_, choice_of(setup_)),
                              .prefer = preference_of(setup_.precision.nats_per_ms),
                              .budget_bytes = setup_.precision.budget_bytes});
}

void WizardController::replan_later() {
  plan_stop_.request_stop();
  ++planning_;
  plan_pending_ = true;
  update_navigation();
  if (report_) {
    ui::BudgetView waiting = budget_view(*chosen_, setup_, *report_, {}, *machine_);
    waiting.planning = true;
    if (waiting.first_card) waiting.first_card->planning = true;
    dialog_->set_budget(waiting);
  }
  plan_timer_.start();
}

void WizardController::plan() {
  if (!chosen_ || !machine_) return;
  plan_stop_.request_stop();
  plan_stop_ = std::stop_source();
  const int number = ++planning_;
  plan_pending_ = true;
  if (planned_by_size_alone(*chosen_)) {
    report_.reset();
    plan_pending_ = false;
    dialog_->set_budget(budget_by_size(*chosen_, setup_));
    return update_navigation();
  }
  in_background(
      this,
      [candidate = *chosen_, setup = setup_, machine = *machine_, stores = world_.stores,
       stop = plan_stop_.get_token()] {
        Planned planned{.report = plan_of(candidate, setup, machine)};
        if (planned.report && !stop.stop_requested()) {
          if (!planned.report->plan.fits)
            planned.remedies = remedies(candidate, setup, *planned.report, machine, stop);
          if (!candidate.path.empty() && planned.report->policy() != PolicyKind::none)
            planned.store = store_need(candidate.path, planned.report->plan, stores, setup.device);
        }
        return planned;
      },
      [this, number](Planned planned) {
        if (number != planning_) return;
        plan_pending_ = false;
        remedies_ = std::move(planned.remedies);
        store_ = planned.store;
        if (planned.report) {
          report_ = *std::move(planned.report);
          dialog_->set_budget(budget_view(*chosen_, setup_, *report_, remedies_, *machine_));
        } else {
          report_.reset();
          ui::BudgetView wrong;
          wrong.fits = false;
          const ErrorText error = error_text(planned.report.error());
          wrong.verdict = error.text;
          wrong.verdict_details = error.details;
          dialog_->set_budget(wrong);
        }
        if (page_ == Page::start) show_start();
        if (page_ == Page::calibration) show_calibration(calibration_.text);
        update_navigation();
      });
}

void WizardController::apply_remedy(int remedy) {
  if (remedy < 0 || remedy >= static_cast<int>(remedies_.size())) return;
  setup_ = remedies_[static_cast<std::size_t>(remedy)].setup;
  show_setup();
  plan();
}

// --- opening

void WizardController::show_start() {
  if (!chosen_) return;
  const QString name = published_name(chosen_->name);
  start_.facts = start_facts(*chosen_, store_, *machine_);
  start_.busy = opening_ || downloading_;
  start_.can_download = false;
  start_.command.clear();
  const bool from_hub = chosen_->entry && !chosen_->entry->repository.empty();
  if (is_here()) {
    start_.text = is_open() ? tr("%1 is open with these settings.").arg(name)
                            : tr("%1 will be opened with these settings. Any open model is closed; it comes "
                                 "back if you close this window before the end.")
                                  .arg(name);
  } else if (from_hub && world_.can_download) {
    start_.text = tr("%1 is not on this computer yet.").arg(name);
    start_.can_download = true;
  } else {
    start_.text =
        tr("%1 is not on this computer yet. Run this in a terminal, then go back to the list of models.")
            .arg(name);
    start_.command = from_hub
                         ? QString::fromStdString(
                               command_line({"download", chosen_->entry->repository, chosen_->entry->file}))
                         : QString::fromStdString(chosen_->entry ? chosen_->entry->made_by : std::string());
  }
  dialog_->set_start(start_);
}

// --- prediction and reality

void WizardController::show_calibration(const QString& text) {
  calibration_.can_measure = chosen_ && is_open();
  calibration_.running = calibrating_;
  if (calibrating_) {
    calibration_.text = tr("The model writes for a few seconds, to measure how fast it is.");
  } else if (measured_) {
    calibration_.text = tr("Measured for %n second(s).", nullptr, static_cast<int>(measured_->seconds + 0.5));
  } else if (!text.isEmpty()) {
    calibration_.text = text;
  } else {
    calibration_.text = tr("The model is not open, so nothing is measured. These are the predictions.");
  }
  calibration_.rows.clear();
  calibration_.command_line.clear();
  if (chosen_) {
    calibration_.rows = comparison(*chosen_, report_, *machine_, measured_);
    if (is_here()) {
      const std::filesystem::path& path = chosen_->path;
      const bool in_library = path.parent_path() == world_.models_folder && path.extension() == ".gguf";
      calibration_.command_line = QString::fromStdString(
          command_line(arguments_for(in_library ? path.stem().string() : path.string(), request())));
    }
  }
  dialog_->set_calibration(calibration_);
}

void WizardController::measure() {
  calibrating_ = true;
  measured_.reset();
  calibration_.error.clear();
  calibration_.done = calibration_.total = 0;
  show_calibration();
  update_navigation();
  Q_EMIT calibrateRequested(world_.calibration);
}

}  // namespace fovea::app
