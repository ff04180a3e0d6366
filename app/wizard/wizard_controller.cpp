// The way through the wizard's pages.
#include "app/wizard/wizard_controller.h"

#include "app/library/background.h"
#include "app/words/error_words.h"

namespace fovea::app {
namespace {

using Page = ui::WizardPage;
using Dialog = ui::WizardDialog;

constexpr int plan_delay_ms = 120;

}  // namespace

WizardController::WizardController(WizardWorld world, QWidget* parent)
    : QObject(parent), world_(std::move(world)), dialog_(new Dialog(parent)) {
  plan_timer_.setSingleShot(true);
  plan_timer_.setInterval(plan_delay_ms);
  connect(&plan_timer_, &QTimer::timeout, this, &WizardController::plan);
  connect_dialog();
  dialog_->set_wish(static_cast<ui::WishView>(wish_));
}

WizardController::~WizardController() {
  stop_.request_stop();
  plan_stop_.request_stop();
  if (dialog_) dialog_->deleteLater();
}

void WizardController::connect_dialog() {
  connect(dialog_, &Dialog::backRequested, this, &WizardController::back);
  connect(dialog_, &Dialog::nextRequested, this, &WizardController::next);
  connect(dialog_, &Dialog::closeRequested, this, &WizardController::close);
  connect(dialog_, &Dialog::skipRequested, this, [this] {
    if (page_ == Page::calibration) return finish();
    if (opening_) Q_EMIT stopRequested();
    enter(static_cast<Page>(static_cast<int>(page_) + 1));
  });
  connect(dialog_, &Dialog::deviceChosen, this, &WizardController::choose_device);
  connect(dialog_, &Dialog::wishChosen, this, [this](ui::WishView wish) {
    wish_ = static_cast<Wish>(wish);
    chosen_by_user_ = false;
    show_models();
  });
  connect(dialog_, &Dialog::modelChosen, this, &WizardController::choose);
  connect(dialog_, &Dialog::memoryChanged, this, [this](const ui::MemoryChoice& choice) {
    setup_.context = contexts_[static_cast<std::size_t>(choice.context)];
    setup_.kv = static_cast<KvType>(choice.kv_type);
    const PrecisionRequest& precision = choices_[static_cast<std::size_t>(choice.precision)];
    // Another store may know nothing of what its tiers cost.
    setup_.precision.nats_per_ms = choice_of(setup_) == precision
                                       ? preferences[static_cast<std::size_t>(choice.prefer)]
                                       : preferences[0];
    setup_ = with_choice(setup_, precision);
    setup_.precision.budget_bytes = choice.budget_bytes;
    replan_later();
  });
  connect(dialog_, &Dialog::remedyChosen, this, &WizardController::apply_remedy);
  connect(dialog_, &Dialog::downloadRequested, this, [this] {
    if (!chosen_ || !chosen_->entry) return;
    downloading_ = true;
    Q_EMIT downloadRequested(QString::fromStdString(chosen_->entry->repository),
                             QString::fromStdString(chosen_->entry->file));
    show_start();
  });
  connect(dialog_, &Dialog::stopRequested, this, &WizardController::stopRequested);
  connect(dialog_, &Dialog::measureRequested, this, &WizardController::measure);
}

void WizardController::start(Page page) {
  first_page_ = page;
  page_ = page;
  dialog_->show_page(page);
  update_navigation();
  find();
  dialog_->open();
}

void WizardController::enter(Page page) {
  page_ = page;
  switch (page) {
    case Page::machine:
    case Page::wish:
      break;
    case Page::models:
      if (looked_) look_for_models();  // what came meanwhile, as by a command in a terminal
      show_models();
      break;
    case Page::memory:
      show_memory();
      break;
    case Page::start:
      start_ = {};
      show_start();
      break;
    case Page::calibration:
      measured_.reset();
      show_calibration();
      if (is_open()) measure();
      break;
  }
  dialog_->show_page(page);
  update_navigation();
}

void WizardController::next() {
  switch (page_) {
    case Page::calibration:
      return finish();
    case Page::start:
      if (!is_here()) return;
      if (is_open()) return enter(Page::calibration);
      opening_ = true;
      opened_another_ = true;
      opened_.reset();
      start_.error.clear();
      start_.progress = tr("Loading…");
      start_.done = start_.total = 0;
      show_start();
      // On two cards the plan is made anew, from what is free there when the open model is closed.
      Q_EMIT openRequested(request(), machine_->first_gpu ? std::nullopt : report_);
      return update_navigation();
    default:
      enter(static_cast<Page>(static_cast<int>(page_) + 1));
  }
}

void WizardController::back() {
  if (opening_ || calibrating_) Q_EMIT stopRequested();
  if (page_ != Page::machine) enter(static_cast<Page>(static_cast<int>(page_) - 1));
}

void WizardController::close() {
  if (opening_ || calibrating_) Q_EMIT stopRequested();
  dialog_->hide();
  Q_EMIT cancelled(opened_another_);
}

// Without a model that is on this machine there is nothing to keep.
void WizardController::finish() {
  if (calibrating_) Q_EMIT stopRequested();
  dialog_->hide();
  if (is_here()) {
    Q_EMIT finished(request(), is_open());
  } else {
    Q_EMIT cancelled(opened_another_);
  }
}

LoadOptions WizardController::request() const {
  LoadOptions options = load_options(chosen_->path, setup_, world_.stores);
  options.sequences = world_.sequences;
  return options;
}

void WizardController::update_navigation() {
  ui::NavigationView navigation;
  navigation.back = page_ != Page::machine;
  const bool planned_to_fit = !plan_pending_ && (!report_ || report_->plan.fits);
  switch (page_) {
    case Page::machine:
      navigation.next = navigation.skip = !machine_ || !machine_->trouble;
      break;
    case Page::wish:
      break;
    case Page::models:
      navigation.next = chosen_ && chosen_->usable();
      navigation.skip = navigation.next;
      break;
    case Page::memory:
      navigation.next = chosen_ && planned_to_fit && !choices_.empty();
      navigation.skip = navigation.next;
      break;
    case Page::start:
      navigation.next = is_here() && planned_to_fit && !opening_;
      navigation.next_text = is_open() || !is_here() ? QString() : tr("&Open");
      break;
    case Page::calibration:
      navigation.skip = calibrating_;
      navigation.next_text = tr("&Finish");
      break;
  }
  dialog_->set_navigation(navigation);
}

// --- what comes from outside

void WizardController::load_progress(const Progress& progress) {
  if (!opening_) return;
  start_.progress = stage_words(progress);
  start_.done = progress.done;
  start_.total = progress.total;
  dialog_->set_start(start_);
}

void WizardController::model_opened() {
  if (!opening_) return;
  opening_ = false;
  opened_ = setup_;
  opened_path_ = chosen_->path;
  if (page_ == Page::start) return enter(Page::calibration);
  if (page_ == Page::calibration) measure();
  update_navigation();
}

void WizardController::open_failed(const Error& error) {
  if (!opening_) return;
  opening_ = false;
  start_.busy = false;
  const auto [text, details] = error.kind == ErrorKind::cancelled
                                   ? ErrorText{tr("Stopped. What has been prepared is kept."), {}}
                                   : error_text(error);
  start_.error = text;
  start_.error_details = details;
  if (page_ == Page::start) show_start();
  update_navigation();
}

void WizardController::calibration_progress(const Progress& progress) {
  if (!calibrating_) return;
  calibration_.done = progress.done;
  calibration_.total = progress.total;
  dialog_->set_calibration(calibration_);
}

void WizardController::calibrated(const CalibrationResult& result) {
  if (!calibrating_) return;
  calibrating_ = false;
  measured_ = result;
  show_calibration();
  update_navigation();
}

void WizardController::calibration_failed(const Error& error) {
  if (!calibrating_) return;
  calibrating_ = false;
  const auto [text, details] = error.kind == ErrorKind::cancelled ? ErrorText{} : error_text(error);
  calibration_.error = text;
  calibration_.error_details = details;
  show_calibration(tr("The measurement was stopped."));
  update_navigation();
}

void WizardController::download_changed(const WizardDownload& download) {
  if (!chosen_ || !chosen_->entry || is_here() || chosen_->entry->repository != download.repository ||
      chosen_->entry->file != download.file)
    return;
  downloading_ = download.error.empty() && download.model.empty();
  start_.progress = QString::fromStdString(download.words);
  start_.done = download.done;
  start_.total = download.total;
  start_.error = QString::fromStdString(download.error);
  start_.error_details = QString::fromStdString(download.error_details);
  if (!download.model.empty()) {
    in_background(
        this,
        [path = download.model, machine = *machine_, entries = world_.catalogue] {
          return examine_model(path, machine, entries);
        },
        [this](Candidate candidate) {
          if (candidate.usable()) take(candidate);
          start_ = {};
          start_.error = QString::fromStdString(candidate.trouble);
          start_.error_details = QString::fromStdString(candidate.trouble_details);
          if (page_ == Page::start) show_start();
          update_navigation();
        });
  }
  if (page_ == Page::start) show_start();
  update_navigation();
}

}  // namespace fovea::app
