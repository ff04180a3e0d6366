// What screen readers see of the transcript: one text, and in it a section for each message with its buttons
// and links.
#pragma once

#include <QString>

namespace fovea::ui {

class TranscriptView;

// Makes Qt ask us for the interface of a TranscriptView. May be called again.
void install_transcript_accessibility();

// Tells that text was added to a message, at that offset of it.
void announce_text(TranscriptView& view, int message, int offset, const QString& text);

}  // namespace fovea::ui
