// The wizard's window: its steps at the left, the page in the middle, the buttons below. It shows what it is
// told and emits what the user asks for. It decides nothing.
#pragma once

#include <QDialog>
#include <vector>

#include "ui/devices/device_box.h"
#include "ui/wizard/wizard_view.h"

class QLabel;
class QPushButton;
class QStackedWidget;

namespace fovea::ui {

class CalibrationPage;
class MachinePage;
class MemoryPage;
class ModelsPage;
class StartPage;
class StepRail;
class WishPage;

class WizardDialog : public QDialog {
  Q_OBJECT

 public:
  explicit WizardDialog(QWidget* parent = nullptr);

  void show_page(WizardPage page);
  WizardPage page() const { return page_; }
  void set_navigation(const NavigationView& navigation);

  void set_devices(const std::vector<DeviceView>& devices, const QString& chosen);
  void set_machine(const std::vector<FactView>& facts, const QString& note, bool measuring,
                   const QString& note_details = {});
  void set_wish(WishView wish);
  void set_models(const std::vector<ModelRow>& rows, int current, const QString& note, bool looking);
  void set_memory_options(const MemoryOptions& options);
  void set_memory_choice(const MemoryChoice& choice);
  void set_budget(const BudgetView& budget);
  void set_start(const StartView& start);
  void set_calibration(const CalibrationView& calibration);

 Q_SIGNALS:
  void backRequested();
  void nextRequested();
  void skipRequested();
  void closeRequested();  // without finishing
  void deviceChosen(const QString& id);
  void wishChosen(fovea::ui::WishView wish);
  void modelChosen(int row);
  void memoryChanged(const fovea::ui::MemoryChoice& choice);
  void remedyChosen(int remedy);
  void downloadRequested();
  void stopRequested();     // what is under way on the page
  void measureRequested();  // the calibration once more

 protected:
  void reject() override { Q_EMIT closeRequested(); }

 private:
  QWidget* make_buttons();
  void connect_pages();

  WizardPage page_ = WizardPage::machine;
  StepRail* rail_;
  QLabel* title_;
  QLabel* subtitle_;
  QStackedWidget* pages_;
  MachinePage* machine_;
  WishPage* wish_;
  ModelsPage* models_;
  MemoryPage* memory_;
  StartPage* start_;
  CalibrationPage* calibration_;
  QPushButton* back_;
  QPushButton* skip_;
  QPushButton* next_;
  QPushButton* close_;
};

}  // namespace fovea::ui
