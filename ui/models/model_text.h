// What several of the models' pages write.
#pragma once

#include <QString>

namespace fovea::ui {

QString parameters_text(double count);  // "30.5 B"
// The name with places to break at, so that a narrow column can show all of it.
QString breakable(const QString& name);

}  // namespace fovea::ui
