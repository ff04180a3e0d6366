// In the composer's card: what is being done, how fast, and how much of the context is full. What runs, how
// and in how much memory is told when somebody points at it.
#pragma once

#include <QWidget>

namespace fovea::ui {

class ElidedLabel;
class RingGauge;

struct StatusView {
  QString activity;              // "Reading the prompt…", "Answering in “…”"
  bool is_in_view = false;       // what it is about
  QString model;                 // its name
  QString device;                // that computes: "Processor", "NVIDIA RTX A6000"
  QString device_why;            // tooltip
  QString policy;                // how experts are kept: "dynaexq", "as the file has them"
  QString policy_why;            // tooltip
  qint64 context_used = 0;       // tokens
  qint64 context = 0;            // 0: no model
  double tokens_per_second = 0;  // of the answer that is written, else of the last one; 0: not known
  qint64 memory_bytes = 0;       // used
  qint64 budget_bytes = 0;       // 0: none
  QString memory_why;

  bool operator==(const StatusView&) const = default;
};

class StatusStrip : public QWidget {
  Q_OBJECT

 public:
  explicit StatusStrip(QWidget* parent = nullptr);
  void set_status(const StatusView& status);
  const StatusView& status() const { return status_; }
  QString text() const;  // all of it, as it is read aloud

 protected:
  bool event(QEvent* event) override;

 private:
  ElidedLabel* add(const char* name);
  void show_what_fits();
  QString memory_text() const;
  QString explanation() const;

  StatusView status_;
  // Where there is little room, some of them are left out: what they say must not push the window's parts
  // about.
  ElidedLabel* activity_;
  ElidedLabel* speed_;
  ElidedLabel* context_;
  RingGauge* ring_;
};

}  // namespace fovea::ui
