<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>fovea::app::ChatController</name>
    <message numerus="yes">
        <source>Leave out %n message(s)</source>
        <translation>
            <numerusform>Leave out %n message</numerusform>
            <numerusform>Leave out %n messages</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::app::ConversationController</name>
    <message numerus="yes">
        <source>%n oldest message(s) no longer fit and were left out</source>
        <translation>
            <numerusform>The oldest message no longer fits and was left out</numerusform>
            <numerusform>The %n oldest messages no longer fit and were left out</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln character(s)</source>
        <translation>
            <numerusform>%Ln character</numerusform>
            <numerusform>%Ln characters</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s)</source>
        <translation>
            <numerusform>%Ln token</numerusform>
            <numerusform>%Ln tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::app::DeviceChoice</name>
    <message numerus="yes">
        <source>%1, %n core(s). Memory: %2.</source>
        <translation>
            <numerusform>%1, %n core. Memory: %2.</numerusform>
            <numerusform>%1, %n cores. Memory: %2.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::app::FitWords</name>
    <message numerus="yes">
        <source>%n weight unit(s) at %1</source>
        <translation>
            <numerusform>%n weight unit at %1</numerusform>
            <numerusform>%n weight units at %1</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The experts of %n layer(s) stay in the computer&apos;s memory and are computed by the processor</source>
        <translation>
            <numerusform>The experts of one layer stay in the computer&apos;s memory and are computed by the processor</numerusform>
            <numerusform>The experts of %n layers stay in the computer&apos;s memory and are computed by the processor</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::app::MemoryWords</name>
    <message numerus="yes">
        <source>%Ln expert(s) at %1</source>
        <translation>
            <numerusform>%Ln expert at %1</numerusform>
            <numerusform>%Ln experts at %1</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln layer(s) at %1</source>
        <translation>
            <numerusform>%Ln layer at %1</numerusform>
            <numerusform>%Ln layers at %1</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>It fits: %1 has the first %n layer(s) and %2 to spare, %3 has the others and %4 to spare.</source>
        <translation>
            <numerusform>It fits: %1 has the first layer and %2 to spare, %3 has the others and %4 to spare.</numerusform>
            <numerusform>It fits: %1 has the first %n layers and %2 to spare, %3 has the others and %4 to spare.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>It does not fit: %1 needs %2 for the first %n layer(s) and has %3, %4 needs %5 for the others and has %6.</source>
        <translation>
            <numerusform>It does not fit: %1 needs %2 for the first layer and has %3, %4 needs %5 for the others and has %6.</numerusform>
            <numerusform>It does not fit: %1 needs %2 for the first %n layers and has %3, %4 needs %5 for the others and has %6.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::app::ModelRows</name>
    <message numerus="yes">
        <source>Trying again in %n second(s). %1</source>
        <translation>
            <numerusform>Trying again in one second. %1</numerusform>
            <numerusform>Trying again in %n seconds. %1</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n second(s)</source>
        <translation>
            <numerusform>%n second</numerusform>
            <numerusform>%n seconds</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n minute(s)</source>
        <translation>
            <numerusform>%n minute</numerusform>
            <numerusform>%n minutes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n hour(s)</source>
        <translation>
            <numerusform>%n hour</numerusform>
            <numerusform>%n hours</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::app::ModelWords</name>
    <message numerus="yes">
        <source>%n expert(s) at %1: %2</source>
        <translation>
            <numerusform>%n expert at %1: %2</numerusform>
            <numerusform>%n experts at %1: %2</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::app::ModelsController</name>
    <message numerus="yes">
        <source>%1 is intact: %2 was read, and the checksums of %n file(s) match those of the hub.</source>
        <translation>
            <numerusform>%1 is intact: %2 was read, and the checksum of one file matches that of the hub.</numerusform>
            <numerusform>%1 is intact: %2 was read, and the checksums of %n files match those of the hub.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 What was prepared from it is intact too: %n part(s).</source>
        <translation>
            <numerusform>%1 What was prepared from it is intact too: %n part.</numerusform>
            <numerusform>%1 What was prepared from it is intact too: %n parts.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::app::SidebarController</name>
    <message numerus="yes">
        <source>%n conversation(s) imported</source>
        <translation>
            <numerusform>One conversation imported</numerusform>
            <numerusform>%n conversations imported</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n were there already</source>
        <translation>
            <numerusform>One was there already</numerusform>
            <numerusform>%n were there already</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n could not be read</source>
        <translation>
            <numerusform>One could not be read</numerusform>
            <numerusform>%n could not be read</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::app::WizardController</name>
    <message numerus="yes">
        <source>Measured for %n second(s).</source>
        <translation>
            <numerusform>Measured for one second.</numerusform>
            <numerusform>Measured for %n seconds.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::app::WizardWords</name>
    <message numerus="yes">
        <source>%Ln expert(s) at %1 %2</source>
        <translation>
            <numerusform>%Ln expert at %1 %2</numerusform>
            <numerusform>%Ln experts at %1 %2</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln layer(s) at %1 %2</source>
        <translation>
            <numerusform>%Ln layer at %1 %2</numerusform>
            <numerusform>%Ln layers at %1 %2</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 · %n core(s)</source>
        <translation>
            <numerusform>%1 · %n core</numerusform>
            <numerusform>%1 · %n cores</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::ui::ChatWindow</name>
    <message numerus="yes">
        <source>%n request(s)</source>
        <translation>
            <numerusform>%n request</numerusform>
            <numerusform>%n requests</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::ui::ConversationListModel</name>
    <message numerus="yes">
        <source>%n conversation(s)</source>
        <translation>
            <numerusform>%n conversation</numerusform>
            <numerusform>%n conversations</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::ui::ExpertView</name>
    <message numerus="yes">
        <source>%n token(s) since the model was opened: %1 of its layer&apos;s work, ranked %2 of %3.</source>
        <translation>
            <numerusform>%n token since the model was opened: %1 of its layer&apos;s work, ranked %2 of %3.</numerusform>
            <numerusform>%n tokens since the model was opened: %1 of its layer&apos;s work, ranked %2 of %3.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::ui::LibraryCard</name>
    <message numerus="yes">
        <source>%1 experts in %n layer(s), %2 for each token</source>
        <translation>
            <numerusform>%1 experts in %n layer, %2 for each token</numerusform>
            <numerusform>%1 experts in %n layers, %2 for each token</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::ui::LivePanel</name>
    <message numerus="yes">
        <source>Router collapse in %n layer(s): the same few experts take nearly all.</source>
        <translation>
            <numerusform>Router collapse in one layer: the same few experts take nearly all.</numerusform>
            <numerusform>Router collapse in %n layers: the same few experts take nearly all.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s) of %1 experts</source>
        <translation>
            <numerusform>%n layer of %1 experts</numerusform>
            <numerusform>%n layers of %1 experts</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Layer %1, %n expert(s)</source>
        <translation>
            <numerusform>Layer %1, %n expert</numerusform>
            <numerusform>Layer %1, %n experts</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::ui::ModelDetails</name>
    <message numerus="yes">
        <source>%1, %n layer(s)</source>
        <translation>
            <numerusform>%1, %n layer</numerusform>
            <numerusform>%1, %n layers</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::ui::RouterView</name>
    <message numerus="yes">
        <source>One subject in %n layer(s).</source>
        <translation>
            <numerusform>One subject in one layer.</numerusform>
            <numerusform>One subject in %n layers.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::ui::ServerPage</name>
    <message numerus="yes">
        <source>%n request(s) in progress</source>
        <translation>
            <numerusform>%n request in progress</numerusform>
            <numerusform>%n requests in progress</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::ui::Sidebar</name>
    <message numerus="yes">
        <source>%n conversation(s) in it are kept, in no folder.</source>
        <translation>
            <numerusform>The conversation in it is kept, in no folder.</numerusform>
            <numerusform>%n conversations in it are kept, in no folder.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::ui::StoryView</name>
    <message numerus="yes">
        <source>%Ln use(s) of experts waited for the disk.</source>
        <translation>
            <numerusform>%Ln use of an expert waited for the disk.</numerusform>
            <numerusform>%Ln uses of experts waited for the disk.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln expert(s) rose to more bits</source>
        <translation>
            <numerusform>%Ln expert rose to more bits</numerusform>
            <numerusform>%Ln experts rose to more bits</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln fell to fewer to make room</source>
        <translation>
            <numerusform>%Ln fell to fewer to make room</numerusform>
            <numerusform>%Ln fell to fewer to make room</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln expert(s) fell to fewer bits</source>
        <translation>
            <numerusform>%Ln expert fell to fewer bits</numerusform>
            <numerusform>%Ln experts fell to fewer bits</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::ui::TokenCard</name>
    <message numerus="yes">
        <source>%n expert(s) worked on it.</source>
        <translation>
            <numerusform>%n expert worked on it.</numerusform>
            <numerusform>%n experts worked on it.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>All of its %n expert(s) were at %1 bits</source>
        <translation>
            <numerusform>Its %n expert was at %1 bits</numerusform>
            <numerusform>All of its %n experts were at %1 bits</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 of its %n expert(s) were below %2 bits</source>
        <translation>
            <numerusform>%1 of its %n expert was below %2 bits</numerusform>
            <numerusform>%1 of its %n experts were below %2 bits</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::ui::VersionTable</name>
    <message numerus="yes">
        <source>%1, %n file(s)</source>
        <translation>
            <numerusform>%1, %n file</numerusform>
            <numerusform>%1, %n files</numerusform>
        </translation>
    </message>
</context>
</TS>
