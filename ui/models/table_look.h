// How the tables of models look and are used: whole rows, no grid, one selection.
#pragma once

class QTableView;

namespace fovea::ui {

void apply_table_look(QTableView& view);
// Of a column of sizes: "888.8 MB", and the room at both sides.
int size_column_width(const QTableView& view);

}  // namespace fovea::ui
