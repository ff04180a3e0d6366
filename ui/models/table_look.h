// How the tables of models look and are used: whole rows, no grid, one selection.
#pragma once

class QTableView;

namespace fovea::ui {

void apply_table_look(QTableView& view);
// Each row as a card; below a cell's text stands what it has for this role.
inline constexpr int second_line_role = 0x0100 + 40;  // Qt::UserRole + …
void apply_card_look(QTableView& view);
// Of a column of sizes: "888.8 MB", and the room at both sides.
int size_column_width(const QTableView& view);
// The column takes what the others leave of the width, but not less than `least`; now, and whenever it
// changes.
void give_rest_to(QTableView& view, int column, int least);

}  // namespace fovea::ui
