#include "app/window/beside_offer.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "app/window/model_rows.h"
#include "ui/language/number_text.h"

namespace fovea::app {
namespace {

using Kind = Counterpart::Kind;
using Room = Counterpart::Room;

struct OfferWords {
  Q_DECLARE_TR_FUNCTIONS(fovea::app::BesideLink)
};

const Counterpart* find(const Counterparts& all, Kind kind) {
  const auto found = std::ranges::find(all.choices, kind, &Counterpart::kind);
  return found == all.choices.end() ? nullptr : &*found;
}

// What a counterpart has to write before it can be opened; nothing: 0 bytes.
StoreNeed to_write(const StoreNeed& store) {
  return store.needed && !store.there ? store : StoreNeed{.needed = store.needed};
}

// Of both, which lie on one disk.
StoreNeed sum(const StoreNeed& one, const StoreNeed& other) {
  return {.needed = one.needed || other.needed,
          .bytes = one.bytes + other.bytes,
          .free_bytes = one.bytes > 0 ? one.free_bytes : other.free_bytes,
          .seconds = one.seconds + other.seconds};
}

// Why it cannot be opened here where `before` is written first; empty: it can.
ErrorText obstacle_of(const Counterpart& choice, const Counterparts& all, const StoreNeed& before) {
  if (choice.trouble) return error_text(*choice.trouble);
  if (choice.room == Room::none)
    return {OfferWords::tr("It needs %1, and only %2 is free.")
                .arg(ui::bytes_text(choice.bytes), ui::bytes_text(all.free_bytes + all.bytes)),
            {}};
  const StoreNeed store = to_write(choice.store), written = sum(before, store);
  if (store.bytes == 0 || written.bytes <= written.free_bytes) return {};
  const QString words =
      before.bytes > 0 ? OfferWords::tr(
                             "Together with the fixed mix, %1 would have to be written to the disk, where "
                             "only %2 is free.")
                       : OfferWords::tr("%1 would have to be written to the disk, where only %2 is free.");
  return {words.arg(ui::bytes_text(written.bytes), ui::bytes_text(written.free_bytes)), {}};
}

// The full model: in memory, or with what has no room there elsewhere. Its obstacle is the one that counts.
const Counterpart* find_full(const Counterparts& all) {
  const Counterpart* const elsewhere = find(all, Kind::file_elsewhere);
  return elsewhere && !elsewhere->trouble && elsewhere->room != Room::none ? elsewhere
                                                                           : find(all, Kind::file);
}

QString words_of_writing(const StoreNeed& store) {
  if (store.bytes > 0)
    return OfferWords::tr("First, %1 is written to the disk. This takes about %2 and is done only once.")
        .arg(ui::bytes_text(store.bytes), time_words(std::llround(store.seconds)));
  return store.needed ? OfferWords::tr("Nothing is written to the disk.") : QString();
}

// Of a text so long, at least; 0: not known.
double reading_seconds(LoadPlan plan, const DeviceSpeed& speed, std::int64_t tokens) {
  plan.prompt.device.gop_per_s = speed.gop_per_s;
  plan.device_part.gb_per_s = speed.read_gb_per_s;
  return plan.first_token_seconds(tokens);
}

// What reading both answers with it takes, where they get so long. `pass_seconds`: of the disk; 0: not known.
QString full_words(const Counterpart& full, double pass_seconds, const DeviceSpeed& speed,
                   std::int64_t tokens) {
  if (full.kind == Kind::file) {
    const QString words =
        OfferWords::tr(
            "At the end both answers are read by the model at full precision, which takes %1 of memory.")
            .arg(ui::bytes_text(full.bytes));
    const double least = 2 * reading_seconds(full.plan, speed, tokens);
    if (least <= 0) return words;
    return words + QLatin1Char(' ') +
           OfferWords::tr("Reading them takes at least %1 and can be stopped.")
               .arg(time_words(std::max(1LL, std::llround(least))));
  }
  if (full.pass_bytes == 0)
    return OfferWords::tr(
        "At the end both answers are read by the model at full precision. The processor computes the experts "
        "that do not fit on the card.");
  const std::int64_t chunk = std::max<std::int64_t>(1, full.options.chunk);
  const double seconds = 2 * pass_seconds * static_cast<double>((tokens + chunk - 1) / chunk);
  QString words = OfferWords::tr(
      "At the end both answers are read by the model at full precision. It does not fit into memory, so "
      "experts come from the disk.");
  if (seconds > 0)
    words += QLatin1Char(' ') +
             OfferWords::tr("This takes about %1 and can be stopped.").arg(time_words(std::llround(seconds)));
  return words;
}

}  // namespace

BesideOffer offer_beside(const Counterparts& found, const BesideSpeeds& speeds, std::int64_t tokens) {
  BesideOffer offer{.adaptive = found.open};
  const Counterpart* const fixed = find(found, Kind::fixed);
  const Counterpart* const full = find_full(found);
  if (!fixed || !full) return offer;
  offer.fixed = fixed->options;
  if (const ErrorText obstacle = obstacle_of(*fixed, found, {}); !obstacle.text.isEmpty()) {
    offer.takes = {OfferWords::tr("The fixed mix cannot be opened here. %1").arg(obstacle.text),
                   obstacle.details};
    return offer;
  }
  offer.is_possible = true;
  StoreNeed written = to_write(fixed->store);
  QString judged;
  offer.why_not_full = obstacle_of(*full, found, written);
  if (offer.why_not_full.text.isEmpty()) {
    offer.full = full->options;
    if (speeds.disk_bytes_per_s > 0)
      offer.full_pass_seconds = static_cast<double>(full->pass_bytes) / speeds.disk_bytes_per_s;
    written = sum(written, to_write(full->store));
    judged = full_words(*full, offer.full_pass_seconds, speeds.device, tokens);
  } else {
    judged = OfferWords::tr("They cannot be compared with the model at full precision. %1")
                 .arg(offer.why_not_full.text);
  }
  QStringList sentences{
      OfferWords::tr(
          "The model is closed for this and reopened afterwards; the conversation stays as it is."),
      words_of_writing(written), judged};
  sentences.removeAll(QString());
  offer.takes = {sentences.join(QLatin1Char(' ')), offer.why_not_full.details};
  return offer;
}

}  // namespace fovea::app
