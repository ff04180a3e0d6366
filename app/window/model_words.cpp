#include "app/window/model_words.h"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>
#include <cmath>
#include <utility>

#include "app/demo/demo_model.h"
#include "app/library/device_choice.h"
#include "app/window/model_rows.h"
#include "app/words/error_words.h"
#include "app/words/tier_words.h"
#include "ui/language/number_text.h"

namespace fovea::app {
namespace {

struct ModelWords {
  Q_DECLARE_TR_FUNCTIONS(fovea::app::ModelWords)
};

QString number(double value, int decimals) {
  return QLocale().toString(value, 'f', decimals);
}

}  // namespace

QString too_long_text(std::int64_t tokens, std::int64_t context, std::int64_t trained) {
  const QLocale locale;
  const QString text =
      ModelWords::tr("This message has %1 tokens, more than the %2 that the model reads at once.")
          .arg(locale.toString(static_cast<qlonglong>(tokens)),
               locale.toString(static_cast<qlonglong>(context)));
  return text + QLatin1Char(' ') +
         (context < trained
              ? ModelWords::tr(
                    "Shorten it or its attachments, or open the model with a longer context (Settings).")
              : ModelWords::tr("Shorten it or its attachments."));
}

QString shown_name(const ModelInfo& info) {
  return info.name == demo_model_name ? q(info.name.substr(0, info.name.find(" ("))) : q(info.name);
}

QString details_of(const ModelInfo& info) {
  const auto count = static_cast<double>(info.parameters);
  const QString parameters = count < 1e9 ? ModelWords::tr("%1 M parameters").arg(number(count / 1e6, 0))
                                         : ModelWords::tr("%1 B parameters").arg(number(count / 1e9, 1));
  QString text = parameters;
  if (info.experts > 0) {
    text += QStringLiteral(" · ") +
            ModelWords::tr("%1 experts, %2 for each token").arg(info.experts).arg(info.experts_used);
  }
  return text;
}

const char* policy_word(PolicyKind policy) {
  switch (policy) {
    case PolicyKind::none:
      return "none";
    case PolicyKind::static_tiers:
      return "static";
    case PolicyKind::dynaexq:
      return "dynaexq";
    case PolicyKind::fovea:
      return "fovea";
    case PolicyKind::offload:
      return "offload";
    case PolicyKind::flexquant:
      return "flexquant";
    case PolicyKind::pmpd:
      return "pmpd";
    case PolicyKind::automatic:
      return "automatic";
  }
  return "";
}

DeviceChoice device_choice(const LoadedModel& model) {
  return choice_of({.device = &model.device, .first = model.first_card ? &model.first_device : nullptr});
}

QString device_text(const LoadedModel& model) {
  if (model.first_card) {
    const QString first = short_name(model.first_device), last = short_name(model.device);
    return first == last ? ModelWords::tr("two %1").arg(first) : ModelWords::tr("%1 and %2").arg(first, last);
  }
  const QString name = device_name(model.device);
  return model.memory.host_weights > 0 ? ModelWords::tr("%1 and processor").arg(name) : name;
}

QString device_why(const LoadedModel& model) {
  const QString name = QString::fromStdString(model.device.name);
  if (model.first_card)
    return ModelWords::tr("The first %1 of the model's %2 layers are on %3 (%4), the others on %5 (%6).")
               .arg(model.first_card->layers)
               .arg(model.info.layers)
               .arg(device_name(model.first_device), QString::fromStdString(model.first_device.name),
                    device_name(model.device), name) +
           QLatin1Char(' ') + ModelWords::tr("The settings choose another device.");
  QString why = is_card(model.device.name) ? ModelWords::tr("The model runs on %1: %2.")
                                                 .arg(name, QString::fromStdString(model.device.description))
                                           : ModelWords::tr("The model runs on the processor: %1.")
                                                 .arg(QString::fromStdString(model.device.description));
  if (model.memory.host_weights > 0)
    why += QLatin1Char(' ') + ModelWords::tr(
                                  "%1 of its weights are in main memory, where the processor computes "
                                  "with them.")
                                  .arg(ui::bytes_text(model.memory.host_weights));
  return why + QLatin1Char(' ') + ModelWords::tr("The settings choose another device.");
}

std::string policy_name(const LoadedModel& model) {
  std::string name = policy_word(model.settings.precision.policy);
  if (!model.plan) return name;
  const char* between = " ";
  for (const PlanTier& tier : model.plan->parts.experts) name += std::exchange(between, "/") + tier.name;
  return name;
}

QString policy_text(PolicyKind policy, const std::vector<std::string>& tiers) {
  switch (policy) {
    case PolicyKind::none:
      return ModelWords::tr("weights as in the file");
    case PolicyKind::dynaexq:
    case PolicyKind::fovea:
      return tiers.size() == 2 ? ModelWords::tr("hot experts at %1, the others at %2")
                                     .arg(tier_words(tiers[0]), tier_words(tiers[1]))
                               : ModelWords::tr("experts at %1, as they are used").arg(tier_words(tiers));
    case PolicyKind::static_tiers:
      return ModelWords::tr("a fixed mix of %1").arg(tier_words(tiers));
    case PolicyKind::offload:
      return ModelWords::tr("some experts in a slower place");
    case PolicyKind::flexquant:
    case PolicyKind::pmpd:
      return ModelWords::tr("layers at %1").arg(tier_words(tiers));
    case PolicyKind::automatic:
      break;
  }
  return {};
}

QString policy_text(const LoadedModel& model) {
  std::vector<std::string> tiers;
  if (model.plan)
    for (const PlanTier& tier : model.plan->parts.experts) tiers.push_back(tier.name);
  return policy_text(model.settings.precision.policy, tiers);
}

QString policy_text(const std::string& stored) {
  const std::size_t space = stored.find(' ');
  const auto policy = named_in(policy_names, std::string_view(stored).substr(0, space));
  if (!policy) return QString::fromStdString(stored);
  std::vector<std::string> tiers;
  if (space != std::string::npos)
    for (const QString& tier : QString::fromStdString(stored.substr(space + 1)).split(QLatin1Char('/')))
      tiers.push_back(tier.toStdString());
  return policy_text(*policy, tiers);
}

QString policy_why(const LoadedModel& model) {
  switch (model.settings.precision.policy) {
    case PolicyKind::none:
      return ModelWords::tr(
          "Every weight is as precise as in the model's file; nothing changes while it answers.");
    case PolicyKind::static_tiers:
      return ModelWords::tr("Each expert has a fixed precision: the best mix that fits the budget.");
    case PolicyKind::dynaexq:
      return ModelWords::tr(
          "The experts that this conversation uses most are precise; the others take less room. This changes "
          "while you talk.");
    case PolicyKind::fovea:
      return ModelWords::tr(
          "Each expert is as precise as this conversation needs it to be: at first the fixed mix for the "
          "budget, then according to what it uses. This changes while you talk.");
    case PolicyKind::offload:
      return ModelWords::tr("Some experts are kept in a slower place so that a larger model fits.");
    case PolicyKind::flexquant:
      return ModelWords::tr(
          "Each question is read at the highest precision; while an answer is certain enough, its layers "
          "go down one by one.");
    case PolicyKind::pmpd:
      return ModelWords::tr(
          "Each question is read at the highest precision; the longer an answer is, the lower the "
          "precision of all layers.");
    case PolicyKind::automatic:
      break;
  }
  return {};
}

std::int64_t memory_bytes(const LoadedModel& model) {
  if (model.plan) return total_of_all(*model.plan);
  return model.memory.on_device() + model.memory.first_card;
}

QString changed_text(const std::vector<PlanDifference>& changed) {
  QStringList what;
  for (const PlanDifference& each : changed) what += sentence_words(phrase_of(each));
  return ModelWords::tr("The plan that was shown no longer applies: %1.")
      .arg(what.join(QStringLiteral("; ")));
}

QString window_words() {
  return ModelWords::tr("What layers with a window remember, including earlier tokens to return to: %1");
}

QString state_words() {
  return ModelWords::tr("State of its recurrent layers, with copies to return to: %1");
}

QString memory_why(const LoadedModel& model) {
  QStringList lines;
  const auto add = [&lines](const QString& name, std::int64_t bytes) {
    if (bytes > 0) lines += name.arg(ui::bytes_text(bytes));
  };
  if (model.first_card) {
    const auto add_card = [&](const DeviceInfo& card, const DeviceInfo& other, const CardPart& part) {
      lines += ModelWords::tr("%1: %2 of %3, of which the conversation has %4")
                   .arg(short_name(card, other), ui::bytes_text(part.taken_bytes()),
                        ui::bytes_text(part.budget_bytes),
                        ui::bytes_text(part.parts.kv + part.parts.windows + part.parts.states));
    };
    add_card(model.first_device, model.device, *model.first_card);
    add_card(model.device, model.first_device, model.last_card);
  } else if (model.plan) {
    const Plan::Parts& parts = model.plan->parts;
    add(ModelWords::tr("Weights other than experts: %1"), parts.dense);
    for (const PlanTier& tier : parts.experts) {
      lines += ModelWords::tr("%n expert(s) at %1: %2", nullptr, static_cast<int>(tier.units))
                   .arg(tier_words(tier.name), ui::bytes_text(tier.bytes));
    }
    add(ModelWords::tr("What the model remembers of the conversation: %1"), parts.kv);
    add(window_words(), parts.windows);
    add(state_words(), parts.states);
    add(ModelWords::tr("Working memory: %1"), parts.activations);
    add(ModelWords::tr("Kept free: %1"), parts.safety);
    add(ModelWords::tr("Budget: %1"), model.settings.precision.budget_bytes);
  } else {
    add(ModelWords::tr("Weights: %1"), model.memory.weights);
    add(ModelWords::tr("What the model remembers of the conversation: %1"), model.memory.kv_cache);
    add(window_words(), model.memory.windows);
    add(state_words(), model.memory.states);
    add(ModelWords::tr("Working memory: %1"), model.memory.activations);
  }
  add(ModelWords::tr("In main memory, where the processor computes with them: %1"),
      model.memory.host_weights);
  return lines.join(QLatin1Char('\n'));
}

QString switch_words(bool to_fixed, const StoreNeed& store) {
  QString words = to_fixed ? ModelWords::tr(
                                 "The model is reopened with as many experts at each precision as now; after "
                                 "that, they stay as they are. The conversation is kept.")
                           : ModelWords::tr(
                                 "The model is opened again, within the same memory; then its experts change "
                                 "their precision as the conversation needs them. The conversation is kept.");
  if (!store.needed) return words;
  words += QStringLiteral("\n\n");
  const QString size = ui::bytes_text(store.bytes), room = ui::bytes_text(store.free_bytes);
  if (store.there)
    return words + ModelWords::tr(
                       "Nothing is written to the disk: every expert is already there at each precision. "
                       "This takes as long as opening the model.");
  if (store.bytes > store.free_bytes)
    return words + ModelWords::tr(
                       "Every expert would first have to be written at each precision: %1 on the disk, where "
                       "only %2 is free.")
                       .arg(size, room);
  return words + ModelWords::tr(
                     "First, every expert is written at each precision: %1 on the disk, where %2 is free. "
                     "This takes about %3 and is done only once.")
                     .arg(size, room, time_words(std::llround(store.seconds)));
}

}  // namespace fovea::app
