<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name>QPlatformTheme</name>
    <message>
        <source>OK</source>
        <translation>OK</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>&amp;Yes</source>
        <translation>&amp;Ja</translation>
    </message>
    <message>
        <source>&amp;No</source>
        <translation>&amp;Nein</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Apply</source>
        <translation>Anwenden</translation>
    </message>
</context>
<context>
    <name>fovea::app::BesideLink</name>
    <message>
        <source>experts in use averaged %1 bits</source>
        <translation>benutzte Experten hatten im Mittel %1 Bit</translation>
    </message>
    <message>
        <source>estimated quality kept %1</source>
        <translation>erhaltene Qualität (geschätzt): %1</translation>
    </message>
    <message>
        <source>measured: %1 nats a token from the full model</source>
        <translation>gemessen: %1 Nat je Token vom vollen Modell entfernt</translation>
    </message>
    <message>
        <source>Both answers are the same, word for word.</source>
        <translation>Beide Antworten sind Wort für Wort gleich.</translation>
    </message>
    <message>
        <source>Tokens that appear in only one answer are marked.</source>
        <translation>Markiert sind Token, die nur in einer der Antworten vorkommen.</translation>
    </message>
    <message>
        <source>The full model was left out.</source>
        <translation>Das volle Modell wurde ausgelassen.</translation>
    </message>
    <message>
        <source>An empty answer cannot be compared with the full model.</source>
        <translation>Eine leere Antwort lässt sich nicht mit dem vollen Modell vergleichen.</translation>
    </message>
    <message>
        <source>The adaptive answer is closer to the full model.</source>
        <translation>Die adaptive Antwort liegt näher am vollen Modell.</translation>
    </message>
    <message>
        <source>The fixed answer is closer to the full model.</source>
        <translation>Die feste Antwort liegt näher am vollen Modell.</translation>
    </message>
    <message>
        <source>Both are equally close to the full model.</source>
        <translation>Beide liegen gleich nah am vollen Modell.</translation>
    </message>
    <message>
        <source>One question proves little. Try a few of your own.</source>
        <translation>Eine einzige Frage sagt wenig aus. Probieren Sie einige eigene.</translation>
    </message>
    <message>
        <source>This needs a model whose experts follow the conversation. Set a memory budget for a model first.</source>
        <translation>Dafür ist ein Modell nötig, dessen Experten dem Gespräch folgen. Legen Sie zuerst für ein Modell ein Speicherbudget fest.</translation>
    </message>
    <message>
        <source>The model is closed for this and reopened afterwards; the conversation stays as it is.</source>
        <translation>Das Modell wird währenddessen geschlossen und danach wieder geöffnet; das Gespräch bleibt, wie es ist.</translation>
    </message>
    <message>
        <source>Nothing is written to the disk.</source>
        <translation>Auf das Laufwerk wird nichts geschrieben.</translation>
    </message>
    <message>
        <source>First, %1 is written to the disk. This takes about %2 and is done only once.</source>
        <translation>Zuerst werden %1 auf das Laufwerk geschrieben. Das dauert etwa %2 und ist nur einmal nötig.</translation>
    </message>
    <message>
        <source>At the end both answers are read by the model at full precision, which takes %1 of memory.</source>
        <translation>Am Ende liest das Modell beide Antworten mit voller Genauigkeit; das braucht %1 Speicher.</translation>
    </message>
    <message>
        <source>The model is answering. This can start when the answer is finished.</source>
        <translation>Das Modell antwortet gerade. Beginnen Sie, wenn die Antwort fertig ist.</translation>
    </message>
    <message>
        <source>The model was closed or is busy answering, so the question was not asked.</source>
        <translation>Das Modell wurde geschlossen oder antwortet gerade. Deshalb wurde die Frage nicht gestellt.</translation>
    </message>
    <message>
        <source>adaptive experts</source>
        <translation>adaptiven Experten</translation>
    </message>
    <message>
        <source>a fixed mix</source>
        <translation>einer festen Mischung</translation>
    </message>
    <message>
        <source>full precision</source>
        <translation>voller Genauigkeit</translation>
    </message>
    <message>
        <source>The model at full precision reads both answers.</source>
        <translation>Das Modell liest beide Antworten mit voller Genauigkeit.</translation>
    </message>
    <message>
        <source>Opening the model with %1, then answering.</source>
        <translation>Das Modell wird mit %1 geöffnet und antwortet dann.</translation>
    </message>
    <message>
        <source>About %1. Press Stop to skip this step.</source>
        <translation>Etwa %1. Mit „Anhalten“ überspringen Sie diesen Schritt.</translation>
    </message>
    <message>
        <source>It was stopped.</source>
        <translation>Es wurde angehalten.</translation>
    </message>
    <message>
        <source>At the end both answers are read by the model at full precision. The processor computes the experts that do not fit on the card.</source>
        <translation>Zum Schluss liest das Modell mit voller Genauigkeit beide Antworten. Die Experten, die nicht auf die Karte passen, rechnet der Prozessor.</translation>
    </message>
    <message>
        <source>At the end both answers are read by the model at full precision. It does not fit into memory, so experts come from the disk.</source>
        <translation>Zum Schluss liest das Modell mit voller Genauigkeit beide Antworten. Es passt nicht in den Speicher, deshalb kommen Experten vom Laufwerk.</translation>
    </message>
    <message>
        <source>This takes about %1 and can be stopped.</source>
        <translation>Das dauert etwa %1 und kann abgebrochen werden.</translation>
    </message>
    <message>
        <source>They were not compared with the full model. %1</source>
        <translation>Sie wurden nicht mit dem vollen Modell verglichen. %1</translation>
    </message>
    <message>
        <source>It needs %1, and only %2 is free.</source>
        <translation>Es braucht %1, frei sind nur %2.</translation>
    </message>
    <message>
        <source>Together with the fixed mix, %1 would have to be written to the disk, where only %2 is free.</source>
        <translation>Zusammen mit der festen Mischung müssten %1 auf das Laufwerk geschrieben werden; dort sind nur %2 frei.</translation>
    </message>
    <message>
        <source>%1 would have to be written to the disk, where only %2 is free.</source>
        <translation>%1 müssten auf das Laufwerk geschrieben werden; dort sind nur %2 frei.</translation>
    </message>
    <message>
        <source>The fixed mix cannot be opened here. %1</source>
        <translation>Die feste Mischung lässt sich hier nicht öffnen. %1</translation>
    </message>
    <message>
        <source>They cannot be compared with the model at full precision. %1</source>
        <translation>Mit dem Modell in voller Genauigkeit können sie nicht verglichen werden. %1</translation>
    </message>
    <message>
        <source>%1 tokens, %2 a second</source>
        <translation>%1 Token, %2 pro Sekunde</translation>
    </message>
    <message>
        <source>Reading them takes at least %1 and can be stopped.</source>
        <translation>Das Lesen dauert mindestens %1 und kann abgebrochen werden.</translation>
    </message>
</context>
<context>
    <name>fovea::app::ChatController</name>
    <message>
        <source>Attach text files</source>
        <translation>Textdateien anhängen</translation>
    </message>
    <message>
        <source>Reading the prompt…</source>
        <translation>Prompt wird gelesen …</translation>
    </message>
    <message>
        <source>Loading %1</source>
        <translation>%1 wird geladen</translation>
    </message>
    <message>
        <source>Reading the prompt</source>
        <translation>Prompt wird gelesen</translation>
    </message>
    <message>
        <source>Answering…</source>
        <translation>Antwortet …</translation>
    </message>
    <message>
        <source>The log of swaps ends early: %1</source>
        <translation>Das Protokoll der Wechsel endet vorzeitig: %1</translation>
    </message>
    <message numerus="yes">
        <source>Leave out %n message(s)</source>
        <translation>
            <numerusform>%n Nachricht weglassen</numerusform>
            <numerusform>%n Nachrichten weglassen</numerusform>
        </translation>
    </message>
    <message>
        <source>Restart Fovea</source>
        <translation>Fovea neu starten</translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation>Einstellungen …</translation>
    </message>
    <message>
        <source>Answering in “%1”</source>
        <translation>Antwortet in „%1“</translation>
    </message>
    <message>
        <source>“%1” was not answered. %2</source>
        <translation>„%1“ wurde nicht beantwortet. %2</translation>
    </message>
    <message>
        <source>Without the oldest messages, the model would start reading from “%1”.</source>
        <translation>Ohne die ältesten Nachrichten würde das Modell erst ab „%1“ lesen.</translation>
    </message>
    <message>
        <source>Comparing two settings of %1</source>
        <translation>Zwei Einstellungen von %1 werden verglichen</translation>
    </message>
    <message>
        <source>Loading the model…</source>
        <translation>Modell wird geladen …</translation>
    </message>
</context>
<context>
    <name>fovea::app::CompareLink</name>
    <message>
        <source>every weight as in the model&apos;s file</source>
        <translation>jedes Gewicht wie in der Datei des Modells</translation>
    </message>
    <message>
        <source>everything at %1</source>
        <translation>alles mit %1</translation>
    </message>
    <message>
        <source>a fixed mix of the same size</source>
        <translation>eine feste Mischung derselben Größe</translation>
    </message>
    <message>
        <source>Every weight as in the model&apos;s file</source>
        <translation>Jedes Gewicht wie in der Datei des Modells</translation>
    </message>
    <message>
        <source>Everything at the lowest precision, %1</source>
        <translation>Alles mit der niedrigsten Genauigkeit, %1</translation>
    </message>
    <message>
        <source>A fixed mix of the same size: as many bytes, and nothing changes</source>
        <translation>Eine feste Mischung derselben Größe: ebenso viele Bytes, und nichts ändert sich</translation>
    </message>
    <message>
        <source>Its experts are first written at that precision: %1 on the disk, where %2 is free. This takes about %3 and is done only once.</source>
        <translation>Zuerst werden seine Experten mit dieser Genauigkeit geschrieben: %1 auf dem Laufwerk, auf dem %2 frei sind. Das dauert etwa %3 und ist nur einmal nötig.</translation>
    </message>
    <message>
        <source>It takes %1, which does not fit: %2 is free beside the open model.</source>
        <translation>Es braucht %1, und das passt nicht: Neben dem geöffneten Modell sind %2 frei.</translation>
    </message>
    <message>
        <source>Its experts would first have to be written at that precision: %1 on the disk, where only %2 is free.</source>
        <translation>Seine Experten müssten zuerst mit dieser Genauigkeit geschrieben werden: %1 auf dem Laufwerk, auf dem nur %2 frei sind.</translation>
    </message>
    <message>
        <source>The model stays open. This takes another %1 and then %2, one after the other; %3 is free.</source>
        <translation>Das Modell bleibt geöffnet. Daneben werden nacheinander %1 und %2 gebraucht; frei sind %3.</translation>
    </message>
    <message>
        <source>This takes %1 and then %2, one after the other. There is no room for that while the model is open, so it is closed and reopened afterwards. The conversation is kept.</source>
        <translation>Dafür werden nacheinander %1 und %2 gebraucht. Neben dem geöffneten Modell ist kein Platz dafür; es wird deshalb geschlossen und danach wieder geöffnet. Das Gespräch bleibt erhalten.</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 s</translation>
    </message>
    <message>
        <source>Perplexity of the text</source>
        <translation>Perplexität des Textes</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>Writing speed</source>
        <translation>Schreibtempo</translation>
    </message>
    <message>
        <source>First word after a long question</source>
        <translation>Erstes Wort nach einer langen Frage</translation>
    </message>
    <message>
        <source>Quality is the probability that the model gives to the text&apos;s next token, averaged over %1 tokens. The difference is %2 ± %3 nats per token; up to twice its margin of error, it may be chance. Speeds count as different only if every round of one is faster than every round of the other.</source>
        <translation>Qualität ist die Wahrscheinlichkeit, die das Modell dem jeweils nächsten Token des Textes gibt, gemittelt über %1 Token. Der Unterschied beträgt %2 ± %3 Nat je Token; bis zum Doppelten der Fehlerspanne kann er Zufall sein. Geschwindigkeiten gelten nur dann als verschieden, wenn jede Runde der einen schneller war als jede Runde der anderen.</translation>
    </message>
    <message>
        <source>The routers make %2 of the choices of experts that they make with “%1”.</source>
        <translation>Die Router wählen %2 der Experten, die sie bei „%1“ wählen, auch jetzt.</translation>
    </message>
    <message>
        <source>takes as much memory (%1)</source>
        <translation>braucht ebenso viel Speicher (%1)</translation>
    </message>
    <message>
        <source>takes %1 instead of %2</source>
        <translation>braucht %1 statt %2</translation>
    </message>
    <message>
        <source>%1 × as fast</source>
        <translation>%1-mal so schnell</translation>
    </message>
    <message>
        <source>just as fast, as far as can be told</source>
        <translation>ebenso schnell, soweit messbar</translation>
    </message>
    <message>
        <source>As it is now, the model reaches %1 of the quality of “%2”, %3, and writes %4.</source>
        <translation>So, wie es jetzt ist, erreicht das Modell %1 der Qualität von „%2“, %3 und schreibt %4.</translation>
    </message>
    <message>
        <source>As it is now, the model reaches %1 of the quality of “%2”, %3, and writes %4; the difference in quality could be chance.</source>
        <translation>So, wie es jetzt ist, erreicht das Modell %1 der Qualität von „%2“, %3 und schreibt %4; der Qualitätsunterschied könnte Zufall sein.</translation>
    </message>
    <message>
        <source>There is nothing to compare before a model is open.</source>
        <translation>Zum Vergleichen muss ein Modell geöffnet sein.</translation>
    </message>
    <message>
        <source>The model is answering. The comparison can start when the answer is finished.</source>
        <translation>Das Modell antwortet gerade. Der Vergleich kann beginnen, wenn die Antwort fertig ist.</translation>
    </message>
    <message>
        <source>Reading the text…</source>
        <translation>Text wird gelesen …</translation>
    </message>
    <message>
        <source>The model was closed or is busy answering, so nothing was compared.</source>
        <translation>Das Modell wurde geschlossen oder antwortet gerade. Deshalb wurde nichts verglichen.</translation>
    </message>
    <message>
        <source>Reading (%1): %2 of %3 tokens.</source>
        <translation>Lesen (%1): %2 von %3 Token.</translation>
    </message>
    <message>
        <source>Writing (%1).</source>
        <translation>Schreiben (%1).</translation>
    </message>
    <message>
        <source>Opening (%1).</source>
        <translation>Öffnen (%1).</translation>
    </message>
    <message>
        <source>Preparing (%1).</source>
        <translation>Vorbereiten (%1).</translation>
    </message>
    <message>
        <source>About %1 left.</source>
        <translation>Noch etwa %1.</translation>
    </message>
    <message>
        <source>as it is now</source>
        <translation>wie es jetzt ist</translation>
    </message>
    <message>
        <source>The comparison was stopped.</source>
        <translation>Der Vergleich wurde angehalten.</translation>
    </message>
    <message>
        <source>%1 tokens a second (%2 to %3)</source>
        <translation>%1 Token pro Sekunde (%2 bis %3)</translation>
    </message>
</context>
<context>
    <name>fovea::app::ConversationController</name>
    <message>
        <source>Only the last answer of a conversation can be continued.</source>
        <translation>Nur die letzte Antwort eines Gesprächs kann fortgesetzt werden.</translation>
    </message>
    <message>
        <source>The message was not sent, because it could not be stored: %1</source>
        <translation>Die Nachricht wurde nicht gesendet, weil sie nicht gespeichert werden konnte: %1</translation>
    </message>
    <message numerus="yes">
        <source>%n oldest message(s) no longer fit and were left out</source>
        <translation>
            <numerusform>Die älteste Nachricht passt nicht mehr und wurde weggelassen</numerusform>
            <numerusform>Die %n ältesten Nachrichten passen nicht mehr und wurden weggelassen</numerusform>
        </translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>Angehalten</translation>
    </message>
    <message>
        <source>The context is full: start a new chat, or let the oldest messages be left out (Chat settings)</source>
        <translation>Der Kontext ist voll: Beginnen Sie einen neuen Chat, oder stellen Sie ein, dass die ältesten Nachrichten wegfallen (Chat-Einstellungen)</translation>
    </message>
    <message>
        <source>The token limit for one answer was reached</source>
        <translation>Die Antwort hat ihre Höchstzahl an Token erreicht</translation>
    </message>
    <message numerus="yes">
        <source>%Ln character(s)</source>
        <translation>
            <numerusform>%Ln Zeichen</numerusform>
            <numerusform>%Ln Zeichen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s)</source>
        <translation>
            <numerusform>%Ln Token</numerusform>
            <numerusform>%Ln Token</numerusform>
        </translation>
    </message>
    <message>
        <source>Waiting for a model to be opened</source>
        <translation>Wartet, bis ein Modell geöffnet ist</translation>
    </message>
    <message>
        <source>Waiting for the answer in “%1”</source>
        <translation>Wartet auf die Antwort in „%1“</translation>
    </message>
</context>
<context>
    <name>fovea::app::ConversationView</name>
    <message>
        <source>With %1</source>
        <translation>Mit %1</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>Angehalten</translation>
    </message>
    <message>
        <source>Cut off: Fovea quit while this was being written</source>
        <translation>Abgebrochen: Fovea wurde beendet, während dies geschrieben wurde</translation>
    </message>
    <message>
        <source>Not answered: Fovea quit before the answer began</source>
        <translation>Nicht beantwortet: Fovea wurde vorher beendet</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>Neuer Chat</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>ja</translation>
    </message>
    <message>
        <source>no</source>
        <translation>nein</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>Genauigkeit</translation>
    </message>
    <message>
        <source>Quality kept</source>
        <translation>Erhaltene Qualität</translation>
    </message>
    <message>
        <source>Experts in use</source>
        <translation>Benutzte Experten</translation>
    </message>
    <message>
        <source>%1 bits on average</source>
        <translation>im Mittel %1 Bit</translation>
    </message>
    <message>
        <source>First token</source>
        <translation>Erstes Token</translation>
    </message>
    <message>
        <source>after %1 s, %2 tokens were read</source>
        <translation>nach %1 s, %2 Token wurden gelesen</translation>
    </message>
    <message>
        <source>after %1 s</source>
        <translation>nach %1 s</translation>
    </message>
    <message>
        <source>Written</source>
        <translation>Geschrieben</translation>
    </message>
    <message>
        <source>Energy</source>
        <translation>Energie</translation>
    </message>
    <message>
        <source>%1 J, %2 J for each token written</source>
        <translation>%1 J, je geschriebenem Token %2 J</translation>
    </message>
    <message>
        <source>%1 J</source>
        <translation>%1 J</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>When</source>
        <translation>Zeitpunkt</translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation>Sampling</translation>
    </message>
    <message>
        <source>%1 tokens a second</source>
        <translation>%1 Token pro Sekunde</translation>
    </message>
    <message>
        <source>%1 tokens in %2 s, %3 a second</source>
        <translation>%1 Token in %2 s, %3 pro Sekunde</translation>
    </message>
</context>
<context>
    <name>fovea::app::DemoPrompts</name>
    <message>
        <source>A poem</source>
        <translation>Ein Gedicht</translation>
    </message>
    <message>
        <source>Python</source>
        <translation>Python</translation>
    </message>
    <message>
        <source>Health</source>
        <translation>Gesundheit</translation>
    </message>
    <message>
        <source>A country</source>
        <translation>Ein Land</translation>
    </message>
</context>
<context>
    <name>fovea::app::DemoStart</name>
    <message>
        <source>The demo&apos;s experts could not be prepared, so they stay as they are in its file: %1</source>
        <translation>Die Experten des Demomodells ließen sich nicht vorbereiten und bleiben, wie sie in der Datei stehen: %1</translation>
    </message>
    <message>
        <source>A small model to try Fovea with: simple English, short answers.</source>
        <translation>Ein kleines Modell zum Ausprobieren. Es kann nur einfaches Englisch, deshalb sind die Vorschläge englisch.</translation>
    </message>
    <message>
        <source>Preparing the demo&apos;s experts (needed only once): %1 %. You can already chat; when this is done, the experts adapt to what you talk about.</source>
        <translation>Die Experten des Demomodells werden einmalig vorbereitet: %1 %. Sie können schon chatten; danach passen sich die Experten dem Gespräch an.</translation>
    </message>
    <message>
        <source>The demo&apos;s experts are ready: those that your conversation uses are kept precise, the others take less room. Watch them in the panel.</source>
        <translation>Die Experten des Demomodells sind bereit: Diejenigen, die Ihr Gespräch nutzt, bleiben genau, die anderen brauchen weniger Platz. Unter „Experten“ können Sie zusehen.</translation>
    </message>
    <message>
        <source>An explanation</source>
        <translation>Eine Erklärung</translation>
    </message>
    <message>
        <source>Explain how a rainbow forms, so that a child understands it.</source>
        <translation>Erkläre so, dass ein Kind es versteht, wie ein Regenbogen entsteht.</translation>
    </message>
    <message>
        <source>A function</source>
        <translation>Eine Funktion</translation>
    </message>
    <message>
        <source>Write a Python function that counts the words of a text.</source>
        <translation>Schreibe eine Python-Funktion, die die Wörter eines Textes zählt.</translation>
    </message>
    <message>
        <source>A letter</source>
        <translation>Ein Brief</translation>
    </message>
    <message>
        <source>Write a friendly reminder about an unpaid invoice.</source>
        <translation>Formuliere eine freundliche Erinnerung an eine unbezahlte Rechnung.</translation>
    </message>
    <message>
        <source>A plan</source>
        <translation>Ein Plan</translation>
    </message>
    <message>
        <source>Plan a weekend in a city I have never visited.</source>
        <translation>Plane ein Wochenende in einer Stadt, die ich noch nicht kenne.</translation>
    </message>
</context>
<context>
    <name>fovea::app::Desktop</name>
    <message>
        <source>None of the models here fits into the memory that is free now.</source>
        <translation>Keines der Modelle hier passt in den Speicher, der jetzt frei ist.</translation>
    </message>
    <message>
        <source>Opening %1, the model you used last.</source>
        <translation>%1 wird geöffnet, weil es zuletzt benutzt wurde.</translation>
    </message>
    <message>
        <source>Opening %1, the only model here that fits. The button at the top left leads to more.</source>
        <translation>%1 wird geöffnet: Es ist das einzige Modell hier, das passt. Die Schaltfläche oben links führt zu weiteren.</translation>
    </message>
    <message>
        <source>Opening %1, the most capable model here that fits. The button at the top left leads to the others.</source>
        <translation>%1 wird geöffnet: Es ist das leistungsfähigste Modell hier, das passt. Die Schaltfläche oben links führt zu den anderen.</translation>
    </message>
    <message>
        <source>Settings: %1</source>
        <translation>Einstellungen: %1</translation>
    </message>
    <message>
        <source>Conversations: %1</source>
        <translation>Gespräche: %1</translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation>Einstellungen …</translation>
    </message>
    <message>
        <source>The model that is open stays where it is until it is opened again.</source>
        <translation>Das geöffnete Modell bleibt, wo es ist, bis Sie es neu öffnen.</translation>
    </message>
    <message>
        <source>Open it again</source>
        <translation>Neu öffnen</translation>
    </message>
    <message>
        <source>The model runs on %1, not on the %2 that was chosen.</source>
        <translation>Das Modell läuft auf %1 statt auf der gewählten Karte %2.</translation>
    </message>
    <message>
        <source>Conversations: everything that could not be saved earlier is saved now.</source>
        <translation>Gespräche: Was vorher nicht gespeichert werden konnte, ist jetzt gespeichert.</translation>
    </message>
</context>
<context>
    <name>fovea::app::DeviceChoice</name>
    <message>
        <source>%1, of which %2 is free</source>
        <translation>%1, davon sind %2 frei</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>Prozessor</translation>
    </message>
    <message numerus="yes">
        <source>%1, %n core(s). Memory: %2.</source>
        <translation>
            <numerusform>%1, %n Kern. Speicher: %2.</numerusform>
            <numerusform>%1, %n Kerne. Speicher: %2.</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 (%2), %3</source>
        <translation>%1 (%2), %3</translation>
    </message>
    <message>
        <source>The card&apos;s memory: %1. What does not fit there can be left to the processor.</source>
        <translation>Der Speicher der Karte: %1. Was nicht hineinpasst, kann der Prozessor übernehmen.</translation>
    </message>
    <message>
        <source>%1 (%2): cannot be used</source>
        <translation>%1 (%2): nicht verwendbar</translation>
    </message>
    <message>
        <source>The card cannot be used: %1.</source>
        <translation>Die Karte ist nicht verwendbar: %1.</translation>
    </message>
    <message>
        <source>Automatic: the processor</source>
        <translation>Automatisch: der Prozessor</translation>
    </message>
    <message>
        <source>No graphics card can be used: %1.</source>
        <translation>Keine Grafikkarte ist verwendbar: %1.</translation>
    </message>
    <message>
        <source>%1: not available now</source>
        <translation>%1: zurzeit nicht verfügbar</translation>
    </message>
    <message>
        <source>This card was chosen but can no longer be found. No model is opened until it is back or another device is chosen.</source>
        <translation>Diese Karte wurde gewählt, ist aber nicht mehr zu finden. Bis sie wieder da ist oder Sie ein anderes Gerät wählen, wird kein Modell geöffnet.</translation>
    </message>
    <message>
        <source>Only %2 of the memory of %1 is free: other programs have taken what its driver may need. Close some of them before an answer fails.</source>
        <translation>Vom Speicher von %1 sind nur noch %2 frei: Andere Programme haben belegt, was der Treiber noch brauchen kann. Schließen Sie einige davon, damit keine Antwort fehlschlägt.</translation>
    </message>
    <message>
        <source>Models run on the processor. A graphics card is used only if you choose one.</source>
        <translation>Modelle laufen auf dem Prozessor. Eine Grafikkarte wird nur benutzt, wenn Sie eine wählen.</translation>
    </message>
    <message>
        <source>Both cards: two %1, %2 together</source>
        <translation>Beide Karten: zwei %1, zusammen %2</translation>
    </message>
    <message>
        <source>Two cards: two %1, %2 together</source>
        <translation>Zwei Karten: zwei %1, zusammen %2</translation>
    </message>
    <message>
        <source>Both cards: %1 and %2, %3 together</source>
        <translation>Beide Karten: %1 und %2, zusammen %3</translation>
    </message>
    <message>
        <source>Two cards: %1 and %2, %3 together</source>
        <translation>Zwei Karten: %1 und %2, zusammen %3</translation>
    </message>
    <message>
        <source>%1 (%2): %3.</source>
        <translation>%1 (%2): %3.</translation>
    </message>
    <message>
        <source>The first one has a model&apos;s first layers and the other one the rest, so that a model may be as large as both. That is not faster than one card with room for all of it.</source>
        <translation>Die erste hat die ersten Schichten eines Modells und die andere den Rest, sodass ein Modell so groß wie beide sein darf. Das ist nicht schneller als eine Karte, die Platz für alles hat.</translation>
    </message>
    <message>
        <source>Of the two cards that were chosen, %1 cannot be used: %2. No model is opened until it can or another device is chosen.</source>
        <translation>Von den zwei gewählten Karten ist eine nicht zu verwenden, %1: %2. Kein Modell wird geöffnet, bis das geht oder ein anderes Gerät gewählt wird.</translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation>%1 (%2)</translation>
    </message>
</context>
<context>
    <name>fovea::app::ErrorWords</name>
    <message>
        <source>It was not found</source>
        <translation>Es wurde nicht gefunden</translation>
    </message>
    <message>
        <source>Access failed</source>
        <translation>Der Zugriff ist fehlgeschlagen</translation>
    </message>
    <message>
        <source>A file is damaged or is not what was expected</source>
        <translation>Eine Datei ist beschädigt oder nicht das, was sie sein soll</translation>
    </message>
    <message>
        <source>Fovea cannot do this</source>
        <translation>Das kann Fovea nicht</translation>
    </message>
    <message>
        <source>This is not possible</source>
        <translation>Das ist nicht möglich</translation>
    </message>
    <message>
        <source>There is not enough memory</source>
        <translation>Der Speicher reicht nicht</translation>
    </message>
    <message>
        <source>The conversation does not fit in the context</source>
        <translation>Das Gespräch passt nicht in den Kontext</translation>
    </message>
    <message>
        <source>The device failed</source>
        <translation>Das Gerät ist ausgefallen</translation>
    </message>
    <message>
        <source>It was stopped</source>
        <translation>Es wurde angehalten</translation>
    </message>
    <message>
        <source>An internal error in Fovea</source>
        <translation>Ein interner Fehler in Fovea</translation>
    </message>
</context>
<context>
    <name>fovea::app::FitWords</name>
    <message>
        <source>%1 of %2 experts at %3, the others at %4</source>
        <translation>%1 von %2 Experten mit %3, die anderen mit %4</translation>
    </message>
    <message>
        <source>%1 of %2 experts at %3, %4 at %5, the others at %6</source>
        <translation>%1 von %2 Experten mit %3, %4 mit %5, die anderen mit %6</translation>
    </message>
    <message numerus="yes">
        <source>%n weight unit(s) at %1</source>
        <translation>
            <numerusform>eine Gewichtseinheit mit %1</numerusform>
            <numerusform>%n Gewichtseinheiten mit %1</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The experts of %n layer(s) stay in the computer&apos;s memory and are computed by the processor</source>
        <translation>
            <numerusform>Die Experten einer Schicht bleiben im Arbeitsspeicher und werden vom Prozessor berechnet</numerusform>
            <numerusform>Die Experten von %n Schichten bleiben im Arbeitsspeicher und werden vom Prozessor berechnet</numerusform>
        </translation>
    </message>
    <message>
        <source>Its experts (%1) are read from the disk when they are needed, which can be slow; memory keeps %2 of them at a time, those likely to be needed soon. That takes %3 of %4.</source>
        <translation>Die Experten (%1) werden bei Bedarf vom Laufwerk gelesen, was langsam sein kann; im Speicher bleiben jeweils %2, und zwar die, die wohl bald wieder gebraucht werden. Das belegt %3 von %4.</translation>
    </message>
    <message>
        <source>%1 (%2 of %3 experts); the others are at %4. That takes %5 of %6.</source>
        <translation>%1 (%2 von %3 Experten); die anderen mit %4. Das belegt %5 von %6.</translation>
    </message>
    <message>
        <source>At its file&apos;s precision it would need %1, and %2 is free for a model. It fits with %3, which takes %4.</source>
        <translation>Mit Dateigenauigkeit bräuchte es %1; für ein Modell sind %2 frei. Es passt mit %3 und belegt dann %4.</translation>
    </message>
    <message>
        <source>At its file&apos;s precision it would need %1, and %2 is free for a model. With everything lowered that can be, %3 would be enough.</source>
        <translation>Mit Dateigenauigkeit bräuchte es %1; für ein Modell sind %2 frei. Wird alles gesenkt, was sich senken lässt, genügen %3.</translation>
    </message>
    <message>
        <source>Should fit</source>
        <translation>Passt wohl</translation>
    </message>
    <message>
        <source>Fits</source>
        <translation>Passt</translation>
    </message>
    <message>
        <source>Should fit at lower precision</source>
        <translation>Passt wohl, etwas ungenauer</translation>
    </message>
    <message>
        <source>Fits with experts at lower precision</source>
        <translation>Passt mit ungenaueren Experten</translation>
    </message>
    <message>
        <source>Fits at lower precision</source>
        <translation>Passt mit geringerer Genauigkeit</translation>
    </message>
    <message>
        <source>Unlikely to fit</source>
        <translation>Wird kaum passen</translation>
    </message>
    <message>
        <source>Does not fit</source>
        <translation>Passt nicht</translation>
    </message>
    <message>
        <source>An estimate from the published model&apos;s shape. %1</source>
        <translation>Geschätzt nach dem Aufbau des veröffentlichten Modells. %1</translation>
    </message>
    <message>
        <source>Estimated from the file&apos;s size: with the conversation and working memory it should take about %1 of the %2 that is free for a model. The planner will know exactly once the file is here.</source>
        <translation>Geschätzt nach der Größe der Datei: Mit Gespräch und Rechenpuffer müsste es etwa %1 von den %2 belegen, die für ein Modell frei sind. Der Planer weiß es genau, sobald die Datei hier ist.</translation>
    </message>
    <message>
        <source>Estimated from the file&apos;s size: with the conversation and working memory it should take about %1, and %2 is free for a model. If it has experts, it may still fit with them at lower precision; the planner will know once the file is here.</source>
        <translation>Geschätzt nach der Größe der Datei: Mit Gespräch und Rechenpuffer müsste es etwa %1 belegen; für ein Modell sind %2 frei. Hat es Experten, passt es vielleicht mit geringerer Genauigkeit; der Planer weiß es, sobald die Datei hier ist.</translation>
    </message>
    <message>
        <source>needs %1, %2 is free</source>
        <translation>braucht %1, frei sind %2</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>At its file&apos;s precision it takes %1 of the %2 that is free for a model; %3 of that holds %4 tokens of conversation.</source>
        <translation>Mit Dateigenauigkeit belegt es %1 von den %2, die für ein Modell frei sind; %3 davon fassen %4 Token des Gesprächs.</translation>
    </message>
    <message>
        <source>Should fit, experts on the processor</source>
        <translation>Passt wohl; der Prozessor hilft mit</translation>
    </message>
    <message>
        <source>Should fit, experts on the disk</source>
        <translation>Passt wohl; Experten vom Laufwerk</translation>
    </message>
    <message>
        <source>Fits with experts on the processor</source>
        <translation>Passt; der Prozessor hilft mit</translation>
    </message>
    <message>
        <source>Fits with experts on the disk</source>
        <translation>Passt mit Experten vom Laufwerk</translation>
    </message>
</context>
<context>
    <name>fovea::app::FolderController</name>
    <message>
        <source>New folder</source>
        <translation>Neuer Ordner</translation>
    </message>
</context>
<context>
    <name>fovea::app::LiveController</name>
    <message>
        <source>New chat</source>
        <translation>Neuer Chat</translation>
    </message>
    <message>
        <source>Saved %1</source>
        <translation>%1 gespeichert</translation>
    </message>
</context>
<context>
    <name>fovea::app::MemoryWords</name>
    <message>
        <source>What each precision costs this model has not been measured yet. &quot;Prepare…&quot; in the list of models measures it; then you can trade quality for speed here.</source>
        <translation>Was jede Genauigkeit kostet, ist für dieses Modell noch nicht gemessen. „Vorbereiten …“ in der Liste der Modelle misst es; danach können Sie hier Qualität gegen Tempo abwägen.</translation>
    </message>
    <message>
        <source>Every expert is as precise as the budget allows.</source>
        <translation>Jeder Experte ist so genau, wie es das Budget erlaubt.</translation>
    </message>
    <message>
        <source>%1 bits on average: experts are less precise where that saves more time than it costs quality.</source>
        <translation>Im Mittel %1 Bit: Experten sind dort weniger genau, wo das mehr Zeit spart, als es Qualität kostet.</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>All weights as they are in the file.</source>
        <translation>Alle Gewichte wie in der Datei.</translation>
    </message>
    <message>
        <source>What every token uses: embeddings, attention, routers.</source>
        <translation>Was jedes Token braucht: Embeddings, Attention, Router.</translation>
    </message>
    <message numerus="yes">
        <source>%Ln expert(s) at %1</source>
        <translation>
            <numerusform>%Ln Experte mit %1</numerusform>
            <numerusform>%Ln Experten mit %1</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln layer(s) at %1</source>
        <translation>
            <numerusform>%Ln Schicht mit %1</numerusform>
            <numerusform>%Ln Schichten mit %1</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 bits per weight, including rounding up to whole blocks and a spare one.</source>
        <translation>%1 Bit pro Gewicht, einschließlich des Aufrundens auf ganze Blöcke und eines Reserveblocks.</translation>
    </message>
    <message>
        <source>Keys and values of %1 tokens, for each layer.</source>
        <translation>Keys und Values von %1 Token in jeder Schicht.</translation>
    </message>
    <message>
        <source>Working memory</source>
        <translation>Rechenpuffer</translation>
    </message>
    <message>
        <source>What the layers pass on, for %1 tokens of a prompt at once.</source>
        <translation>Was die Schichten weitergeben, für %1 Token eines Prompts auf einmal.</translation>
    </message>
    <message>
        <source>Kept free</source>
        <translation>Freigehalten</translation>
    </message>
    <message>
        <source>Two per cent of the budget, at most 1 GiB, for what cannot be planned.</source>
        <translation>Zwei Prozent des Budgets, höchstens 1 GiB, für Unvorhersehbares.</translation>
    </message>
    <message>
        <source>Set the budget to %1</source>
        <translation>Das Budget auf %1 setzen</translation>
    </message>
    <message>
        <source>Remember the conversation with 8 bits</source>
        <translation>Das Gespräch mit 8 Bit merken</translation>
    </message>
    <message>
        <source>Shorten the context to %1 tokens</source>
        <translation>Den Kontext auf %1 Token kürzen</translation>
    </message>
    <message>
        <source>16 bits (usual)</source>
        <translation>16 Bit (üblich)</translation>
    </message>
    <message>
        <source>8 bits (half the memory)</source>
        <translation>8 Bit (halber Speicher)</translation>
    </message>
    <message>
        <source>What the model remembers of the conversation takes half of the memory and is a little less exact.</source>
        <translation>Was sich das Modell vom Gespräch merkt, braucht den halben Speicher und ist etwas ungenauer.</translation>
    </message>
    <message>
        <source>32 bits (twice the memory)</source>
        <translation>32 Bit (doppelter Speicher)</translation>
    </message>
    <message>
        <source>Exact, and twice as large.</source>
        <translation>Genau, und doppelt so groß.</translation>
    </message>
    <message>
        <source>As in the file</source>
        <translation>Wie in der Datei</translation>
    </message>
    <message>
        <source>Every weight is as precise as in the model&apos;s file; nothing changes while it answers.</source>
        <translation>Jedes Gewicht ist so genau wie in der Datei des Modells; während es antwortet, ändert sich nichts.</translation>
    </message>
    <message>
        <source>Hot experts at %1, the others at %2</source>
        <translation>Gefragte Experten mit %1, die anderen mit %2</translation>
    </message>
    <message>
        <source>The experts that the conversation uses most are precise; the others take less room. This changes while you talk, and no token of an answer waits for it.</source>
        <translation>Die Experten, die das Gespräch am meisten braucht, sind genau; die anderen brauchen weniger Platz. Das ändert sich im Lauf des Gesprächs, und kein Token einer Antwort wartet darauf.</translation>
    </message>
    <message>
        <source>A fixed mix that fills the budget</source>
        <translation>Eine feste Mischung, die das Budget füllt</translation>
    </message>
    <message>
        <source>Each expert keeps one precision: the best mix that fits in the budget.</source>
        <translation>Jeder Experte behält seine Genauigkeit: die beste Mischung, die in das Budget passt.</translation>
    </message>
    <message>
        <source>Each layer keeps one precision: the best mix that fits in the budget.</source>
        <translation>Jede Schicht behält ihre Genauigkeit: die beste Mischung, die in das Budget passt.</translation>
    </message>
    <message>
        <source>All experts at %1</source>
        <translation>Alle Experten mit %1</translation>
    </message>
    <message>
        <source>All layers at %1</source>
        <translation>Alle Schichten mit %1</translation>
    </message>
    <message>
        <source>Experts at %1, some on the disk</source>
        <translation>Experten mit %1, einige auf dem Laufwerk</translation>
    </message>
    <message>
        <source>Experts stay on the disk, and memory keeps those likely to be needed soon: slower, but a larger model runs.</source>
        <translation>Die Experten bleiben auf dem Laufwerk; im Speicher liegen die, die wohl bald gebraucht werden. Das ist langsamer, aber so läuft ein größeres Modell.</translation>
    </message>
    <message>
        <source>Chosen by Fovea</source>
        <translation>Von Fovea gewählt</translation>
    </message>
    <message>
        <source>What the model may take: its weights, the conversation and working memory. Even when precision changes, it never takes more, not even for a moment. %1 is free for a model now.</source>
        <translation>Was das Modell belegen darf: seine Gewichte, das Gespräch und den Rechenpuffer. Auch wenn sich die Genauigkeit ändert, belegt es nie mehr, nicht einmal für einen Augenblick. Für ein Modell sind jetzt %1 frei.</translation>
    </message>
    <message>
        <source>%1 of %2 experts have the high precision.</source>
        <translation>%1 von %2 Experten haben die hohe Genauigkeit.</translation>
    </message>
    <message>
        <source>%1 of %2 experts stay on the disk and are read when they are used; memory keeps %3 of them at a time.</source>
        <translation>%1 von %2 Experten bleiben auf dem Laufwerk und werden gelesen, wenn sie gebraucht werden; im Speicher sind jeweils %3.</translation>
    </message>
    <message>
        <source>It does not fit: it needs at least %1, which is %2 more than the budget.</source>
        <translation>Es passt nicht: Es braucht mindestens %1, das sind %2 mehr als das Budget.</translation>
    </message>
    <message>
        <source>Nothing on this page makes it fit. Choose another model.</source>
        <translation>Keine Einstellung auf dieser Seite macht es passend. Wählen Sie ein anderes Modell.</translation>
    </message>
    <message>
        <source>Each of these alone makes it fit:</source>
        <translation>Jeder dieser Schritte genügt für sich allein:</translation>
    </message>
    <message>
        <source>planned from the published model</source>
        <translation>nach dem veröffentlichten Modell geplant</translation>
    </message>
    <message>
        <source>Fovea&apos;s planner computes them from the sizes of the published model&apos;s tensors. It plans again, exactly, once the file is here.</source>
        <translation>Foveas Planer berechnet sie aus den Größen der Tensoren des veröffentlichten Modells. Sobald die Datei da ist, plant er noch einmal genau.</translation>
    </message>
    <message>
        <source>planned from the file</source>
        <translation>nach der Datei geplant</translation>
    </message>
    <message>
        <source>Fovea&apos;s planner reads the sizes of all tensors in the file and adds up what will be held, as it does when the model is opened. The budget is never exceeded.</source>
        <translation>Foveas Planer liest die Größen aller Tensoren in der Datei und addiert, was im Speicher liegen wird, wie beim Öffnen des Modells. Das Budget wird nie überschritten.</translation>
    </message>
    <message>
        <source>The size of the file.</source>
        <translation>Die Größe der Datei.</translation>
    </message>
    <message>
        <source>Conversation and working memory, estimated</source>
        <translation>Gespräch und Rechenpuffer, geschätzt</translation>
    </message>
    <message>
        <source>A tenth of the weights, at least 268 MB.</source>
        <translation>Ein Zehntel der Gewichte, mindestens 268 MB.</translation>
    </message>
    <message>
        <source>It should fit.</source>
        <translation>Es müsste passen.</translation>
    </message>
    <message>
        <source>It is unlikely to fit.</source>
        <translation>Es wird kaum passen.</translation>
    </message>
    <message>
        <source>estimated from the file&apos;s size</source>
        <translation>nach der Größe der Datei geschätzt</translation>
    </message>
    <message>
        <source>No precisions are prepared yet, so lower precision is assumed to hurt every expert alike. Once they are prepared, the plan can change, and Fovea will say so.</source>
        <translation>Noch ist keine Genauigkeit vorbereitet; deshalb wird angenommen, dass geringere Genauigkeit jedem Experten gleich schadet. Nach dem Vorbereiten kann sich der Plan ändern; Fovea sagt es Ihnen dann.</translation>
    </message>
    <message>
        <source>Conversation (windows)</source>
        <translation>Gespräch (Fenster)</translation>
    </message>
    <message>
        <source>Keys and values of the layers that see only the last tokens, with earlier ones to return to when you change something further up.</source>
        <translation>Keys und Values der Schichten, die nur die letzten Token sehen, dazu frühere, auf die zurückgegriffen wird, wenn Sie weiter oben etwas ändern.</translation>
    </message>
    <message>
        <source>Conversation (recurrent state)</source>
        <translation>Gespräch (rekurrenter Zustand)</translation>
    </message>
    <message>
        <source>What some layers keep instead of keys and values, with copies to return to when you change something further up.</source>
        <translation>Was manche Schichten statt Keys und Values behalten, dazu Kopien, auf die zurückgegriffen wird, wenn Sie weiter oben etwas ändern.</translation>
    </message>
    <message>
        <source>Experts at %1, following the conversation</source>
        <translation>Experten mit %1, dem Gespräch folgend</translation>
    </message>
    <message>
        <source>Each expert is as precise as the conversation needs it to be. This changes while you talk, and no token of an answer waits for it.</source>
        <translation>Jeder Experte ist so genau, wie das Gespräch ihn braucht. Das ändert sich im Lauf des Gesprächs, und kein Token einer Antwort wartet darauf.</translation>
    </message>
    <message>
        <source>Layers at %1, lower while an answer is certain</source>
        <translation>Schichten mit %1, niedriger, solange eine Antwort sicher ist</translation>
    </message>
    <message>
        <source>Each question is read at the highest precision; while an answer is certain enough, its layers go down one by one. This is faster but saves no memory.</source>
        <translation>Jede Frage wird mit der höchsten Genauigkeit gelesen; solange eine Antwort sicher genug ist, wird die Genauigkeit Schicht für Schicht gesenkt. Das ist schneller, spart aber keinen Speicher.</translation>
    </message>
    <message>
        <source>Layers at %1, lower with the length of an answer</source>
        <translation>Schichten mit %1, niedriger bei langen Antworten</translation>
    </message>
    <message>
        <source>Each question is read at the highest precision; the longer an answer is, the lower the precision of all layers. This is faster but saves no memory.</source>
        <translation>Jede Frage wird mit der höchsten Genauigkeit gelesen; je länger eine Antwort ist, desto niedriger ist die Genauigkeit aller Schichten. Das ist schneller, spart aber keinen Speicher.</translation>
    </message>
    <message>
        <source>What the model remembers of the conversation, with 16 bits for each number.</source>
        <translation>Was sich das Modell vom Gespräch merkt, mit 16 Bit für jede Zahl.</translation>
    </message>
    <message>
        <source>Hot experts at %1, the others at %2, by use alone</source>
        <translation>Gefragte Experten mit %1, die anderen mit %2, allein nach dem Gebrauch</translation>
    </message>
    <message>
        <source>The number of bits is roughly what each weight takes. Below 3 bits, answers get noticeably worse.</source>
        <translation>Die Zahl der Bit gibt ungefähr an, wie viel jedes Gewicht belegt. Unter 3 Bit werden Antworten merklich schlechter.</translation>
    </message>
    <message>
        <source>Conversation</source>
        <translation>Gespräch</translation>
    </message>
    <message>
        <source>Shared weights</source>
        <translation>Gemeinsame Gewichte</translation>
    </message>
    <message>
        <source>It fits, with %1 to spare beyond what is kept free.</source>
        <translation>Es passt, und über das Freigehaltene hinaus bleiben %1 übrig.</translation>
    </message>
    <message>
        <source>What is free on each card, less 1/32 for other programs: %1 on %2, %3 on %4.</source>
        <translation>Was auf jeder Karte frei ist, abzüglich 1/32 für andere Programme: %1 auf %2, %3 auf %4.</translation>
    </message>
    <message numerus="yes">
        <source>It fits: %1 has the first %n layer(s) and %2 to spare, %3 has the others and %4 to spare.</source>
        <translation>
            <numerusform>Es passt: %1 hat die erste Schicht und %2 übrig, %3 hat die anderen und %4 übrig.</numerusform>
            <numerusform>Es passt: %1 hat die ersten %n Schichten und %2 übrig, %3 hat die anderen und %4 übrig.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>It does not fit: %1 needs %2 for the first %n layer(s) and has %3, %4 needs %5 for the others and has %6.</source>
        <translation>
            <numerusform>Es passt nicht: %1 braucht %2 für die erste Schicht und hat %3, %4 braucht %5 für die anderen und hat %6.</numerusform>
            <numerusform>Es passt nicht: %1 braucht %2 für die ersten %n Schichten und hat %3, %4 braucht %5 für die anderen und hat %6.</numerusform>
        </translation>
    </message>
    <message>
        <source>the first card</source>
        <translation>die erste Karte</translation>
    </message>
    <message>
        <source>the second card</source>
        <translation>die zweite Karte</translation>
    </message>
</context>
<context>
    <name>fovea::app::ModelRows</name>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>%1, %2 per second</source>
        <translation>%1, %2 pro Sekunde</translation>
    </message>
    <message>
        <source>%1, %2 per second, %3 left</source>
        <translation>%1, %2 pro Sekunde, noch %3</translation>
    </message>
    <message>
        <source>Waiting for the previous download</source>
        <translation>Wartet auf den vorigen Download</translation>
    </message>
    <message>
        <source>Asking the hub where the files are</source>
        <translation>Der Hub wird gefragt, wo die Dateien liegen</translation>
    </message>
    <message numerus="yes">
        <source>Trying again in %n second(s). %1</source>
        <translation>
            <numerusform>Neuer Versuch in einer Sekunde. %1</numerusform>
            <numerusform>Neuer Versuch in %n Sekunden. %1</numerusform>
        </translation>
    </message>
    <message>
        <source>Downloaded; verifying the checksum</source>
        <translation>Heruntergeladen; die Prüfsumme wird verglichen</translation>
    </message>
    <message>
        <source>Paused at %1 of %2</source>
        <translation>Pausiert bei %1 von %2</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>Pausiert</translation>
    </message>
    <message>
        <source>Continues when there is room on the disk. %1</source>
        <translation>Geht weiter, sobald auf dem Laufwerk Platz ist. %1</translation>
    </message>
    <message>
        <source>%1, complete and verified</source>
        <translation>%1, vollständig und geprüft</translation>
    </message>
    <message numerus="yes">
        <source>%n second(s)</source>
        <translation>
            <numerusform>eine Sekunde</numerusform>
            <numerusform>%n Sekunden</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n minute(s)</source>
        <translation>
            <numerusform>eine Minute</numerusform>
            <numerusform>%n Minuten</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n hour(s)</source>
        <translation>
            <numerusform>eine Stunde</numerusform>
            <numerusform>%n Stunden</numerusform>
        </translation>
    </message>
    <message>
        <source>Failed. %1</source>
        <translation>Fehlgeschlagen. %1</translation>
    </message>
    <message>
        <source>Another program is downloading this file</source>
        <translation>Ein anderes Programm lädt diese Datei gerade herunter</translation>
    </message>
    <message>
        <source>As in the model&apos;s file; nothing is lost</source>
        <translation>Wie in der Datei des Modells; nichts geht verloren</translation>
    </message>
    <message>
        <source>16 bits per weight</source>
        <translation>16 Bit pro Gewicht</translation>
    </message>
    <message>
        <source>8 bits per weight: hardly any difference</source>
        <translation>8 Bit pro Gewicht: kaum ein Unterschied</translation>
    </message>
    <message>
        <source>4 bits per weight: good for nearly everything</source>
        <translation>4 Bit pro Gewicht: gut für fast alles</translation>
    </message>
    <message>
        <source>3 bits per weight: a noticeable difference</source>
        <translation>3 Bit pro Gewicht: ein merklicher Unterschied</translation>
    </message>
    <message>
        <source>2 bits per weight: for what is seldom used</source>
        <translation>2 Bit pro Gewicht: für selten Gebrauchtes</translation>
    </message>
    <message>
        <source>%1: suits this model better than %2: error %3 instead of %4 %</source>
        <translation>%1: passt besser zu diesem Modell als %2 (Fehler %3 statt %4 %)</translation>
    </message>
    <message>
        <source>about %1</source>
        <translation>etwa %1</translation>
    </message>
</context>
<context>
    <name>fovea::app::ModelWords</name>
    <message>
        <source>%1 M parameters</source>
        <translation>%1 Mio. Parameter</translation>
    </message>
    <message>
        <source>%1 B parameters</source>
        <translation>%1 Mrd. Parameter</translation>
    </message>
    <message>
        <source>%1 experts, %2 for each token</source>
        <translation>%1 Experten, %2 für jedes Token</translation>
    </message>
    <message>
        <source>weights as in the file</source>
        <translation>Gewichte wie in der Datei</translation>
    </message>
    <message>
        <source>Every weight is as precise as in the model&apos;s file; nothing changes while it answers.</source>
        <translation>Jedes Gewicht ist so genau wie in der Datei des Modells; beim Antworten ändert sich nichts.</translation>
    </message>
    <message>
        <source>Each expert has a fixed precision: the best mix that fits the budget.</source>
        <translation>Jeder Experte hat eine feste Genauigkeit: die beste Mischung, die ins Budget passt.</translation>
    </message>
    <message>
        <source>The experts that this conversation uses most are precise; the others take less room. This changes while you talk.</source>
        <translation>Die Experten, die dieses Gespräch am meisten braucht, sind genau; die anderen brauchen weniger Platz. Das ändert sich im Lauf des Gesprächs.</translation>
    </message>
    <message>
        <source>Some experts are kept in a slower place so that a larger model fits.</source>
        <translation>Einige Experten liegen an einem langsameren Ort, damit ein größeres Modell passt.</translation>
    </message>
    <message>
        <source>Weights other than experts: %1</source>
        <translation>Gewichte außer den Experten: %1</translation>
    </message>
    <message numerus="yes">
        <source>%n expert(s) at %1: %2</source>
        <translation>
            <numerusform>%n Experte mit %1: %2</numerusform>
            <numerusform>%n Experten mit %1: %2</numerusform>
        </translation>
    </message>
    <message>
        <source>Working memory: %1</source>
        <translation>Rechenpuffer: %1</translation>
    </message>
    <message>
        <source>Kept free: %1</source>
        <translation>Freigehalten: %1</translation>
    </message>
    <message>
        <source>Budget: %1</source>
        <translation>Budget: %1</translation>
    </message>
    <message>
        <source>Weights: %1</source>
        <translation>Gewichte: %1</translation>
    </message>
    <message>
        <source>%1 and processor</source>
        <translation>%1 und Prozessor</translation>
    </message>
    <message>
        <source>The model runs on %1: %2.</source>
        <translation>Das Modell läuft auf %1: %2.</translation>
    </message>
    <message>
        <source>The model runs on the processor: %1.</source>
        <translation>Das Modell läuft auf dem Prozessor: %1.</translation>
    </message>
    <message>
        <source>%1 of its weights are in main memory, where the processor computes with them.</source>
        <translation>%1 seiner Gewichte liegen im Arbeitsspeicher, wo der Prozessor mit ihnen rechnet.</translation>
    </message>
    <message>
        <source>The settings choose another device.</source>
        <translation>In den Einstellungen lässt sich ein anderes Gerät wählen.</translation>
    </message>
    <message>
        <source>In main memory, where the processor computes with them: %1</source>
        <translation>Im Arbeitsspeicher, wo der Prozessor mit ihnen rechnet: %1</translation>
    </message>
    <message>
        <source>This message has %1 tokens, more than the %2 that the model reads at once.</source>
        <translation>Diese Nachricht hat %1 Token, mehr als die %2, die das Modell auf einmal liest.</translation>
    </message>
    <message>
        <source>Shorten it or its attachments, or open the model with a longer context (Settings).</source>
        <translation>Kürzen Sie die Nachricht oder ihre Anhänge, oder öffnen Sie das Modell mit einem längeren Kontext (Einstellungen).</translation>
    </message>
    <message>
        <source>Shorten it or its attachments.</source>
        <translation>Kürzen Sie die Nachricht oder ihre Anhänge.</translation>
    </message>
    <message>
        <source>The model is reopened with as many experts at each precision as now; after that, they stay as they are. The conversation is kept.</source>
        <translation>Das Modell wird neu geöffnet, mit so vielen Experten in jeder Genauigkeit wie jetzt; danach bleibt es bei dieser Mischung. Das Gespräch bleibt erhalten.</translation>
    </message>
    <message>
        <source>Nothing is written to the disk: every expert is already there at each precision. This takes as long as opening the model.</source>
        <translation>Auf das Laufwerk wird nichts geschrieben: Jeder Experte liegt schon in jeder Genauigkeit vor. Es dauert so lange wie das Öffnen des Modells.</translation>
    </message>
    <message>
        <source>Every expert would first have to be written at each precision: %1 on the disk, where only %2 is free.</source>
        <translation>Zuerst müsste jeder Experte in jeder Genauigkeit geschrieben werden: %1 auf dem Laufwerk, auf dem nur %2 frei sind.</translation>
    </message>
    <message>
        <source>First, every expert is written at each precision: %1 on the disk, where %2 is free. This takes about %3 and is done only once.</source>
        <translation>Zuerst wird jeder Experte in jeder Genauigkeit geschrieben: %1 auf dem Laufwerk, auf dem %2 frei sind. Das dauert etwa %3 und ist nur einmal nötig.</translation>
    </message>
    <message>
        <source>The plan that was shown no longer applies: %1.</source>
        <translation>Der gezeigte Plan gilt nicht mehr: %1.</translation>
    </message>
    <message>
        <source>What layers with a window remember, including earlier tokens to return to: %1</source>
        <translation>Was sich Schichten mit einem Fenster merken, dazu frühere Token, auf die zurückgegriffen wird: %1</translation>
    </message>
    <message>
        <source>State of its recurrent layers, with copies to return to: %1</source>
        <translation>Zustand der rekurrenten Schichten, dazu Kopien, auf die zurückgegriffen wird: %1</translation>
    </message>
    <message>
        <source>Each expert is as precise as this conversation needs it to be: at first the fixed mix for the budget, then according to what it uses. This changes while you talk.</source>
        <translation>Jeder Experte ist so genau, wie dieses Gespräch ihn braucht: am Anfang nach der festen Mischung für das Budget, dann nach dem, was es benutzt. Das ändert sich im Lauf des Gesprächs.</translation>
    </message>
    <message>
        <source>Each question is read at the highest precision; while an answer is certain enough, its layers go down one by one.</source>
        <translation>Jede Frage wird mit der höchsten Genauigkeit gelesen; solange eine Antwort sicher genug ist, wird die Genauigkeit Schicht für Schicht gesenkt.</translation>
    </message>
    <message>
        <source>Each question is read at the highest precision; the longer an answer is, the lower the precision of all layers.</source>
        <translation>Jede Frage wird mit der höchsten Genauigkeit gelesen; je länger eine Antwort ist, desto niedriger ist die Genauigkeit aller Schichten.</translation>
    </message>
    <message>
        <source>The model is opened again, within the same memory; then its experts change their precision as the conversation needs them. The conversation is kept.</source>
        <translation>Das Modell wird im selben Speicher neu geöffnet; danach ändern seine Experten ihre Genauigkeit so, wie das Gespräch sie braucht. Das Gespräch bleibt erhalten.</translation>
    </message>
    <message>
        <source>hot experts at %1, the others at %2</source>
        <translation>gefragte Experten mit %1, die anderen mit %2</translation>
    </message>
    <message>
        <source>experts at %1, as they are used</source>
        <translation>Experten mit %1, je nach Gebrauch</translation>
    </message>
    <message>
        <source>a fixed mix of %1</source>
        <translation>eine feste Mischung aus %1</translation>
    </message>
    <message>
        <source>some experts in a slower place</source>
        <translation>einige Experten an einem langsameren Ort</translation>
    </message>
    <message>
        <source>layers at %1</source>
        <translation>Schichten mit %1</translation>
    </message>
    <message>
        <source>What the model remembers of the conversation: %1</source>
        <translation>Was sich das Modell vom Gespräch merkt: %1</translation>
    </message>
    <message>
        <source>two %1</source>
        <translation>zwei %1</translation>
    </message>
    <message>
        <source>%1 and %2</source>
        <translation>%1 und %2</translation>
    </message>
    <message>
        <source>The first %1 of the model&apos;s %2 layers are on %3 (%4), the others on %5 (%6).</source>
        <translation>Die ersten %1 der %2 Schichten des Modells sind auf %3 (%4), die übrigen auf %5 (%6).</translation>
    </message>
    <message>
        <source>%1: %2 of %3, of which the conversation has %4</source>
        <translation>%1: %2 von %3, davon hat das Gespräch %4</translation>
    </message>
</context>
<context>
    <name>fovea::app::ModelsController</name>
    <message>
        <source>Preparing %1</source>
        <translation>%1 wird vorbereitet</translation>
    </message>
    <message>
        <source>Checking %1</source>
        <translation>%1 wird geprüft</translation>
    </message>
    <message>
        <source>Moving %1 to the trash</source>
        <translation>%1 wird in den Papierkorb verschoben</translation>
    </message>
    <message>
        <source>%1: %2 of %3</source>
        <translation>%1: %2 von %3</translation>
    </message>
    <message>
        <source>%1 is already prepared like this.</source>
        <translation>%1 ist bereits so vorbereitet.</translation>
    </message>
    <message>
        <source>%1 was prepared again, because it had been prepared without this text: %2 on the disk.</source>
        <translation>%1 wurde neu vorbereitet, weil es ohne diesen Text vorbereitet war: %2 auf dem Laufwerk.</translation>
    </message>
    <message>
        <source>%1 is prepared: %2 on the disk.</source>
        <translation>%1 ist vorbereitet: %2 auf dem Laufwerk.</translation>
    </message>
    <message>
        <source>%1 is intact: %2 was read without an error.</source>
        <translation>%1 ist unbeschädigt: %2 wurden fehlerfrei gelesen.</translation>
    </message>
    <message numerus="yes">
        <source>%1 is intact: %2 was read, and the checksums of %n file(s) match those of the hub.</source>
        <translation>
            <numerusform>%1 ist unbeschädigt: %2 wurden gelesen, und die Prüfsumme einer Datei stimmt mit der des Hubs überein.</numerusform>
            <numerusform>%1 ist unbeschädigt: %2 wurden gelesen, und die Prüfsummen von %n Dateien stimmen mit denen des Hubs überein.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 What was prepared from it is intact too: %n part(s).</source>
        <translation>
            <numerusform>%1 Was daraus vorbereitet wurde, ist ebenfalls unbeschädigt: ein Teil.</numerusform>
            <numerusform>%1 Was daraus vorbereitet wurde, ist ebenfalls unbeschädigt: %n Teile.</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 is in the trash: %2.</source>
        <translation>%1 ist im Papierkorb: %2.</translation>
    </message>
    <message>
        <source>The token is in the keyring.</source>
        <translation>Das Zugangstoken liegt im Schlüsselbund.</translation>
    </message>
    <message>
        <source>Preparing %1 was stopped. What is done is kept: preparing it again continues from there.</source>
        <translation>Das Vorbereiten von %1 wurde angehalten. Was fertig ist, bleibt erhalten; wenn Sie es erneut vorbereiten, geht es dort weiter.</translation>
    </message>
    <message>
        <source>The check of %1 was stopped.</source>
        <translation>Die Prüfung von %1 wurde angehalten.</translation>
    </message>
    <message>
        <source>There is no precision below that of %1&apos;s file, so nothing can be prepared.</source>
        <translation>Eine niedrigere Genauigkeit als die der Datei von %1 gibt es nicht; es lässt sich also nichts vorbereiten.</translation>
    </message>
    <message>
        <source>%1 was downloaded. It is in the list of models.</source>
        <translation>%1 wurde heruntergeladen. Es steht in der Liste der Modelle.</translation>
    </message>
    <message>
        <source>The download of %1 failed: %2</source>
        <translation>Der Download von %1 ist fehlgeschlagen: %2</translation>
    </message>
    <message>
        <source>%1 is reading the text: %2 of %3 tokens</source>
        <translation>%1 liest den Text: %2 von %3 Token</translation>
    </message>
    <message>
        <source>The keyring no longer has a token for Fovea.</source>
        <translation>Im Schlüsselbund liegt kein Zugangstoken für Fovea mehr.</translation>
    </message>
    <message>
        <source>The keyring no longer has a token for Fovea. The one stored by the hub&apos;s own tools is still used.</source>
        <translation>Im Schlüsselbund liegt kein Zugangstoken für Fovea mehr. Das, welches die Programme des Hubs selbst abgelegt haben, wird weiterhin benutzt.</translation>
    </message>
    <message>
        <source>Choose at least two: with only one there is nothing to switch between.</source>
        <translation>Wählen Sie mindestens zwei: Mit nur einer gibt es nichts zu wechseln.</translation>
    </message>
    <message>
        <source>It takes %1 on the disk, and only %2 is free there.</source>
        <translation>Es belegt %1 auf dem Laufwerk, und dort sind nur %2 frei.</translation>
    </message>
    <message>
        <source>It takes %1 on the disk; %2 is free there.</source>
        <translation>Es belegt %1 auf dem Laufwerk; dort sind %2 frei.</translation>
    </message>
    <message>
        <source>The keyring no longer has a token for Fovea. The one that Fovea was started with is still used.</source>
        <translation>Im Schlüsselbund liegt kein Zugangstoken für Fovea mehr. Das, mit dem Fovea gestartet wurde, wird weiterhin benutzt.</translation>
    </message>
</context>
<context>
    <name>fovea::app::Presets</name>
    <message>
        <source>Precise</source>
        <translation>Genau</translation>
    </message>
    <message>
        <source>Answer briefly and exactly. Say so when you do not know something.</source>
        <translation>Antworte knapp und genau. Sag es, wenn du etwas nicht weißt.</translation>
    </message>
    <message>
        <source>Creative</source>
        <translation>Kreativ</translation>
    </message>
    <message>
        <source>Be inventive: look for the unexpected word and the unexpected idea.</source>
        <translation>Sei einfallsreich: Such das unerwartete Wort und den unerwarteten Gedanken.</translation>
    </message>
    <message>
        <source>Explain simply</source>
        <translation>Einfach erklären</translation>
    </message>
    <message>
        <source>Explain everything in plain words, step by step, with examples from everyday life.</source>
        <translation>Erkläre alles in einfachen Worten, Schritt für Schritt, mit Beispielen aus dem Alltag.</translation>
    </message>
    <message>
        <source>Translate</source>
        <translation>Übersetzen</translation>
    </message>
    <message>
        <source>Translate every message into English, unless another language is named. Answer with the translation alone.</source>
        <translation>Übersetze jede Nachricht ins Deutsche, wenn keine andere Sprache genannt ist. Antworte nur mit der Übersetzung.</translation>
    </message>
    <message>
        <source>Code review</source>
        <translation>Code prüfen</translation>
    </message>
    <message>
        <source>Review the code that you are shown: first what is wrong, then what is hard to read, each with a better version.</source>
        <translation>Prüfe den Code, der dir gezeigt wird: zuerst, was falsch ist, dann, was schwer zu lesen ist, jeweils mit einer besseren Fassung.</translation>
    </message>
    <message>
        <source>Summarise</source>
        <translation>Zusammenfassen</translation>
    </message>
    <message>
        <source>Summarise this text in a few sentences:</source>
        <translation>Fasse diesen Text in wenigen Sätzen zusammen:</translation>
    </message>
    <message>
        <source>Improve the wording</source>
        <translation>Besser formulieren</translation>
    </message>
    <message>
        <source>Improve the wording of this text, and keep what it says:</source>
        <translation>Formuliere diesen Text besser, ohne zu ändern, was er sagt:</translation>
    </message>
    <message>
        <source>List the tasks</source>
        <translation>Aufgaben auflisten</translation>
    </message>
    <message>
        <source>List the tasks that follow from this text:</source>
        <translation>Liste die Aufgaben auf, die sich aus diesem Text ergeben:</translation>
    </message>
    <message>
        <source>Explain the code</source>
        <translation>Code erklären</translation>
    </message>
    <message>
        <source>Explain what this code does, part by part:</source>
        <translation>Erkläre Teil für Teil, was dieser Code tut:</translation>
    </message>
</context>
<context>
    <name>fovea::app::PresetsLink</name>
    <message>
        <source>This chat now uses the preset “%1”.</source>
        <translation>Dieser Chat verwendet jetzt die Vorlage „%1“.</translation>
    </message>
    <message>
        <source>The preset that chats in “%1” start with is no longer there: this one has the default settings.</source>
        <translation>Die Vorlage, mit der Chats in „%1“ beginnen, gibt es nicht mehr: Dieser Chat hat die Standardeinstellungen.</translation>
    </message>
    <message>
        <source>Choose another…</source>
        <translation>Neu wählen …</translation>
    </message>
    <message>
        <source>The model that chats in “%1” start with is no longer there.</source>
        <translation>Das Modell, mit dem Chats in „%1“ beginnen, ist nicht mehr da.</translation>
    </message>
    <message>
        <source>Chats in “%1” start with another model. It has not been opened yet, because that would end the answer being written.</source>
        <translation>Chats in „%1“ beginnen mit einem anderen Modell. Es wurde noch nicht geöffnet, weil das die Antwort beenden würde, die gerade geschrieben wird.</translation>
    </message>
    <message>
        <source>Open it now</source>
        <translation>Jetzt öffnen</translation>
    </message>
</context>
<context>
    <name>fovea::app::ProposalWords</name>
    <message>
        <source>Fits completely</source>
        <translation>Passt vollständig</translation>
    </message>
    <message>
        <source>at its published precision</source>
        <translation>mit veröffentlichter Genauigkeit</translation>
    </message>
    <message>
        <source>Fits</source>
        <translation>Passt</translation>
    </message>
    <message>
        <source>what is seldom used, at lower precision</source>
        <translation>selten Gebrauchtes mit geringerer Genauigkeit</translation>
    </message>
    <message>
        <source>Fits in part</source>
        <translation>Passt teilweise</translation>
    </message>
    <message>
        <source>some experts outside the card</source>
        <translation>einige Experten außerhalb der Karte</translation>
    </message>
    <message>
        <source>some experts on the disk</source>
        <translation>einige Experten auf dem Laufwerk</translation>
    </message>
    <message>
        <source>Does not fit</source>
        <translation>Passt nicht</translation>
    </message>
    <message>
        <source>up to %1</source>
        <translation>bis zu %1</translation>
    </message>
    <message>
        <source>The most capable model that is quick on this computer</source>
        <translation>Das leistungsfähigste Modell, das auf diesem Rechner flott läuft</translation>
    </message>
    <message>
        <source>of %1 memory</source>
        <translation>von %1 Speicher</translation>
    </message>
    <message>
        <source>tokens a second</source>
        <translation>Token pro Sekunde</translation>
    </message>
    <message>
        <source>Open it</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Download about %1</source>
        <translation>Etwa %1 herunterladen</translation>
    </message>
    <message>
        <source>Download %1</source>
        <translation>%1 herunterladen</translation>
    </message>
    <message>
        <source>Good at: %1.</source>
        <translation>Gut für: %1.</translation>
    </message>
    <message>
        <source>Of the models on this computer and those that Fovea knows, it does best in published tests, taking into account what fits in the memory that is free now and how fast it writes here.</source>
        <translation>Von den Modellen auf diesem Rechner und denen, die Fovea kennt, schneidet es in veröffentlichten Tests am besten ab. Berücksichtigt ist, was in den jetzt freien Speicher passt und wie schnell es hier schreibt.</translation>
    </message>
</context>
<context>
    <name>fovea::app::ServerLink</name>
    <message>
        <source>Starting…</source>
        <translation>Server startet …</translation>
    </message>
    <message>
        <source>The system has no usable keyring, so the key is kept in a file that only you can read: %1</source>
        <translation>Das System hat keinen verwendbaren Schlüsselbund; der Schlüssel liegt deshalb in einer Datei, die nur Sie lesen können: %1</translation>
    </message>
    <message>
        <source>The key is kept in the system&apos;s keyring.</source>
        <translation>Der Schlüssel liegt im Schlüsselbund des Systems.</translation>
    </message>
    <message>
        <source>Programs on this computer are answered at this address:</source>
        <translation>Programme auf diesem Rechner erhalten Antworten unter dieser Adresse:</translation>
    </message>
    <message>
        <source>Programs on this and other computers are answered at this address, with the key:</source>
        <translation>Programme auf diesem und auf anderen Rechnern erhalten mit dem Schlüssel Antworten unter dieser Adresse:</translation>
    </message>
    <message>
        <source>Another Fovea (version %1, process %2) is already answering on port %3. Programs can use that one; or choose another port.</source>
        <translation>Ein anderes Fovea (Version %1, Prozess %2) antwortet bereits auf Port %3. Programme können dieses nutzen; oder wählen Sie einen anderen Port.</translation>
    </message>
    <message>
        <source>Port %1 is used by another program. Choose another port.</source>
        <translation>Port %1 wird von einem anderen Programm benutzt. Wählen Sie einen anderen Port.</translation>
    </message>
    <message>
        <source>Other programs are not answered. %1</source>
        <translation>Andere Programme erhalten keine Antworten. %1</translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation>Einstellungen …</translation>
    </message>
    <message>
        <source>Until the model is reopened with room for several answers at once, other programs wait for your answers.</source>
        <translation>Bis das Modell mit Platz für mehrere Antworten zugleich neu geöffnet wird, warten andere Programme auf Ihre Antworten.</translation>
    </message>
    <message>
        <source>Open it again</source>
        <translation>Neu öffnen</translation>
    </message>
</context>
<context>
    <name>fovea::app::SidebarController</name>
    <message>
        <source>Export the conversation</source>
        <translation>Gespräch exportieren</translation>
    </message>
    <message>
        <source>Markdown (*.md)</source>
        <translation>Markdown (*.md)</translation>
    </message>
    <message>
        <source>JSON (*.json)</source>
        <translation>JSON (*.json)</translation>
    </message>
    <message>
        <source>Exported to %1</source>
        <translation>Nach %1 exportiert</translation>
    </message>
    <message>
        <source>Importing %1 …</source>
        <translation>%1 wird importiert …</translation>
    </message>
    <message numerus="yes">
        <source>%n conversation(s) imported</source>
        <translation>
            <numerusform>Ein Gespräch importiert</numerusform>
            <numerusform>%n Gespräche importiert</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n were there already</source>
        <translation>
            <numerusform>Eines war schon da</numerusform>
            <numerusform>%n waren schon da</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n could not be read</source>
        <translation>
            <numerusform>Eines war nicht lesbar</numerusform>
            <numerusform>%n waren nicht lesbar</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::app::TierWords</name>
    <message>
        <source>the file&apos;s precision</source>
        <translation>Dateigenauigkeit</translation>
    </message>
    <message>
        <source>16 bits</source>
        <translation>16 Bit</translation>
    </message>
    <message>
        <source>8 bits</source>
        <translation>8 Bit</translation>
    </message>
    <message>
        <source>6 bits</source>
        <translation>6 Bit</translation>
    </message>
    <message>
        <source>5 bits</source>
        <translation>5 Bit</translation>
    </message>
    <message>
        <source>4 bits</source>
        <translation>4 Bit</translation>
    </message>
    <message>
        <source>4 bits in other steps</source>
        <translation>4 Bit, anders abgestuft</translation>
    </message>
    <message>
        <source>3 bits</source>
        <translation>3 Bit</translation>
    </message>
    <message>
        <source>2 bits</source>
        <translation>2 Bit</translation>
    </message>
    <message>
        <source>as published</source>
        <translation>wie veröffentlicht</translation>
    </message>
</context>
<context>
    <name>fovea::app::TokenInspector</name>
    <message>
        <source>(the end, or a control mark)</source>
        <translation>(das Ende oder ein Steuerzeichen)</translation>
    </message>
</context>
<context>
    <name>fovea::app::Tour</name>
    <message>
        <source>The demo model&apos;s experts are being prepared. This is needed only once; the tour starts by itself when they are ready.</source>
        <translation>Die Experten des Demomodells werden vorbereitet. Das ist nur einmal nötig; die Führung beginnt von selbst, sobald sie bereit sind.</translation>
    </message>
    <message>
        <source>The tour shows how experts change their precision. For that it needs a model opened that way, or the demo model, which is not on this computer.</source>
        <translation>Die Führung zeigt, wie Experten ihre Genauigkeit ändern. Dafür braucht sie ein Modell, das so geöffnet ist, oder das Demomodell, das nicht auf diesem Rechner ist.</translation>
    </message>
    <message>
        <source>The demo model is being opened.</source>
        <translation>Das Demomodell wird geöffnet.</translation>
    </message>
    <message>
        <source>%1. Each token is written by a few experts in every layer. Those that it needs get more bits: watch them brighten on the map.</source>
        <translation>%1. Jedes Token wird in jeder Schicht von wenigen Experten geschrieben. Die benötigten bekommen mehr Bit: Auf der Karte leuchten sie auf.</translation>
    </message>
    <message>
        <source>Now another subject: %1. Other experts are needed, and the earlier ones make room.</source>
        <translation>Nun ein anderes Thema: %1. Andere Experten werden gebraucht, und die von vorhin machen Platz.</translation>
    </message>
    <message>
        <source>Nothing is known about this answer&apos;s experts.</source>
        <translation>Über die Experten dieser Antwort ist nichts bekannt.</translation>
    </message>
    <message>
        <source>That was the tour. Ask something of your own, and watch the map.</source>
        <translation>Das war die Führung. Fragen Sie nun selbst etwas, und beobachten Sie die Karte.</translation>
    </message>
</context>
<context>
    <name>fovea::app::WizardController</name>
    <message>
        <source>Loading…</source>
        <translation>Wird geladen …</translation>
    </message>
    <message>
        <source>&amp;Open</source>
        <translation>Ö&amp;ffnen</translation>
    </message>
    <message>
        <source>&amp;Finish</source>
        <translation>&amp;Fertig</translation>
    </message>
    <message>
        <source>Stopped. What has been prepared is kept.</source>
        <translation>Angehalten. Was schon vorbereitet ist, bleibt erhalten.</translation>
    </message>
    <message>
        <source>The measurement was stopped.</source>
        <translation>Die Messung wurde angehalten.</translation>
    </message>
    <message>
        <source>No model was found, and none is known to fit. Open a file from the menu at the top right instead.</source>
        <translation>Es wurde kein Modell gefunden, und es ist keines bekannt, das passt. Öffnen Sie stattdessen eine Datei über das Menü oben rechts.</translation>
    </message>
    <message>
        <source>None of these fits in what is free now. Close other programs, go back to the first page, and try again.</source>
        <translation>Keines davon passt in den Speicher, der jetzt frei ist. Schließen Sie andere Programme, gehen Sie zur ersten Seite zurück, und versuchen Sie es erneut.</translation>
    </message>
    <message>
        <source>%1 is open with these settings.</source>
        <translation>%1 ist mit diesen Einstellungen geöffnet.</translation>
    </message>
    <message>
        <source>%1 will be opened with these settings. Any open model is closed; it comes back if you close this window before the end.</source>
        <translation>%1 wird mit diesen Einstellungen geöffnet. Ein Modell, das jetzt geöffnet ist, wird geschlossen; wenn Sie dieses Fenster vor dem Ende schließen, wird es wieder geöffnet.</translation>
    </message>
    <message>
        <source>%1 is not on this computer yet.</source>
        <translation>%1 ist noch nicht auf diesem Rechner.</translation>
    </message>
    <message>
        <source>%1 is not on this computer yet. Run this in a terminal, then go back to the list of models.</source>
        <translation>%1 ist noch nicht auf diesem Rechner. Führen Sie dies in einem Terminal aus und gehen Sie dann zur Liste der Modelle zurück.</translation>
    </message>
    <message>
        <source>The model writes for a few seconds, to measure how fast it is.</source>
        <translation>Das Modell schreibt einige Sekunden lang, um sein Tempo zu messen.</translation>
    </message>
    <message numerus="yes">
        <source>Measured for %n second(s).</source>
        <translation>
            <numerusform>Eine Sekunde gemessen.</numerusform>
            <numerusform>%n Sekunden gemessen.</numerusform>
        </translation>
    </message>
    <message>
        <source>The model is not open, so nothing is measured. These are the predictions.</source>
        <translation>Das Modell ist nicht geöffnet; deshalb wird nichts gemessen. Dies sind die Vorhersagen.</translation>
    </message>
    <message>
        <source>You do not have to download anything to begin: closing this window opens a model that is already on this computer.</source>
        <translation>Zum Anfangen müssen Sie nichts herunterladen: Wenn Sie dieses Fenster schließen, wird ein Modell geöffnet, das schon auf diesem Rechner ist.</translation>
    </message>
</context>
<context>
    <name>fovea::app::WizardDownloads</name>
    <message>
        <source>Asking the hub…</source>
        <translation>Der Hub wird gefragt …</translation>
    </message>
    <message>
        <source>The hub&apos;s repository no longer has this file. Choose another model.</source>
        <translation>Das Repository auf dem Hub enthält diese Datei nicht mehr. Wählen Sie ein anderes Modell.</translation>
    </message>
    <message>
        <source>Downloading: %1 of %2</source>
        <translation>Wird heruntergeladen: %1 von %2</translation>
    </message>
    <message>
        <source>Paused. What has been downloaded is kept; downloading again continues from there.</source>
        <translation>Pausiert. Was heruntergeladen ist, bleibt erhalten; ein erneuter Download macht dort weiter.</translation>
    </message>
    <message>
        <source>Comparing the checksum…</source>
        <translation>Prüfsumme wird verglichen …</translation>
    </message>
    <message>
        <source>The download failed: %1</source>
        <translation>Der Download ist fehlgeschlagen: %1</translation>
    </message>
</context>
<context>
    <name>fovea::app::WizardWords</name>
    <message>
        <source>%1 GB/s</source>
        <translation>%1 GB/s</translation>
    </message>
    <message>
        <source>%1 million</source>
        <translation>%1 Millionen</translation>
    </message>
    <message>
        <source>%1 billion</source>
        <translation>%1 Milliarden</translation>
    </message>
    <message>
        <source>Weights %1</source>
        <translation>Gewichte %1</translation>
    </message>
    <message numerus="yes">
        <source>%Ln expert(s) at %1 %2</source>
        <translation>
            <numerusform>%Ln Experte mit %1 %2</numerusform>
            <numerusform>%Ln Experten mit %1 %2</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln layer(s) at %1 %2</source>
        <translation>
            <numerusform>%Ln Schicht mit %1 %2</numerusform>
            <numerusform>%Ln Schichten mit %1 %2</numerusform>
        </translation>
    </message>
    <message>
        <source>conversation %1</source>
        <translation>Gespräch %1</translation>
    </message>
    <message>
        <source>%1, of which %2 are used for each token</source>
        <translation>%1, davon arbeiten %2 für jedes Token</translation>
    </message>
    <message>
        <source>The card&apos;s speed is measured once the model is open.</source>
        <translation>Das Tempo der Karte wird gemessen, sobald das Modell geöffnet ist.</translation>
    </message>
    <message>
        <source>The speed of this computer&apos;s memory has not been measured yet.</source>
        <translation>Das Tempo des Arbeitsspeichers ist noch nicht gemessen.</translation>
    </message>
    <message>
        <source>For each token the computer reads about %1 of weights, and its memory delivers %2. The real speed is lower; the last step measures it.</source>
        <translation>Für jedes Token liest der Rechner etwa %1 an Gewichten; sein Speicher liefert %2. Das wirkliche Tempo ist niedriger; der letzte Schritt misst es.</translation>
    </message>
    <message>
        <source>Experts that are only on the disk are read at %1.</source>
        <translation>Experten, die nur auf dem Laufwerk liegen, werden mit %1 gelesen.</translation>
    </message>
    <message>
        <source>measuring…</source>
        <translation>wird gemessen …</translation>
    </message>
    <message>
        <source>could not be measured</source>
        <translation>konnte nicht gemessen werden</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>Prozessor</translation>
    </message>
    <message>
        <source>Graphics card</source>
        <translation>Grafikkarte</translation>
    </message>
    <message>
        <source>none found</source>
        <translation>keine gefunden</translation>
    </message>
    <message>
        <source>As reported by the system&apos;s drivers.</source>
        <translation>Laut den Treibern des Systems.</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>%1, of which %2 is free</source>
        <translation>%1, davon sind %2 frei</translation>
    </message>
    <message>
        <source>What the system, or the container, lets this program take without writing memory to the disk.</source>
        <translation>So viel darf dieses Programm laut System oder Container belegen, ohne dass Speicher auf das Laufwerk ausgelagert wird.</translation>
    </message>
    <message>
        <source>For a model</source>
        <translation>Für ein Modell</translation>
    </message>
    <message>
        <source>The free memory, less 1 GiB for the desktop and its programs; a model that would be closed counts as free. You can change this later.</source>
        <translation>Der freie Speicher, abzüglich 1 GiB für den Desktop und seine Programme; ein Modell, das geschlossen würde, zählt als frei. Sie können das später ändern.</translation>
    </message>
    <message>
        <source>Memory read speed</source>
        <translation>Lesetempo des Speichers</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Laufwerk</translation>
    </message>
    <message>
        <source>%1 free</source>
        <translation>%1 frei</translation>
    </message>
    <message>
        <source>On the disk with the folder %1, where models are kept.</source>
        <translation>Auf dem Laufwerk mit dem Ordner %1, in dem Modelle liegen.</translation>
    </message>
    <message>
        <source>Disk read speed</source>
        <translation>Lesetempo des Laufwerks</translation>
    </message>
    <message>
        <source>Measured by reading the largest model there for up to a second, or a file of 67 MB made for this and then removed, bypassing the system&apos;s cache. It limits how fast models load and experts are read from the disk.</source>
        <translation>Gemessen, indem bis zu einer Sekunde lang das größte Modell dort gelesen wird oder eine Datei von 67 MB, die dafür angelegt und danach gelöscht wird, am Cache des Systems vorbei. Das begrenzt, wie schnell Modelle geladen und Experten vom Laufwerk gelesen werden.</translation>
    </message>
    <message>
        <source>Little memory is free. Close other programs and come back to see larger models.</source>
        <translation>Es ist wenig Speicher frei. Schließen Sie andere Programme und kommen Sie wieder, um größere Modelle zu sehen.</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>From</source>
        <translation>Quelle</translation>
    </message>
    <message>
        <source>The model hub&apos;s repository.</source>
        <translation>Das Repository auf dem Modell-Hub.</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>about %1; %2 is free on the disk</source>
        <translation>etwa %1; auf dem Laufwerk sind %2 frei</translation>
    </message>
    <message>
        <source>%1; %2 is free on the disk</source>
        <translation>%1; auf dem Laufwerk sind %2 frei</translation>
    </message>
    <message>
        <source>Computed from the model&apos;s published sizes. The hub gives the exact size when the download begins.</source>
        <translation>Aus den veröffentlichten Größen des Modells berechnet. Die genaue Größe nennt der Hub, wenn der Download beginnt.</translation>
    </message>
    <message>
        <source>As the hub lists it, to three digits.</source>
        <translation>Wie der Hub sie angibt, auf drei Stellen.</translation>
    </message>
    <message>
        <source>Precisions</source>
        <translation>Genauigkeiten</translation>
    </message>
    <message>
        <source>already prepared</source>
        <translation>schon vorbereitet</translation>
    </message>
    <message>
        <source>The file with every expert at each precision is there.</source>
        <translation>Die Datei mit allen Experten in jeder Genauigkeit ist da.</translation>
    </message>
    <message>
        <source>will be prepared first: %1 on the disk, %2 is free</source>
        <translation>werden erst vorbereitet: %1 auf dem Laufwerk, %2 sind frei</translation>
    </message>
    <message>
        <source>Every expert is written once at each precision, so that a change while you talk takes a single read. This is done once for each model; it can be stopped and continued later.</source>
        <translation>Jeder Experte wird einmal in jeder Genauigkeit geschrieben, damit eine Änderung im Lauf des Gesprächs nur ein einziges Lesen braucht. Das geschieht für jedes Modell nur einmal; es lässt sich anhalten und später fortsetzen.</translation>
    </message>
    <message>
        <source>Measuring…</source>
        <translation>Messung läuft …</translation>
    </message>
    <message>
        <source>Predicted: what the memory can deliver (%1), divided by what a token reads. No computer quite reaches it.</source>
        <translation>Vorhergesagt: was der Speicher liefern kann (%1), geteilt durch das, was ein Token liest. Kein Rechner erreicht es ganz.</translation>
    </message>
    <message>
        <source>Measured: the median of several rounds, %1 tokens in all, from %2 to %3.</source>
        <translation>Gemessen: der Median mehrerer Runden, insgesamt %1 Token, von %2 bis %3.</translation>
    </message>
    <message>
        <source>Speed of an answer</source>
        <translation>Tempo einer Antwort</translation>
    </message>
    <message>
        <source>at most %1</source>
        <translation>höchstens %1</translation>
    </message>
    <message>
        <source>Read for each token</source>
        <translation>Gelesen für jedes Token</translation>
    </message>
    <message>
        <source>Predicted from the plan: the dense weights and the experts that a token uses. Measured: what the engine counts, with the conversation so far.</source>
        <translation>Vorhergesagt nach dem Plan: die dichten Gewichte und die Experten, die ein Token braucht. Gemessen: was die Engine zählt, mit dem Gespräch bis dahin.</translation>
    </message>
    <message>
        <source>The first page&apos;s measurement, and the same again with the model in memory.</source>
        <translation>Die Messung der ersten Seite, und dieselbe noch einmal mit dem Modell im Speicher.</translation>
    </message>
    <message>
        <source>Memory of the model</source>
        <translation>Speicher des Modells</translation>
    </message>
    <message>
        <source>Memory of the whole program</source>
        <translation>Speicher des ganzen Programms</translation>
    </message>
    <message>
        <source>What the system counts for Fovea: the model, the window, and pages of the file that the system may take back at any time.</source>
        <translation>Was das System für Fovea zählt: das Modell, das Fenster und Seiten der Datei, die das System jederzeit zurücknehmen darf.</translation>
    </message>
    <message>
        <source>Longest conversation</source>
        <translation>Längstes Gespräch</translation>
    </message>
    <message>
        <source>%1 of %2 tokens</source>
        <translation>%1 von %2 Token</translation>
    </message>
    <message>
        <source>The longest context for which the planner finds room beside the weights, out of what the model was trained for.</source>
        <translation>Der längste Kontext, für den der Planer neben den Gewichten Platz findet, von dem, wofür das Modell trainiert wurde.</translation>
    </message>
    <message>
        <source>on this computer, %1</source>
        <translation>auf diesem Rechner, %1</translation>
    </message>
    <message>
        <source>to download, about %1</source>
        <translation>zum Herunterladen, etwa %1</translation>
    </message>
    <message>
        <source>to download, %1</source>
        <translation>zum Herunterladen, %1</translation>
    </message>
    <message>
        <source>Cannot be opened</source>
        <translation>Kann nicht geöffnet werden</translation>
    </message>
    <message>
        <source>on this computer</source>
        <translation>auf diesem Rechner</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>As published by its makers.</source>
        <translation>Wie von den Herstellern veröffentlicht.</translation>
    </message>
    <message>
        <source>Counted in the file. Each token uses the dense weights and the experts that the routers choose for it.</source>
        <translation>In der Datei gezählt. Für ein Token arbeiten die dichten Gewichte und die Experten, die die Router wählen.</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>Tempo</translation>
    </message>
    <message>
        <source>not known yet</source>
        <translation>noch nicht bekannt</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>Lizenz</translation>
    </message>
    <message>
        <source>Experts that the processor computes are read from the computer&apos;s memory at %1.</source>
        <translation>Experten, die der Prozessor berechnet, werden mit %1 aus dem Arbeitsspeicher gelesen.</translation>
    </message>
    <message>
        <source>%1 (%2): %3, of which %4 is free</source>
        <translation>%1 (%2): %3, davon sind %4 frei</translation>
    </message>
    <message>
        <source>; read at %1</source>
        <translation>; gelesen mit %1</translation>
    </message>
    <message>
        <source>As reported by its driver now; memory used by other programs does not count as free. The speed is what its clock and bus width allow.</source>
        <translation>Laut ihrem Treiber; Speicher, den andere Programme belegen, zählt nicht als frei. Das Tempo ist, was Takt und Busbreite erlauben.</translation>
    </message>
    <message>
        <source>Models run on the processor, so the card&apos;s memory is not counted.</source>
        <translation>Modelle laufen auf dem Prozessor; der Speicher der Karte wird deshalb nicht gezählt.</translation>
    </message>
    <message>
        <source>The card&apos;s memory is not counted, because no card can be used: %1.</source>
        <translation>Der Speicher der Karte wird nicht gezählt, weil keine Karte verwendbar ist: %1.</translation>
    </message>
    <message>
        <source>The card&apos;s free memory, less 1/32 for other programs; a model that would be closed counts as free. The computer&apos;s own memory can hold more experts, which the processor then computes. You can change this later.</source>
        <translation>Der freie Speicher der Karte, abzüglich 1/32 für andere Programme; ein Modell, das geschlossen würde, zählt als frei. Der Arbeitsspeicher kann weitere Experten aufnehmen, die dann der Prozessor berechnet. Sie können das später ändern.</translation>
    </message>
    <message>
        <source>Models run on the processor. The graphics card is used only if you choose it above.</source>
        <translation>Modelle laufen auf dem Prozessor. Die Grafikkarte wird nur benutzt, wenn Sie sie oben wählen.</translation>
    </message>
    <message>
        <source>The plan, and what the engine has taken by its own count; both leave out the part of the budget that is kept free.</source>
        <translation>Der Plan und was die Engine nach eigener Zählung belegt hat; beides ohne den Teil des Budgets, der freigehalten wird.</translation>
    </message>
    <message>
        <source>at least %1 s</source>
        <translation>mindestens %1 s</translation>
    </message>
    <message>
        <source>Measured by reading half a gibibyte with all threads, again and again, until the fastest passes agree. It limits how fast answers are written.</source>
        <translation>Gemessen, indem alle Threads immer wieder ein halbes Gibibyte lesen, bis die schnellsten Durchgänge übereinstimmen. Das begrenzt, wie schnell Antworten geschrieben werden.</translation>
    </message>
    <message>
        <source>First word</source>
        <translation>Erstes Wort</translation>
    </message>
    <message>
        <source>Reading a prompt of %1 tokens: the arithmetic alone, at the speed measured for this machine. The real time is longer.</source>
        <translation>Das Lesen eines Prompts von %1 Token: nur die Rechenarbeit, mit dem Tempo, das für diesen Rechner gemessen wurde. In Wirklichkeit dauert es länger.</translation>
    </message>
    <message>
        <source>First word of an answer</source>
        <translation>Erstes Wort einer Antwort</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 s</translation>
    </message>
    <message>
        <source>After a prompt of %1 tokens. Predicted: the arithmetic alone, at the speed measured for this machine. Measured: the same prompt, once.</source>
        <translation>Nach einem Prompt von %1 Token. Vorhergesagt: nur die Rechenarbeit, mit dem Tempo, das für diesen Rechner gemessen wurde. Gemessen: derselbe Prompt, einmal.</translation>
    </message>
    <message numerus="yes">
        <source>%1 · %n core(s)</source>
        <translation>
            <numerusform>%1 · %n Kern</numerusform>
            <numerusform>%1 · %n Kerne</numerusform>
        </translation>
    </message>
    <message>
        <source>The cores that this program may use. The fastest instruction set that the processor understands is %1.</source>
        <translation>Die Kerne, die dieses Programm benutzen darf. Der schnellste Befehlssatz, den der Prozessor versteht, ist %1.</translation>
    </message>
    <message>
        <source>to be made with a command</source>
        <translation>mit einem Befehl zu erzeugen</translation>
    </message>
    <message>
        <source>Preparing the precisions…</source>
        <translation>Genauigkeiten werden vorbereitet …</translation>
    </message>
    <message>
        <source>Loading…</source>
        <translation>Wird geladen …</translation>
    </message>
    <message>
        <source>Shared weights %1</source>
        <translation>Gemeinsame Gewichte %1</translation>
    </message>
    <message>
        <source>%1 tokens a second</source>
        <translation>%1 Token pro Sekunde</translation>
    </message>
    <message>
        <source>at least %1 s, assuming %2 to the card</source>
        <translation>mindestens %1 s, bei angenommenen %2 zur Karte</translation>
    </message>
    <message>
        <source>Graphics cards</source>
        <translation>Grafikkarten</translation>
    </message>
    <message>
        <source>%1 together: %2 on %3, %4 on %5</source>
        <translation>zusammen %1: %2 auf %3, %4 auf %5</translation>
    </message>
    <message>
        <source>What is free on each card, less 1/32 for other programs; a model that would be closed counts as free. The first card has a model&apos;s first layers and the other one the rest.</source>
        <translation>Was auf jeder Karte frei ist, abzüglich 1/32 für andere Programme; ein Modell, das dafür geschlossen würde, zählt als frei. Die erste Karte hat die ersten Schichten eines Modells und die andere den Rest.</translation>
    </message>
    <message>
        <source>Models run on the processor. The graphics cards are used only if you choose one or two of them above.</source>
        <translation>Modelle laufen auf dem Prozessor. Die Grafikkarten werden nur verwendet, wenn Sie oben eine oder zwei davon wählen.</translation>
    </message>
    <message>
        <source>A model that does not fit on one card may fit on two: choose them above.</source>
        <translation>Ein Modell, das nicht auf eine Karte passt, passt vielleicht auf zwei: Wählen Sie sie oben.</translation>
    </message>
</context>
<context>
    <name>fovea::ui::BesideDialog</name>
    <message>
        <source>Fixed and adaptive side by side</source>
        <translation>Fest und adaptiv nebeneinander</translation>
    </message>
    <message>
        <source>One question is answered twice, with the same seed and the same amount of memory: by experts that follow the conversation, and by a fixed mix.</source>
        <translation>Eine Frage wird zweimal beantwortet, mit demselben Seed und gleich viel Speicher: von Experten, die dem Gespräch folgen, und von einer festen Mischung.</translation>
    </message>
    <message>
        <source>Question</source>
        <translation>Frage</translation>
    </message>
    <message>
        <source>Adaptive</source>
        <translation>Adaptiv</translation>
    </message>
    <message>
        <source>Fixed</source>
        <translation>Fest</translation>
    </message>
    <message>
        <source>Answer twice</source>
        <translation>Zweimal antworten</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>fovea::ui::BudgetBar</name>
    <message>
        <source>Memory budget</source>
        <translation>Speicherbudget</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>Together %1 of %2</source>
        <translation>Zusammen %1 von %2</translation>
    </message>
    <message>
        <source>%1 needed</source>
        <translation>%1 nötig</translation>
    </message>
    <message>
        <source>Budget %1</source>
        <translation>Budget %1</translation>
    </message>
    <message>
        <source>%1: %2
%3</source>
        <translation>%1: %2
%3</translation>
    </message>
    <message>
        <source>%1: %2 needed</source>
        <translation>%1: %2 nötig</translation>
    </message>
</context>
<context>
    <name>fovea::ui::CalibrationPage</name>
    <message>
        <source>Measuring</source>
        <translation>Messung</translation>
    </message>
    <message>
        <source>S&amp;top</source>
        <translation>&amp;Anhalten</translation>
    </message>
    <message>
        <source>&amp;Measure again</source>
        <translation>&amp;Noch einmal messen</translation>
    </message>
    <message>
        <source>The same from a terminal:</source>
        <translation>Dasselbe im Terminal:</translation>
    </message>
    <message>
        <source>Predicted</source>
        <translation>Vorhergesagt</translation>
    </message>
    <message>
        <source>Measured</source>
        <translation>Gemessen</translation>
    </message>
    <message>
        <source>%1: predicted %2, measured %3</source>
        <translation>%1: vorhergesagt %2, gemessen %3</translation>
    </message>
</context>
<context>
    <name>fovea::ui::CatalogueList</name>
    <message>
        <source>Models to download, those that fit first</source>
        <translation>Modelle zum Herunterladen, die passenden zuerst</translation>
    </message>
    <message>
        <source>Good for this computer</source>
        <translation>Gut für diesen Rechner</translation>
    </message>
    <message>
        <source>Too large for the memory that is free now</source>
        <translation>Zu groß für den Speicher, der gerade frei ist</translation>
    </message>
</context>
<context>
    <name>fovea::ui::ChatSettingsDialog</name>
    <message>
        <source>Answer format</source>
        <translation>Antwortformat</translation>
    </message>
    <message>
        <source>Answer as JSON</source>
        <translation>Als JSON antworten</translation>
    </message>
    <message>
        <source>Every answer is a JSON object, whatever the model would say. Thoughts stay free.</source>
        <translation>Jede Antwort ist ein JSON-Objekt, was auch immer das Modell sagen würde. Die Gedanken sind davon ausgenommen.</translation>
    </message>
    <message>
        <source>Answer schema</source>
        <translation>Antwortschema</translation>
    </message>
    <message>
        <source>A JSON schema that answers must follow. Empty: any object.</source>
        <translation>Ein JSON-Schema, dem die Antworten folgen müssen. Leer: ein beliebiges Objekt.</translation>
    </message>
    <message>
        <source>Chat settings</source>
        <translation>Chat-Einstellungen</translation>
    </message>
    <message>
        <source>How daring each choice is: 0 always takes the likeliest word, 1 follows the model&apos;s own odds.</source>
        <translation>Wie kühn gewählt wird: 0 nimmt stets das wahrscheinlichste Wort, 1 folgt den Wahrscheinlichkeiten des Modells.</translation>
    </message>
    <message>
        <source>Only this many of the likeliest tokens may be chosen; 0: all of them.</source>
        <translation>Nur so viele der wahrscheinlichsten Token kommen in Frage; 0: alle.</translation>
    </message>
    <message>
        <source>Only the likeliest tokens that together have this probability may be chosen.</source>
        <translation>Nur die wahrscheinlichsten Token, die zusammen diese Wahrscheinlichkeit haben, kommen in Frage.</translation>
    </message>
    <message>
        <source>Only tokens at least this likely, compared with the likeliest one, may be chosen.</source>
        <translation>Nur Token, die verglichen mit dem wahrscheinlichsten mindestens so wahrscheinlich sind, kommen in Frage.</translation>
    </message>
    <message>
        <source>Above 1, words that were used lately become less likely.</source>
        <translation>Über 1 werden kürzlich gebrauchte Wörter unwahrscheinlicher.</translation>
    </message>
    <message>
        <source>The longest answer, in tokens.</source>
        <translation>Die längste Antwort, in Token.</translation>
    </message>
    <message>
        <source>a new one each time</source>
        <translation>jedes Mal ein neuer</translation>
    </message>
    <message>
        <source>The same seed, question and settings give the same answer, unless experts change their precision in the meantime.</source>
        <translation>Gleicher Seed, gleiche Frage und gleiche Einstellungen ergeben die gleiche Antwort, sofern nicht inzwischen Experten ihre Genauigkeit ändern.</translation>
    </message>
    <message>
        <source>When the context is full, leave out the oldest messages</source>
        <translation>Wenn der Kontext voll ist, die ältesten Nachrichten weglassen</translation>
    </message>
    <message>
        <source>They stay in the conversation that you see; the model no longer reads them. The answer says how many.</source>
        <translation>Sie bleiben im Gespräch sichtbar, aber das Modell liest sie nicht mehr. Die Antwort sagt, wie viele es sind.</translation>
    </message>
    <message>
        <source>Instructions</source>
        <translation>Anweisungen</translation>
    </message>
    <message>
        <source>What the model should keep in mind in this conversation. Empty: what its template says.</source>
        <translation>Was das Modell in diesem Gespräch beachten soll. Leer: was seine Chat-Vorlage sagt.</translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation>Sampling</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Temperatur</translation>
    </message>
    <message>
        <source>Top-k</source>
        <translation>Top-k</translation>
    </message>
    <message>
        <source>Top-p</source>
        <translation>Top-p</translation>
    </message>
    <message>
        <source>Min-p</source>
        <translation>Min-p</translation>
    </message>
    <message>
        <source>Repetition penalty</source>
        <translation>Wiederholungsstrafe</translation>
    </message>
    <message>
        <source>Longest answer</source>
        <translation>Längste Antwort</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>automatic</source>
        <translation>automatisch</translation>
    </message>
    <message>
        <source>automatic: %1</source>
        <translation>automatisch: %1</translation>
    </message>
    <message>
        <source>Above 0, repeating a passage becomes less likely, the more so the longer it is (DRY).</source>
        <translation>Über 0 wird es unwahrscheinlicher, dass sich eine Textstelle wiederholt, und zwar umso mehr, je länger sie ist (DRY).</translation>
    </message>
    <message>
        <source>Repeated passage penalty</source>
        <translation>Strafe für wiederholte Stellen</translation>
    </message>
    <message>
        <source>Thinking</source>
        <translation>Nachdenken</translation>
    </message>
    <message>
        <source>Up to the model</source>
        <translation>Dem Modell überlassen</translation>
    </message>
    <message>
        <source>On</source>
        <translation>An</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>Aus</translation>
    </message>
    <message>
        <source>Whether the model thinks before it answers. Its thoughts can be expanded.</source>
        <translation>Ob das Modell vor der Antwort nachdenkt. Seine Gedanken lassen sich aufklappen.</translation>
    </message>
    <message>
        <source>Low</source>
        <translation>Niedrig</translation>
    </message>
    <message>
        <source>Medium</source>
        <translation>Mittel</translation>
    </message>
    <message>
        <source>High</source>
        <translation>Hoch</translation>
    </message>
    <message>
        <source>How long the model thinks: more is slower, and often better.</source>
        <translation>Wie lange das Modell nachdenkt: Mehr ist langsamer und oft besser.</translation>
    </message>
    <message>
        <source>Before it answers</source>
        <translation>Vor der Antwort</translation>
    </message>
    <message>
        <source>Effort</source>
        <translation>Gründlichkeit</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>Vorlage</translation>
    </message>
    <message>
        <source>Save as a preset…</source>
        <translation>Als Vorlage speichern …</translation>
    </message>
    <message>
        <source>Keep all of these settings under a name</source>
        <translation>Alle diese Einstellungen unter einem Namen speichern</translation>
    </message>
    <message>
        <source>&amp;Name</source>
        <translation>&amp;Name</translation>
    </message>
    <message>
        <source>Load from a preset</source>
        <translation>Aus einer Vorlage übernehmen</translation>
    </message>
    <message>
        <source>Save as a preset</source>
        <translation>Als Vorlage speichern</translation>
    </message>
</context>
<context>
    <name>fovea::ui::ChatWindow</name>
    <message>
        <source>Conversations</source>
        <translation>Gespräche</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Choose the model</source>
        <translation>Modell wählen</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Fovea</source>
        <translation>Fovea</translation>
    </message>
    <message>
        <source>%1 – Fovea</source>
        <translation>%1 – Fovea</translation>
    </message>
    <message>
        <source>Open a model</source>
        <translation>Modell öffnen</translation>
    </message>
    <message>
        <source>Loading…</source>
        <translation>Wird geladen …</translation>
    </message>
    <message>
        <source>Library</source>
        <translation>Bibliothek</translation>
    </message>
    <message>
        <source>Recent</source>
        <translation>Zuletzt benutzt</translation>
    </message>
    <message>
        <source>The link &quot;%1&quot; is not a web or mail address, so it was not opened.</source>
        <translation>Der Link „%1“ ist keine Web- oder E-Mail-Adresse und wurde deshalb nicht geöffnet.</translation>
    </message>
    <message>
        <source>Open a link</source>
        <translation>Link öffnen</translation>
    </message>
    <message>
        <source>Open this address outside Fovea?

%1</source>
        <translation>Diese Adresse außerhalb von Fovea öffnen?

%1</translation>
    </message>
    <message>
        <source>Experts</source>
        <translation>Experten</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>&amp;Datei</translation>
    </message>
    <message>
        <source>&amp;New chat</source>
        <translation>&amp;Neuer Chat</translation>
    </message>
    <message>
        <source>&amp;Import conversations…</source>
        <translation>Gespräche &amp;importieren …</translation>
    </message>
    <message>
        <source>&amp;Export this conversation</source>
        <translation>Dieses Gespräch &amp;exportieren</translation>
    </message>
    <message>
        <source>As &amp;Markdown…</source>
        <translation>Als &amp;Markdown …</translation>
    </message>
    <message>
        <source>As &amp;JSON…</source>
        <translation>Als &amp;JSON …</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>&amp;Beenden</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>&amp;Bearbeiten</translation>
    </message>
    <message>
        <source>&amp;Find in this conversation</source>
        <translation>In diesem Gespräch &amp;suchen</translation>
    </message>
    <message>
        <source>&amp;Search all conversations</source>
        <translation>Alle &amp;Gespräche durchsuchen</translation>
    </message>
    <message>
        <source>Se&amp;ttings…</source>
        <translation>&amp;Einstellungen …</translation>
    </message>
    <message>
        <source>&amp;Chat</source>
        <translation>&amp;Chat</translation>
    </message>
    <message>
        <source>&amp;Stop the answer</source>
        <translation>Antwort &amp;anhalten</translation>
    </message>
    <message>
        <source>&amp;Another answer</source>
        <translation>&amp;Noch eine Antwort</translation>
    </message>
    <message>
        <source>&amp;Continue the answer</source>
        <translation>Antwort &amp;fortsetzen</translation>
    </message>
    <message>
        <source>&amp;Edit the last message</source>
        <translation>Letzte Nachricht &amp;bearbeiten</translation>
    </message>
    <message>
        <source>Chat se&amp;ttings…</source>
        <translation>Chat-&amp;Einstellungen …</translation>
    </message>
    <message>
        <source>&amp;Rename…</source>
        <translation>&amp;Umbenennen …</translation>
    </message>
    <message>
        <source>&amp;Delete this conversation</source>
        <translation>Dieses Gespräch &amp;löschen</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>&amp;Ansicht</translation>
    </message>
    <message>
        <source>&amp;Conversations</source>
        <translation>&amp;Gespräche</translation>
    </message>
    <message>
        <source>&amp;Larger text</source>
        <translation>Schrift &amp;größer</translation>
    </message>
    <message>
        <source>&amp;Smaller text</source>
        <translation>Schrift &amp;kleiner</translation>
    </message>
    <message>
        <source>&amp;Normal text size</source>
        <translation>&amp;Normale Schriftgröße</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>&amp;Hilfe</translation>
    </message>
    <message>
        <source>&amp;Keyboard</source>
        <translation>&amp;Tastatur</translation>
    </message>
    <message>
        <source>&amp;About Fovea</source>
        <translation>Ü&amp;ber Fovea</translation>
    </message>
    <message>
        <source>Open a model folder</source>
        <translation>Modellordner öffnen</translation>
    </message>
    <message>
        <source>Import conversations</source>
        <translation>Gespräche importieren</translation>
    </message>
    <message>
        <source>Conversations of Fovea or ChatGPT (*.json);;All files (*)</source>
        <translation>Gespräche von Fovea oder ChatGPT (*.json);;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>About Fovea</source>
        <translation>Über Fovea</translation>
    </message>
    <message>
        <source>&lt;b&gt;Fovea %1&lt;/b&gt;&lt;p&gt;Large Mixture-of-Experts models on your own machine: each expert only as precise as the conversation needs it now.&lt;/p&gt;&lt;p&gt;Licence: Apache-2.0. Fovea uses Qt under the LGPL.&lt;/p&gt;</source>
        <translation>&lt;b&gt;Fovea %1&lt;/b&gt;&lt;p&gt;Große Mixture-of-Experts-Modelle auf dem eigenen Rechner: jeder Experte nur so genau, wie das Gespräch ihn gerade braucht.&lt;/p&gt;&lt;p&gt;Lizenz: Apache-2.0. Fovea verwendet Qt unter der LGPL.&lt;/p&gt;</translation>
    </message>
    <message>
        <source>Download a model…</source>
        <translation>Modell herunterladen …</translation>
    </message>
    <message>
        <source>All models…</source>
        <translation>Alle Modelle …</translation>
    </message>
    <message>
        <source>&amp;Models…</source>
        <translation>&amp;Modelle …</translation>
    </message>
    <message>
        <source>&amp;Download a model…</source>
        <translation>Modell herunter&amp;laden …</translation>
    </message>
    <message>
        <source>Find a model that fits…</source>
        <translation>Passendes Modell finden …</translation>
    </message>
    <message>
        <source>Find a model that fi&amp;ts…</source>
        <translation>&amp;Passendes Modell finden …</translation>
    </message>
    <message>
        <source>&amp;Bring back what was deleted</source>
        <translation>&amp;Gelöschtes zurückholen</translation>
    </message>
    <message>
        <source>Nothing was deleted in the last 30 days</source>
        <translation>In den letzten 30 Tagen wurde nichts gelöscht</translation>
    </message>
    <message>
        <source>Co&amp;mpare…</source>
        <translation>&amp;Vergleichen …</translation>
    </message>
    <message>
        <source>All commands</source>
        <translation>Alle Befehle</translation>
    </message>
    <message>
        <source>&amp;Find a command…</source>
        <translation>Befehl &amp;suchen …</translation>
    </message>
    <message numerus="yes">
        <source>%n request(s)</source>
        <translation>
            <numerusform>%n Anfrage</numerusform>
            <numerusform>%n Anfragen</numerusform>
        </translation>
    </message>
    <message>
        <source>Other programs can reach Fovea at %1</source>
        <translation>Andere Programme erreichen Fovea unter %1</translation>
    </message>
    <message>
        <source>Requests from other programs</source>
        <translation>Anfragen anderer Programme</translation>
    </message>
    <message>
        <source>&amp;How Fovea works</source>
        <translation>So &amp;arbeitet Fovea</translation>
    </message>
    <message>
        <source>Take the &amp;tour</source>
        <translation>&amp;Führung starten</translation>
    </message>
    <message>
        <source>Fixed and adaptive side &amp;by side…</source>
        <translation>&amp;Fest und adaptiv nebeneinander …</translation>
    </message>
    <message>
        <source>New fol&amp;der</source>
        <translation>Neuer Or&amp;dner</translation>
    </message>
    <message>
        <source>&amp;Use a preset</source>
        <translation>&amp;Vorlage verwenden</translation>
    </message>
    <message>
        <source>&amp;Insert a prompt</source>
        <translation>&amp;Prompt einfügen</translation>
    </message>
    <message>
        <source>&amp;Presets and prompts…</source>
        <translation>Vorla&amp;gen und Prompts …</translation>
    </message>
    <message>
        <source>Mo&amp;ve to folder</source>
        <translation>In Or&amp;dner verschieben</translation>
    </message>
    <message>
        <source>Look &amp;inside the answers</source>
        <translation>In die Antworten &amp;hineinsehen</translation>
    </message>
    <message>
        <source>&amp;Mark low precision</source>
        <translation>Niedrige Genauigkeit &amp;markieren</translation>
    </message>
    <message>
        <source>What shall we talk about?</source>
        <translation>Worüber wollen wir sprechen?</translation>
    </message>
    <message>
        <source>Open a file…</source>
        <translation>Datei öffnen …</translation>
    </message>
    <message>
        <source>Open a folder…</source>
        <translation>Ordner öffnen …</translation>
    </message>
    <message>
        <source>&amp;Open a file…</source>
        <translation>Datei ö&amp;ffnen …</translation>
    </message>
    <message>
        <source>Open a &amp;folder…</source>
        <translation>Or&amp;dner öffnen …</translation>
    </message>
    <message>
        <source>Models (*.gguf);;All files (*)</source>
        <translation>Modelle (*.gguf);;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Show the conversations</source>
        <translation>Gespräche zeigen</translation>
    </message>
    <message>
        <source>Show or hide the experts</source>
        <translation>Experten ein- oder ausblenden</translation>
    </message>
    <message>
        <source>Pi&amp;n</source>
        <translation>A&amp;nheften</translation>
    </message>
    <message>
        <source>&amp;Experts</source>
        <translation>E&amp;xperten</translation>
    </message>
    <message>
        <source>&amp;Detach the experts</source>
        <translation>Experten &amp;ablösen</translation>
    </message>
</context>
<context>
    <name>fovea::ui::CommandBox</name>
    <message>
        <source>Command</source>
        <translation>Befehl</translation>
    </message>
    <message>
        <source>C&amp;opy</source>
        <translation>&amp;Kopieren</translation>
    </message>
    <message>
        <source>Copy the command</source>
        <translation>Befehl kopieren</translation>
    </message>
    <message>
        <source>C&amp;opied</source>
        <translation>&amp;Kopiert</translation>
    </message>
</context>
<context>
    <name>fovea::ui::CommandPalette</name>
    <message>
        <source>Commands</source>
        <translation>Befehle</translation>
    </message>
    <message>
        <source>What do you want to do?</source>
        <translation>Was möchten Sie tun?</translation>
    </message>
    <message>
        <source>Find a command</source>
        <translation>Befehl suchen</translation>
    </message>
</context>
<context>
    <name>fovea::ui::CompareDialog</name>
    <message>
        <source>Compare</source>
        <translation>Vergleichen</translation>
    </message>
    <message>
        <source>%1 is opened as it is now, and again with another choice. Each time it reads the same text and writes for a few seconds, which shows how the choice affects quality, memory and speed.</source>
        <translation>%1 wird zweimal geöffnet: so, wie es jetzt ist, und mit einer anderen Wahl. Jedes Mal liest es denselben Text und schreibt einige Sekunden; das zeigt, wie sich die Wahl auf Qualität, Speicher und Tempo auswirkt.</translation>
    </message>
    <message>
        <source>Progress of the comparison</source>
        <translation>Fortschritt des Vergleichs</translation>
    </message>
    <message>
        <source>As it is now (%1), compared with</source>
        <translation>Wie es jetzt ist (%1), verglichen mit</translation>
    </message>
    <message>
        <source>Text to read</source>
        <translation>Text zum Lesen</translation>
    </message>
    <message>
        <source>Fovea&apos;s own short text: conversation, prose, code, mathematics, other languages</source>
        <translation>Ein kurzer eigener Text von Fovea: Gespräch, Prosa, Code, Mathematik, andere Sprachen</translation>
    </message>
    <message>
        <source>A text file, ideally like those you work with:</source>
        <translation>Eine Textdatei, am besten eine wie die, mit denen Sie arbeiten:</translation>
    </message>
    <message>
        <source>Text file</source>
        <translation>Textdatei</translation>
    </message>
    <message>
        <source>a few thousand words</source>
        <translation>einige tausend Wörter</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Wählen …</translation>
    </message>
    <message>
        <source>Choose a text to read</source>
        <translation>Text zum Lesen wählen</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>Ergebnis</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Close the model and compare</source>
        <translation>Modell schließen und vergleichen</translation>
    </message>
</context>
<context>
    <name>fovea::ui::Composer</name>
    <message>
        <source>Message</source>
        <translation>Nachricht</translation>
    </message>
    <message>
        <source>Attach</source>
        <translation>Anhängen</translation>
    </message>
    <message>
        <source>Attach text files: they go into the prompt before your message</source>
        <translation>Textdateien anhängen: Sie stehen im Prompt vor Ihrer Nachricht</translation>
    </message>
    <message>
        <source>You are editing an earlier message. The answers to it are kept as another branch.</source>
        <translation>Sie bearbeiten eine frühere Nachricht. Die Antworten darauf bleiben als eigener Zweig erhalten.</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Leave the message as it was (Esc)</source>
        <translation>Nachricht unverändert lassen (Esc)</translation>
    </message>
    <message>
        <source>Remove %1</source>
        <translation>%1 entfernen</translation>
    </message>
    <message>
        <source>Attached file %1, %2. Press to remove it.</source>
        <translation>Angehängte Datei %1, %2. Zum Entfernen drücken.</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>Senden</translation>
    </message>
    <message>
        <source>Send the message (Ctrl+Enter)</source>
        <translation>Nachricht senden (Strg+Eingabetaste)</translation>
    </message>
    <message>
        <source>Send the message (Enter)</source>
        <translation>Nachricht senden (Eingabetaste)</translation>
    </message>
    <message>
        <source>Stop the answer (Esc)</source>
        <translation>Antwort anhalten (Esc)</translation>
    </message>
    <message>
        <source>Take back</source>
        <translation>Zurückholen</translation>
    </message>
    <message>
        <source>Take back the message waiting to be answered (Esc)</source>
        <translation>Nachricht zurückholen, die auf eine Antwort wartet (Esc)</translation>
    </message>
    <message>
        <source>Chat settings</source>
        <translation>Chat-Einstellungen</translation>
    </message>
    <message>
        <source>Instructions and sampling for this conversation</source>
        <translation>Anweisungen und Sampling für dieses Gespräch</translation>
    </message>
    <message>
        <source>Ask anything</source>
        <translation>Stellen Sie eine Frage</translation>
    </message>
    <message>
        <source>Ctrl+Enter sends, Enter starts a new line</source>
        <translation>Strg+Eingabetaste sendet, Eingabetaste beginnt eine neue Zeile</translation>
    </message>
    <message>
        <source>Enter sends, Shift+Enter starts a new line</source>
        <translation>Eingabetaste sendet, Umschalt+Eingabetaste beginnt eine neue Zeile</translation>
    </message>
</context>
<context>
    <name>fovea::ui::ConceptsPage</name>
    <message>
        <source>How Fovea works</source>
        <translation>So arbeitet Fovea</translation>
    </message>
    <message>
        <source>Experts</source>
        <translation>Experten</translation>
    </message>
    <message>
        <source>A large model of this kind is made of many small networks, its experts. For every token (about three quarters of a word), it asks only a few of them in each of its layers. That makes it fast, but all of its experts must be kept somewhere, and together they are large.</source>
        <translation>Ein großes Modell dieser Art besteht aus vielen kleinen Netzen, seinen Experten. Für jedes Token – etwa drei Viertel eines Wortes – fragt es in jeder Schicht nur wenige von ihnen. Das macht es schnell; aber alle Experten müssen irgendwo liegen, und zusammen sind sie groß.</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>Genauigkeit</translation>
    </message>
    <message>
        <source>Each number in an expert can be kept with 16 bits, or with 8, 4 or 2. Fewer bits take less memory and are read faster, and the expert becomes a little less exact. Each number of bits has one colour, here and everywhere in the window:</source>
        <translation>Jede Zahl in einem Experten kann mit 16 Bit gespeichert werden oder mit 8, 4 oder 2. Weniger Bit brauchen weniger Speicher und werden schneller gelesen, aber der Experte wird etwas ungenauer. Jede Bitzahl hat ihre Farbe, hier und überall im Fenster:</translation>
    </message>
    <message>
        <source>Colours from 2 to 16 bits</source>
        <translation>Farben von 2 bis 16 Bit</translation>
    </message>
    <message>
        <source>What Fovea does</source>
        <translation>Was Fovea tut</translation>
    </message>
    <message>
        <source>A conversation needs some experts again and again and hardly ever asks the rest. Fovea keeps those in use at more bits and lets the others rest at fewer. When you change the subject, other experts become precise; that happens in the background while the answer goes on.</source>
        <translation>Ein Gespräch braucht manche Experten immer wieder und fragt die übrigen kaum. Fovea hält die benutzten mit mehr Bit und die anderen mit weniger. Wechseln Sie das Thema, werden andere Experten genau; das geschieht im Hintergrund, während die Antwort weitergeht.</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>You say how much memory the model may take, on the graphics card or in the computer, and Fovea stays below it, whatever happens. The more it may take, the more experts are kept at more bits.</source>
        <translation>Sie legen fest, wie viel Speicher das Modell auf der Grafikkarte oder im Rechner belegen darf, und Fovea bleibt darunter, was auch geschieht. Je mehr es sein darf, desto mehr Experten behalten viele Bit.</translation>
    </message>
    <message>
        <source>Quality kept</source>
        <translation>Erhaltene Qualität</translation>
    </message>
    <message>
        <source>How closely the model still matches itself at full precision; at 100 % nothing is lost. It is an estimate, based on the loss measured for experts at each precision and on how much your conversation used each of them.</source>
        <translation>Wie nahe das Modell dem kommt, was es bei voller Genauigkeit wäre; bei 100 % geht nichts verloren. Das ist eine Schätzung aus dem Verlust, der für Experten mit jeder Genauigkeit gemessen wurde, und daraus, wie viel Ihr Gespräch jeden von ihnen benutzt hat.</translation>
    </message>
    <message>
        <source>Adaptive and fixed</source>
        <translation>Adaptiv und fest</translation>
    </message>
    <message>
        <source>An adaptive mix follows the conversation; a fixed one of the same size always keeps the same experts precise. The panel shows both as lines. Where the fixed one would keep more quality, the panel says so, and you can switch with one click.</source>
        <translation>Eine adaptive Mischung folgt dem Gespräch; eine feste von gleicher Größe hält immer dieselben Experten genau. Unter „Experten“ stehen beide als Linien. Wo die feste mehr Qualität bewahren würde, steht es dort, und Sie können mit einem Klick wechseln.</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <source>What the model can see of the conversation at once, counted in tokens. A longer context takes more memory. When it is full, start a new chat, or let the oldest messages be left out.</source>
        <translation>Was das Modell vom Gespräch auf einmal sehen kann, in Token gezählt. Ein längerer Kontext braucht mehr Speicher. Ist er voll, beginnen Sie einen neuen Chat, oder lassen Sie die ältesten Nachrichten wegfallen.</translation>
    </message>
    <message>
        <source>Where things are kept</source>
        <translation>Wo alles liegt</translation>
    </message>
    <message>
        <source>Models, conversations and settings stay on this computer. Fovea goes online only to find and download models, and not at all when you work offline.</source>
        <translation>Modelle, Gespräche und Einstellungen bleiben auf diesem Rechner. Fovea geht nur ins Netz, um Modelle zu finden und herunterzuladen, und gar nicht, wenn Sie offline arbeiten.</translation>
    </message>
    <message>
        <source>Looking inside</source>
        <translation>Hineinsehen</translation>
    </message>
    <message>
        <source>“Look inside the answers” in the menu shows, for each token, how likely it was, what else could have stood there, and which experts worked on it; the arrow keys go from token to token. The last 4,096 tokens written since Fovea was started are kept for this, in memory only, at about two kilobytes each.</source>
        <translation>„In die Antworten hineinsehen“ im Menü zeigt zu jedem Token, wie wahrscheinlich es war, was sonst dort hätte stehen können und welche Experten daran gearbeitet haben; mit den Pfeiltasten geht es von Token zu Token. Behalten werden dafür die letzten 4.096 Token, die seit dem Start von Fovea geschrieben wurden, nur im Arbeitsspeicher und mit je etwa zwei Kilobyte.</translation>
    </message>
</context>
<context>
    <name>fovea::ui::ConversationDelegate</name>
    <message>
        <source>Title of the conversation</source>
        <translation>Titel des Gesprächs</translation>
    </message>
    <message>
        <source>Name of the folder</source>
        <translation>Name des Ordners</translation>
    </message>
</context>
<context>
    <name>fovea::ui::ConversationListModel</name>
    <message>
        <source>Today</source>
        <translation>Heute</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>Gestern</translation>
    </message>
    <message>
        <source>Last seven days</source>
        <translation>Letzte sieben Tage</translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>Angeheftet</translation>
    </message>
    <message>
        <source>%1, pinned</source>
        <translation>%1, angeheftet</translation>
    </message>
    <message>
        <source>waiting to be answered</source>
        <translation>wartet auf eine Antwort</translation>
    </message>
    <message>
        <source>is being answered</source>
        <translation>wird gerade beantwortet</translation>
    </message>
    <message>
        <source>Folders</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>In the folder “%1”</source>
        <translation>Im Ordner „%1“</translation>
    </message>
    <message numerus="yes">
        <source>%n conversation(s)</source>
        <translation>
            <numerusform>%n Gespräch</numerusform>
            <numerusform>%n Gespräche</numerusform>
        </translation>
    </message>
    <message>
        <source>Folder %1, %2, closed</source>
        <translation>Ordner %1, %2, zugeklappt</translation>
    </message>
    <message>
        <source>Folder %1, %2, open</source>
        <translation>Ordner %1, %2, aufgeklappt</translation>
    </message>
    <message>
        <source>%1, in the folder %2</source>
        <translation>%1, im Ordner %2</translation>
    </message>
</context>
<context>
    <name>fovea::ui::DetailedText</name>
    <message>
        <source>Details</source>
        <translation>Details</translation>
    </message>
    <message>
        <source>Notice</source>
        <translation>Hinweis</translation>
    </message>
</context>
<context>
    <name>fovea::ui::DeviceBox</name>
    <message>
        <source>Device on which models run</source>
        <translation>Gerät, auf dem Modelle laufen</translation>
    </message>
    <message>
        <source>Looking…</source>
        <translation>Suche läuft …</translation>
    </message>
</context>
<context>
    <name>fovea::ui::DownloadLine</name>
    <message>
        <source>Pause</source>
        <translation>Pausieren</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Clear</source>
        <translation>Ausblenden</translation>
    </message>
    <message>
        <source>Take it out of this list; the model stays</source>
        <translation>Aus dieser Liste nehmen; das Modell bleibt</translation>
    </message>
    <message>
        <source>Progress of %1</source>
        <translation>Fortschritt von %1</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Noch einmal versuchen</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
</context>
<context>
    <name>fovea::ui::DownloadList</name>
    <message>
        <source>Nothing is being downloaded.</source>
        <translation>Es wird nichts heruntergeladen.</translation>
    </message>
    <message>
        <source>Cancel a download</source>
        <translation>Download abbrechen</translation>
    </message>
    <message>
        <source>Cancel the download of %1?</source>
        <translation>Den Download von %1 abbrechen?</translation>
    </message>
    <message>
        <source>The %1 downloaded so far will be deleted. To continue later, pause it instead.</source>
        <translation>Die bisher heruntergeladenen %1 werden gelöscht. Um später fortzufahren, pausieren Sie den Download stattdessen.</translation>
    </message>
    <message>
        <source>Cancel the download</source>
        <translation>Download abbrechen</translation>
    </message>
    <message>
        <source>Keep downloading</source>
        <translation>Weiter herunterladen</translation>
    </message>
</context>
<context>
    <name>fovea::ui::DownloadPage</name>
    <message>
        <source>Downloads</source>
        <translation>Downloads</translation>
    </message>
    <message>
        <source>Repositories that were found</source>
        <translation>Gefundene Repositorys</translation>
    </message>
    <message>
        <source>Versions in the repository</source>
        <translation>Fassungen im Repository</translation>
    </message>
    <message>
        <source>&amp;Download</source>
        <translation>&amp;Herunterladen</translation>
    </message>
    <message>
        <source>The network is switched off: nothing is searched or downloaded.</source>
        <translation>Das Netz ist abgeschaltet: Es wird nichts gesucht oder heruntergeladen.</translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation>Einstellungen …</translation>
    </message>
    <message>
        <source>Access token</source>
        <translation>Zugangstoken</translation>
    </message>
    <message>
        <source>S&amp;ave in the keyring</source>
        <translation>&amp;Im Schlüsselbund ablegen</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>Nicht jetzt</translation>
    </message>
    <message>
        <source>%1 shows this model only to people who have accepted its terms there or have been given access. Accept them on its page in a browser, create an access token in your account&apos;s settings, and enter it here. It is kept in the system&apos;s keyring and sent to %1 only.</source>
        <translation>%1 zeigt dieses Modell nur Personen, die dort seine Bedingungen angenommen haben oder denen Zugang gewährt wurde. Nehmen Sie die Bedingungen auf seiner Seite in einem Browser an, erzeugen Sie in den Einstellungen Ihres Kontos ein Zugangstoken, und geben Sie es hier ein. Es liegt im Schlüsselbund des Systems und wird nur an %1 gesendet.</translation>
    </message>
    <message>
        <source>Searching for &quot;%1&quot;…</source>
        <translation>„%1“ wird gesucht …</translation>
    </message>
    <message>
        <source>%1 has nothing for &quot;%2&quot;.</source>
        <translation>Auf %1 gibt es nichts zu „%2“.</translation>
    </message>
    <message>
        <source>Reading the list of files…</source>
        <translation>Dateiliste wird gelesen …</translation>
    </message>
    <message>
        <source>The search failed.</source>
        <translation>Die Suche ist fehlgeschlagen.</translation>
    </message>
    <message>
        <source>The list of files could not be read.</source>
        <translation>Die Dateiliste konnte nicht gelesen werden.</translation>
    </message>
    <message>
        <source>Press Enter to search all of %1 for “%2”.</source>
        <translation>Mit der Eingabetaste suchen Sie auf ganz %1 nach „%2“.</translation>
    </message>
    <message>
        <source>None of these match. Press Enter to search all of %1 for “%2”.</source>
        <translation>Keines davon passt. Mit der Eingabetaste suchen Sie auf ganz %1 nach „%2“.</translation>
    </message>
    <message>
        <source>Search for a model on %1.</source>
        <translation>Suchen Sie ein Modell auf %1.</translation>
    </message>
    <message>
        <source>%1 has no file or folder that Fovea can open.</source>
        <translation>%1 enthält weder eine Datei noch einen Ordner, den Fovea öffnen kann.</translation>
    </message>
    <message>
        <source>Search models to download</source>
        <translation>Modelle zum Herunterladen suchen</translation>
    </message>
    <message>
        <source>Search for models</source>
        <translation>Modelle suchen</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
</context>
<context>
    <name>fovea::ui::ErrorBar</name>
    <message>
        <source>Error</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Notice</source>
        <translation>Hinweis</translation>
    </message>
</context>
<context>
    <name>fovea::ui::ExpertTable</name>
    <message>
        <source>Layer</source>
        <translation>Schicht</translation>
    </message>
    <message>
        <source>Expert</source>
        <translation>Experte</translation>
    </message>
    <message>
        <source>On its way</source>
        <translation>Unterwegs</translation>
    </message>
    <message>
        <source>Hotness</source>
        <translation>Nachfrage</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>Last change</source>
        <translation>Letzter Wechsel</translation>
    </message>
    <message>
        <source>Why</source>
        <translation>Warum</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>Genauigkeit</translation>
    </message>
</context>
<context>
    <name>fovea::ui::ExpertText</name>
    <message>
        <source>on disk</source>
        <translation>auf dem Laufwerk</translation>
    </message>
    <message>
        <source>promoted among many at once, details not kept</source>
        <translation>mit vielen anderen zugleich hochgestuft, Details nicht gespeichert</translation>
    </message>
    <message>
        <source>demoted among many at once, details not kept</source>
        <translation>mit vielen anderen zugleich herabgestuft, Details nicht gespeichert</translation>
    </message>
    <message>
        <source>the first set after loading</source>
        <translation>die erste Belegung nach dem Laden</translation>
    </message>
    <message>
        <source>layer %1, expert %2</source>
        <translation>Schicht %1, Experte %2</translation>
    </message>
    <message>
        <source>another one</source>
        <translation>einem anderen</translation>
    </message>
    <message>
        <source>%1 nats a token</source>
        <translation>%1 Nat je Token</translation>
    </message>
    <message>
        <source>%1 of a token&apos;s loss</source>
        <translation>%1 des Verlusts eines Tokens</translation>
    </message>
    <message>
        <source>it is expected to do %1 of its layer&apos;s work: taking the place of %2 saves %3</source>
        <translation>er leistet voraussichtlich %1 der Arbeit seiner Schicht: Auf dem Platz von %2 spart er %3</translation>
    </message>
    <message>
        <source>it is expected to do only %1 of its layer&apos;s work: giving its place to %2 saves %3</source>
        <translation>er leistet voraussichtlich nur %1 der Arbeit seiner Schicht: Mit %2 auf seinem Platz ist %3 gespart</translation>
    </message>
    <message>
        <source>it is expected to do %1 of its layer&apos;s work: on the card in place of %2 it leaves the processor less to compute</source>
        <translation>er leistet voraussichtlich %1 der Arbeit seiner Schicht: Auf der Karte statt %2 lässt er dem Prozessor weniger zu rechnen</translation>
    </message>
    <message>
        <source>it is expected to do only %1 of its layer&apos;s work: with %2 on the card in its place the processor has less to compute</source>
        <translation>er leistet voraussichtlich nur %1 der Arbeit seiner Schicht: Mit %2 an seiner Stelle auf der Karte hat der Prozessor weniger zu rechnen</translation>
    </message>
    <message>
        <source>so that as many experts have this precision as the text needs</source>
        <translation>damit so viele Experten diese Genauigkeit haben, wie der Text braucht</translation>
    </message>
    <message>
        <source>it became hotter: %1, %2 more than the expert that gave way</source>
        <translation>er wurde gefragter: %1, das ist %2 mehr als der Experte, der ihm Platz machte</translation>
    </message>
    <message>
        <source>it became hotter: %1</source>
        <translation>er wurde gefragter: %1</translation>
    </message>
    <message>
        <source>it gave way to a hotter expert, at %1</source>
        <translation>er machte bei einer Nachfrage von %1 einem gefragteren Platz</translation>
    </message>
    <message>
        <source>it was requested</source>
        <translation>er wurde angefordert</translation>
    </message>
    <message>
        <source>it was used while only on the disk</source>
        <translation>er wurde gebraucht, als er nur auf dem Laufwerk lag</translation>
    </message>
    <message>
        <source>%1 s ago</source>
        <translation>vor %1 s</translation>
    </message>
    <message>
        <source>%1 min ago</source>
        <translation>vor %1 min</translation>
    </message>
    <message>
        <source>Layer %1, expert %2</source>
        <translation>Schicht %1, Experte %2</translation>
    </message>
    <message>
        <source>, %1 on its way</source>
        <translation>, %1 unterwegs</translation>
    </message>
    <message>
        <source>Hotness: this policy measures none; the colour shows recent use</source>
        <translation>Nachfrage: Dieses Verfahren misst keine; die Farbe zeigt, was zuletzt gebraucht wurde</translation>
    </message>
    <message>
        <source>Hotness: %1</source>
        <translation>Nachfrage: %1</translation>
    </message>
    <message>
        <source>Tokens: %1 since loading</source>
        <translation>Token: %1 seit dem Laden</translation>
    </message>
    <message>
        <source>Last change: %1 → %2, %3</source>
        <translation>Letzter Wechsel: %1 → %2, %3</translation>
    </message>
    <message>
        <source>Why: %1</source>
        <translation>Warum: %1</translation>
    </message>
    <message>
        <source>Last change: none seen</source>
        <translation>Letzter Wechsel: keiner gesehen</translation>
    </message>
    <message>
        <source>main memory</source>
        <translation>Arbeitsspeicher</translation>
    </message>
    <message>
        <source>, computed by the processor</source>
        <translation>, vom Prozessor berechnet</translation>
    </message>
    <message>
        <source>the answer is certain enough: a perplexity of %1 on average</source>
        <translation>die Antwort ist sicher genug: im Mittel eine Perplexität von %1</translation>
    </message>
    <message>
        <source>the answer has reached the length at which its layers go down</source>
        <translation>die Antwort hat die Länge erreicht, ab der ihre Schichten gesenkt werden</translation>
    </message>
    <message>
        <source>a question is read at the highest precision</source>
        <translation>eine Frage wird mit der höchsten Genauigkeit gelesen</translation>
    </message>
    <message>
        <source>%1 bits</source>
        <translation>%1 Bit</translation>
    </message>
    <message>
        <source> (%1 per weight, including its scales)</source>
        <translation> (%1 pro Gewicht, mit Skalen)</translation>
    </message>
    <message>
        <source>Precision: %1</source>
        <translation>Genauigkeit: %1</translation>
    </message>
    <message>
        <source>Card: %1</source>
        <translation>Karte: %1</translation>
    </message>
</context>
<context>
    <name>fovea::ui::ExpertView</name>
    <message>
        <source>One expert</source>
        <translation>Ein Experte</translation>
    </message>
    <message>
        <source>Its use over the last two minutes</source>
        <translation>Seine Nutzung in den letzten zwei Minuten</translation>
    </message>
    <message>
        <source>How much it is used</source>
        <translation>Wie viel er genutzt wird</translation>
    </message>
    <message>
        <source>Over two minutes: its use, with its precision as the ribbon below</source>
        <translation>Über zwei Minuten: seine Nutzung, darunter als Band seine Genauigkeit</translation>
    </message>
    <message>
        <source>Where it is kept</source>
        <translation>Wo er liegt</translation>
    </message>
    <message>
        <source>Why it moved</source>
        <translation>Warum er wechselte</translation>
    </message>
    <message>
        <source>No token has used it since the model was opened.</source>
        <translation>Seit das Modell geöffnet wurde, hat kein Token ihn benutzt.</translation>
    </message>
    <message numerus="yes">
        <source>%n token(s) since the model was opened: %1 of its layer&apos;s work, ranked %2 of %3.</source>
        <translation>
            <numerusform>%n Token, seit das Modell geöffnet wurde: %1 der Arbeit seiner Schicht, Rang %2 von %3.</numerusform>
            <numerusform>%n Token, seit das Modell geöffnet wurde: %1 der Arbeit seiner Schicht, Rang %2 von %3.</numerusform>
        </translation>
    </message>
    <message>
        <source>In memory, with %1: %2.</source>
        <translation>Im Speicher, mit %1: %2.</translation>
    </message>
    <message>
        <source>In memory, with %1: %2. Its other versions wait on the disk.</source>
        <translation>Im Speicher, mit %1: %2. Seine anderen Fassungen liegen auf dem Laufwerk.</translation>
    </message>
    <message>
        <source>In main memory; the processor computes it.</source>
        <translation>Im Arbeitsspeicher; der Prozessor berechnet ihn.</translation>
    </message>
    <message>
        <source>Only on the disk: it is read when a token needs it.</source>
        <translation>Nur auf dem Laufwerk: Er wird gelesen, wenn ein Token ihn braucht.</translation>
    </message>
    <message>
        <source>%1: %2 → %3, %4</source>
        <translation>%1: %2 → %3, %4</translation>
    </message>
    <message>
        <source>It has not moved in the last few minutes.</source>
        <translation>In den letzten Minuten hat er nicht gewechselt.</translation>
    </message>
</context>
<context>
    <name>fovea::ui::FactList</name>
    <message>
        <source>Details</source>
        <translation>Details</translation>
    </message>
    <message>
        <source>Where the numbers come from</source>
        <translation>Woher die Zahlen kommen</translation>
    </message>
    <message>
        <source>Details: %1</source>
        <translation>Details: %1</translation>
    </message>
</context>
<context>
    <name>fovea::ui::FindBar</name>
    <message>
        <source>Find in the conversation</source>
        <translation>Im Gespräch suchen</translation>
    </message>
    <message>
        <source>Find</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Matches</source>
        <translation>Treffer</translation>
    </message>
    <message>
        <source>Previous match</source>
        <translation>Voriger Treffer</translation>
    </message>
    <message>
        <source>Previous match (Shift+Enter)</source>
        <translation>Voriger Treffer (Umschalt+Eingabetaste)</translation>
    </message>
    <message>
        <source>Next match</source>
        <translation>Nächster Treffer</translation>
    </message>
    <message>
        <source>Next match (Enter)</source>
        <translation>Nächster Treffer (Eingabetaste)</translation>
    </message>
    <message>
        <source>Close the search</source>
        <translation>Suche schließen</translation>
    </message>
    <message>
        <source>Close (Esc)</source>
        <translation>Schließen (Esc)</translation>
    </message>
    <message>
        <source>Not found</source>
        <translation>Nicht gefunden</translation>
    </message>
    <message>
        <source>%1 / %2</source>
        <translation>%1 / %2</translation>
    </message>
</context>
<context>
    <name>fovea::ui::FolderDialog</name>
    <message>
        <source>One that is no longer there</source>
        <translation>Nicht mehr vorhanden</translation>
    </message>
    <message>
        <source>New chats in “%1”</source>
        <translation>Neue Chats in „%1“</translation>
    </message>
    <message>
        <source>The default settings</source>
        <translation>Die Standardeinstellungen</translation>
    </message>
    <message>
        <source>The model that is open</source>
        <translation>Das geöffnete Modell</translation>
    </message>
    <message>
        <source>Existing chats stay as they are.</source>
        <translation>Vorhandene Chats bleiben, wie sie sind.</translation>
    </message>
    <message>
        <source>Start with the &amp;preset</source>
        <translation>Beginnen mit der &amp;Vorlage</translation>
    </message>
    <message>
        <source>and the &amp;model</source>
        <translation>und dem &amp;Modell</translation>
    </message>
</context>
<context>
    <name>fovea::ui::FollowView</name>
    <message>
        <source>Followed experts</source>
        <translation>Verfolgte Experten</translation>
    </message>
    <message>
        <source>Hotness of the experts that you follow, over two minutes; the ribbon shows the tier. Click one to stop following it.</source>
        <translation>Nachfrage der Experten, die Sie verfolgen, über zwei Minuten; das Band zeigt die Stufe. Ein Klick auf einen Experten beendet das Verfolgen.</translation>
    </message>
    <message>
        <source>disk</source>
        <translation>Laufwerk</translation>
    </message>
    <message>
        <source>%1 · hotness %2</source>
        <translation>%1 · Nachfrage %2</translation>
    </message>
    <message>
        <source>main memory</source>
        <translation>Arbeitsspeicher</translation>
    </message>
</context>
<context>
    <name>fovea::ui::GainView</name>
    <message>
        <source>Every expert is as the model&apos;s file has it, wherever it is computed, so nothing is lost. Following the conversation makes answers faster: the card has the experts that it uses most.</source>
        <translation>Jeder Experte ist, wie die Modelldatei ihn hat, wo immer er berechnet wird: Verloren geht nichts. Der Unterhaltung zu folgen macht Antworten schneller, denn die Karte hat die Experten, die sie am meisten braucht.</translation>
    </message>
    <message>
        <source>The experts keep their precision, so there is nothing to compare.</source>
        <translation>Die Experten behalten ihre Genauigkeit; deshalb gibt es nichts zu vergleichen.</translation>
    </message>
    <message>
        <source>Switch to a fixed mix…</source>
        <translation>Zu einer festen Mischung wechseln …</translation>
    </message>
    <message>
        <source>Keep the experts&apos; precisions as a fixed mix of the same size; nothing is read while you chat.</source>
        <translation>Die Genauigkeiten der Experten als feste Mischung derselben Größe behalten; beim Chatten wird dann nichts gelesen.</translation>
    </message>
    <message>
        <source>Every expert stays as it is in the model&apos;s file. Within a memory budget the hot ones can stay that way while the cold ones take less room.</source>
        <translation>Jeder Experte bleibt so, wie er in der Datei des Modells ist. Mit einem Speicherbudget können die gefragten so bleiben, während die anderen weniger Platz brauchen.</translation>
    </message>
    <message>
        <source>Choose how experts are kept…</source>
        <translation>Speicherung der Experten wählen …</translation>
    </message>
    <message>
        <source>Fixed mix from the start</source>
        <translation>Feste Mischung von Beginn an</translation>
    </message>
    <message>
        <source>Fixed mix from calibration</source>
        <translation>Feste Mischung nach der Kalibrierung</translation>
    </message>
    <message>
        <source>%1 of what is expected next comes from this session, %2 from the calibration.</source>
        <translation>Was als Nächstes erwartet wird, stammt zu %1 aus dieser Sitzung und zu %2 aus der Kalibrierung.</translation>
    </message>
    <message>
        <source>: following the conversation pays off.</source>
        <translation>: Es lohnt sich, dem Gespräch zu folgen.</translation>
    </message>
    <message>
        <source>: in this session following the conversation gains nothing.</source>
        <translation>: In dieser Sitzung bringt es nichts, dem Gespräch zu folgen.</translation>
    </message>
    <message>
        <source>A fixed mix of the same size, chosen at the session&apos;s start, would have kept %1</source>
        <translation>Eine feste Mischung derselben Größe, zu Beginn der Sitzung gewählt, hätte %1 bewahrt</translation>
    </message>
    <message>
        <source>A fixed mix of the same size, chosen by the calibration, would have kept %1</source>
        <translation>Eine feste Mischung derselben Größe, nach der Kalibrierung gewählt, hätte %1 bewahrt</translation>
    </message>
    <message>
        <source>Everything at the lowest precision</source>
        <translation>Alles mit der niedrigsten Genauigkeit</translation>
    </message>
    <message>
        <source>Quality kept: %1, with %2 bits per use.</source>
        <translation>Erhaltene Qualität: %1, mit %2 Bit je Nutzung.</translation>
    </message>
    <message>
        <source>Too early to say: %1 tokens so far.</source>
        <translation>Noch zu früh: bisher %1 Token.</translation>
    </message>
    <message>
        <source>This policy lowers layers while it answers. What that costs is not measured, so there is nothing to compare.</source>
        <translation>Dieses Verfahren senkt Schichten, während das Modell antwortet. Was das kostet, wird nicht gemessen; deshalb gibt es nichts zu vergleichen.</translation>
    </message>
    <message>
        <source>The experts in use keep %1 of what the highest precision gains over the lowest, with %2 bits per use.</source>
        <translation>Die genutzten Experten erhalten %1 dessen, was die höchste Genauigkeit gegenüber der niedrigsten gewinnt, mit %2 Bit pro Nutzung.</translation>
    </message>
    <message>
        <source>Adaptive</source>
        <translation>Adaptiv</translation>
    </message>
    <message>
        <source>Fixed mix that knew every word beforehand</source>
        <translation>Feste Mischung, die jedes Wort schon kannte</translation>
    </message>
    <message>
        <source>What is kept, side by side</source>
        <translation>Was erhalten bleibt, im Vergleich</translation>
    </message>
    <message>
        <source>What is kept: the share of the probability that the model at its file&apos;s precision gives its words (e^-KL), estimated from the measured harm of each expert&apos;s precision and from how often it was used. The fixed mixes take as much memory. One is chosen by the uses that the calibration counted, the other by the session&apos;s first 2,048 tokens; the better one is shown, for the tokens since then. A third one is chosen by how these very tokens used the experts. Nobody can have it, since they are known only afterwards: it shows about how much a fixed mix could have kept.</source>
        <translation>Was erhalten bleibt: der Anteil der Wahrscheinlichkeit, die das Modell mit Dateigenauigkeit seinen Wörtern gibt (e^-KL), geschätzt aus dem gemessenen Schaden durch die Genauigkeit jedes Experten und daraus, wie oft er genutzt wurde. Die festen Mischungen belegen ebenso viel Speicher. Die eine richtet sich nach den Nutzungen, die die Kalibrierung gezählt hat, die andere nach den ersten 2.048 Token der Sitzung; gezeigt wird die bessere, für die Token seither. Eine dritte richtet sich danach, wie genau diese Token die Experten genutzt haben. Niemand kann sie haben, weil man das erst hinterher weiß: Sie zeigt etwa, wie viel eine feste Mischung hätte bewahren können.</translation>
    </message>
</context>
<context>
    <name>fovea::ui::GaugeView</name>
    <message>
        <source>How likely the model finds its own words with the experts as they are now, compared with the model at its file&apos;s precision. It is calculated from what each expert&apos;s precision was measured to cost and how much each was used. Where that was not measured, it is how much of the error that the lowest precision for everything would cause is avoided.</source>
        <translation>Wie wahrscheinlich das Modell seine eigenen Wörter mit den Experten findet, wie sie jetzt sind, verglichen mit dem Modell in Dateigenauigkeit. Berechnet aus dem, was die Genauigkeit jedes Experten laut Messung kostet, und daraus, wie viel er genutzt wurde. Wo das nicht gemessen wurde: wie viel von dem Fehler vermieden wird, den die niedrigste Genauigkeit für alles verursachen würde.</translation>
    </message>
    <message>
        <source>the cost of lowering layers was not measured</source>
        <translation>was ungenauere Schichten kosten, wurde nicht gemessen</translation>
    </message>
    <message>
        <source>of the model&apos;s quality kept</source>
        <translation>der Qualität des Modells erhalten</translation>
    </message>
    <message>
        <source>experts in use average %1 bits</source>
        <translation>genutzte Experten haben im Mittel %1 Bit</translation>
    </message>
    <message>
        <source>of the quality that %1 bits add to %2</source>
        <translation>der Qualität, die %1 Bit gegenüber %2 bringen</translation>
    </message>
    <message>
        <source>%1 bits on average over %2 tokens</source>
        <translation>im Mittel %1 Bit über %2 Token</translation>
    </message>
</context>
<context>
    <name>fovea::ui::HeatmapView</name>
    <message>
        <source>disk</source>
        <translation>Laufwerk</translation>
    </message>
    <message>
        <source>Expert map</source>
        <translation>Expertenkarte</translation>
    </message>
    <message>
        <source>CPU</source>
        <comment>computed by the processor</comment>
        <translation>CPU</translation>
    </message>
    <message>
        <source>Layers down, experts across. Arrow keys move, Enter follows an expert, L shows only its layer, E only the expert, plus and minus zoom.</source>
        <translation>Schichten von oben nach unten, Experten von links nach rechts. Die Pfeiltasten bewegen die Auswahl, die Eingabetaste verfolgt einen Experten, L zeigt nur seine Schicht, E nur den Experten, Plus und Minus vergrößern und verkleinern.</translation>
    </message>
</context>
<context>
    <name>fovea::ui::LegendView</name>
    <message>
        <source>Legend</source>
        <translation>Legende</translation>
    </message>
    <message>
        <source>on disk · %1</source>
        <translation>auf dem Laufwerk · %1</translation>
    </message>
    <message>
        <source>main memory · %1</source>
        <translation>Arbeitsspeicher · %1</translation>
    </message>
    <message>
        <source>stronger = more recent use</source>
        <translation>kräftiger = zuletzt mehr genutzt</translation>
    </message>
    <message>
        <source>stronger = used more</source>
        <translation>kräftiger = mehr genutzt</translation>
    </message>
    <message>
        <source>just changed</source>
        <translation>eben geändert</translation>
    </message>
    <message>
        <source>The colour shows how many bits a weight has, its strength how hot an expert is: the square root of its hotness relative to the hottest expert of its layer. Hotness is how much of the router&apos;s weight an expert has received lately. The line is how many of a layer&apos;s experts are more precise than the lowest: where it includes one that is not, another expert was worth more. A lozenge is a version that is being read. What has just changed is outlined; it brightens when it becomes more precise, and fades in when it makes room.</source>
        <translation>Die Farbe zeigt, wie viele Bit ein Gewicht hat, ihre Stärke, wie gefragt ein Experte ist: die Wurzel seiner Nachfrage im Verhältnis zum gefragtesten Experten seiner Schicht. Die Nachfrage ist, wie viel vom Gewicht des Routers ein Experte zuletzt bekommen hat. Die Linie zeigt, wie viele Experten einer Schicht genauer sind als die niedrigste Stufe; reicht sie über einen hinaus, der es nicht ist, war ein anderer mehr wert. Eine Raute ist eine Fassung, die gerade gelesen wird. Was sich eben geändert hat, ist umrandet: Es leuchtet auf, wenn es genauer wird, und kommt aus dem Hintergrund, wenn es Platz macht.</translation>
    </message>
    <message>
        <source>this many above %1</source>
        <translation>so viele mit mehr als %1</translation>
    </message>
    <message>
        <source>being read</source>
        <translation>wird gelesen</translation>
    </message>
    <message>
        <source>%1 above, %2 below</source>
        <translation>%1 darüber, %2 darunter</translation>
    </message>
</context>
<context>
    <name>fovea::ui::LibraryCard</name>
    <message>
        <source>More about this model</source>
        <translation>Mehr zu diesem Modell</translation>
    </message>
    <message>
        <source>De&amp;tails</source>
        <translation>De&amp;tails</translation>
    </message>
    <message>
        <source>What is known of it (Space on its card)</source>
        <translation>Was über das Modell bekannt ist (Leertaste auf seiner Karte)</translation>
    </message>
    <message>
        <source>&amp;Prepare…</source>
        <translation>&amp;Vorbereiten …</translation>
    </message>
    <message>
        <source>Write its experts at several precisions to the disk, so that they can change during a conversation</source>
        <translation>Seine Experten in mehreren Genauigkeiten auf das Laufwerk schreiben, damit sie im Lauf eines Gesprächs wechseln können</translation>
    </message>
    <message>
        <source>&amp;Check</source>
        <translation>&amp;Prüfen</translation>
    </message>
    <message>
        <source>Read all its files and compare their checksums</source>
        <translation>Alle seine Dateien lesen und die Prüfsummen vergleichen</translation>
    </message>
    <message>
        <source>Show in &amp;folder</source>
        <translation>Im &amp;Ordner anzeigen</translation>
    </message>
    <message>
        <source>Open the folder in the file manager</source>
        <translation>Den Ordner in der Dateiverwaltung öffnen</translation>
    </message>
    <message>
        <source>&amp;Delete…</source>
        <translation>&amp;Löschen …</translation>
    </message>
    <message>
        <source>Cannot be opened</source>
        <translation>Lässt sich nicht öffnen</translation>
    </message>
    <message>
        <source>Not known</source>
        <translation>Nicht bekannt</translation>
    </message>
    <message>
        <source>Each token uses all of it</source>
        <translation>Jedes Token nutzt das ganze Modell</translation>
    </message>
    <message numerus="yes">
        <source>%1 experts in %n layer(s), %2 for each token</source>
        <translation>
            <numerusform>%1 Experten in %n Schicht, %2 für jedes Token</numerusform>
            <numerusform>%1 Experten in %n Schichten, %2 für jedes Token</numerusform>
        </translation>
    </message>
    <message>
        <source>Chat with it</source>
        <translation>Damit chatten</translation>
    </message>
    <message>
        <source>Already open: open another model first</source>
        <translation>Bereits geöffnet: Öffnen Sie zuerst ein anderes Modell</translation>
    </message>
    <message>
        <source>Move its files to the trash</source>
        <translation>Seine Dateien in den Papierkorb verschieben</translation>
    </message>
    <message>
        <source>Enter opens it, Space shows what is known of it.</source>
        <translation>Eingabe öffnet es, Leertaste zeigt, was über das Modell bekannt ist.</translation>
    </message>
    <message>
        <source>Checking…</source>
        <translation>Wird geprüft …</translation>
    </message>
</context>
<context>
    <name>fovea::ui::LibraryPage</name>
    <message>
        <source>Looking…</source>
        <translation>Suche läuft …</translation>
    </message>
    <message>
        <source>Where Fovea looks for models</source>
        <translation>Wo Fovea nach Modellen sucht</translation>
    </message>
    <message>
        <source>Add a folder with models…</source>
        <translation>Ordner mit Modellen hinzufügen …</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>Fortschritt</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Looking for models…</source>
        <translation>Modelle werden gesucht …</translation>
    </message>
    <message>
        <source>There are no models on this computer yet.</source>
        <translation>Auf diesem Rechner gibt es noch keine Modelle.</translation>
    </message>
    <message>
        <source>&amp;Add a folder…</source>
        <translation>Ordner &amp;hinzufügen …</translation>
    </message>
    <message>
        <source>Fovea looks for models in</source>
        <translation>Fovea sucht Modelle in</translation>
    </message>
    <message>
        <source>&amp;Show in the file manager</source>
        <translation>In der Datei&amp;verwaltung anzeigen</translation>
    </message>
    <message>
        <source>Stop &amp;looking here</source>
        <translation>Hier &amp;nicht mehr suchen</translation>
    </message>
    <message>
        <source>A folder with models</source>
        <translation>Ordner mit Modellen</translation>
    </message>
    <message>
        <source>Move %1 to the trash?</source>
        <translation>%1 in den Papierkorb verschieben?</translation>
    </message>
    <message>
        <source>Its files take %1 on the disk; the space is freed when the trash is emptied.

%2</source>
        <translation>Seine Dateien belegen %1 auf dem Laufwerk; der Platz wird frei, wenn der Papierkorb geleert wird.

%2</translation>
    </message>
    <message>
        <source>What was prepared from it (%1) is deleted at once; it can be made again.</source>
        <translation>Was daraus vorbereitet wurde (%1), wird sofort gelöscht; es kann neu erzeugt werden.</translation>
    </message>
    <message>
        <source>Delete a model</source>
        <translation>Modell löschen</translation>
    </message>
    <message>
        <source>Move to the trash</source>
        <translation>In den Papierkorb</translation>
    </message>
    <message>
        <source>On this computer</source>
        <translation>Auf diesem Rechner</translation>
    </message>
    <message>
        <source>&amp;Look again</source>
        <translation>&amp;Neu suchen</translation>
    </message>
    <message>
        <source>No model here matches “%1”.</source>
        <translation>Kein Modell hier passt zu „%1“.</translation>
    </message>
</context>
<context>
    <name>fovea::ui::LivePanel</name>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Play</source>
        <translation>Abspielen</translation>
    </message>
    <message>
        <source>&lt;b&gt;No model is open.&lt;/b&gt;&lt;br&gt;Open a Mixture-of-Experts model to watch its experts at work.</source>
        <translation>&lt;b&gt;Kein Modell ist geöffnet.&lt;/b&gt;&lt;br&gt;Öffnen Sie ein Mixture-of-Experts-Modell, um seinen Experten bei der Arbeit zuzusehen.</translation>
    </message>
    <message>
        <source>&lt;b&gt;%1 has no experts.&lt;/b&gt;&lt;br&gt;Every token uses all of its weights, so there is nothing to move. Open a Mixture-of-Experts model to see this panel at work.</source>
        <translation>&lt;b&gt;%1 hat keine Experten.&lt;/b&gt;&lt;br&gt;Jedes Token nutzt alle Gewichte, deshalb gibt es nichts zu verschieben. Öffnen Sie ein Mixture-of-Experts-Modell, um diese Ansicht bei der Arbeit zu sehen.</translation>
    </message>
    <message>
        <source>&lt;b&gt;Waiting for the first answer.&lt;/b&gt;&lt;br&gt;The map fills as soon as the model reads or writes a token.</source>
        <translation>&lt;b&gt;Wartet auf die erste Antwort.&lt;/b&gt;&lt;br&gt;Die Karte füllt sich, sobald das Modell ein Token liest oder schreibt.</translation>
    </message>
    <message>
        <source>Replay of %1</source>
        <translation>Wiedergabe von %1</translation>
    </message>
    <message>
        <source>Frozen, %1 s ago</source>
        <translation>Eingefroren, vor %1 s</translation>
    </message>
    <message>
        <source>Idle</source>
        <translation>Ruht</translation>
    </message>
    <message>
        <source>Live</source>
        <translation>Live</translation>
    </message>
    <message>
        <source>now</source>
        <translation>jetzt</translation>
    </message>
    <message>
        <source>The device&apos;s memory is %1 full.</source>
        <translation>Der Speicher des Geräts ist zu %1 belegt.</translation>
    </message>
    <message>
        <source>The experts take more than their budget.</source>
        <translation>Die Experten belegen mehr als ihr Budget.</translation>
    </message>
    <message>
        <source>Alarm</source>
        <translation>Alarm</translation>
    </message>
    <message>
        <source>Layer %1, expert %2</source>
        <translation>Schicht %1, Experte %2</translation>
    </message>
    <message>
        <source>Summary</source>
        <translation>Zusammenfassung</translation>
    </message>
    <message>
        <source>Bits per weight: the mean precision of the experts. Uses: how often a token was served by an expert at the highest tier, since the model was loaded.</source>
        <translation>Bit pro Gewicht: die mittlere Genauigkeit der Experten. Nutzungen: wie oft ein Token von einem Experten in der höchsten Stufe bedient wurde, seit das Modell geladen ist.</translation>
    </message>
    <message>
        <source>Hold the picture still; the recording goes on (Space on the time line)</source>
        <translation>Das Bild einfrieren; die Aufzeichnung läuft weiter (Leertaste auf der Zeitleiste)</translation>
    </message>
    <message>
        <source>Save, replay, zoom</source>
        <translation>Speichern, wiedergeben, vergrößern</translation>
    </message>
    <message>
        <source>Save the picture (PNG)…</source>
        <translation>Bild speichern (PNG) …</translation>
    </message>
    <message>
        <source>Save the table (CSV)…</source>
        <translation>Tabelle speichern (CSV) …</translation>
    </message>
    <message>
        <source>Save the last minutes (JSON lines)…</source>
        <translation>Die letzten Minuten speichern (JSON Lines) …</translation>
    </message>
    <message>
        <source>Zoom in (+ or the wheel)</source>
        <translation>Vergrößern (+ oder das Mausrad)</translation>
    </message>
    <message>
        <source>Zoom out (−)</source>
        <translation>Verkleinern (−)</translation>
    </message>
    <message>
        <source>Whole map (0)</source>
        <translation>Ganze Karte (0)</translation>
    </message>
    <message>
        <source>One layer or all (L)</source>
        <translation>Eine Schicht oder alle (L)</translation>
    </message>
    <message>
        <source>Replay</source>
        <translation>Wiedergabe</translation>
    </message>
    <message>
        <source>Recordings and traces (*.jsonl *.trace *.fovtrace);;All files (*)</source>
        <translation>Aufzeichnungen und Spuren (*.jsonl *.trace *.fovtrace);;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Back to live</source>
        <translation>Zurück zu Live</translation>
    </message>
    <message>
        <source>Hottest first</source>
        <translation>Gefragteste zuerst</translation>
    </message>
    <message>
        <source>Order each layer&apos;s experts by hotness instead of by index</source>
        <translation>Die Experten jeder Schicht nach Nachfrage statt nach Nummer ordnen</translation>
    </message>
    <message>
        <source>Mark the precisions with patterns too, so that they can be told apart without colours</source>
        <translation>Die Stufen auch mit Mustern kennzeichnen, damit man sie ohne Farben unterscheiden kann</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>Tabelle</translation>
    </message>
    <message>
        <source>The same data as a table</source>
        <translation>Dieselben Daten als Tabelle</translation>
    </message>
    <message>
        <source>Experts</source>
        <translation>Experten</translation>
    </message>
    <message>
        <source>What it gains</source>
        <translation>Was es bringt</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>Traffic, last minute</source>
        <translation>Datenverkehr, letzte Minute</translation>
    </message>
    <message>
        <source>Routers</source>
        <translation>Router</translation>
    </message>
    <message>
        <source>Play on from here</source>
        <translation>Von hier an abspielen</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Go back through the last minutes</source>
        <translation>Durch die letzten Minuten zurückgehen</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>Geschwindigkeit</translation>
    </message>
    <message>
        <source>How fast to play</source>
        <translation>Wie schnell abgespielt wird</translation>
    </message>
    <message>
        <source>Back to what is happening now</source>
        <translation>Zurück zu dem, was jetzt geschieht</translation>
    </message>
    <message>
        <source>Choose how experts are kept…</source>
        <translation>Speicherung der Experten wählen …</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Details</translation>
    </message>
    <message>
        <source>%1 by the processor</source>
        <translation>%1 durch den Prozessor</translation>
    </message>
    <message>
        <source>&lt;b&gt;%1 is being opened.&lt;/b&gt;&lt;br&gt;Its experts are shown once it is in memory.</source>
        <translation>&lt;b&gt;%1 wird geöffnet.&lt;/b&gt;&lt;br&gt;Seine Experten werden gezeigt, sobald es im Speicher ist.</translation>
    </message>
    <message numerus="yes">
        <source>Router collapse in %n layer(s): the same few experts take nearly all.</source>
        <translation>
            <numerusform>Router-Kollaps in einer Schicht: Dieselben wenigen Experten übernehmen fast alles.</numerusform>
            <numerusform>Router-Kollaps in %n Schichten: Dieselben wenigen Experten übernehmen fast alles.</numerusform>
        </translation>
    </message>
    <message>
        <source>A router has collapsed when the same few experts serve nearly every token, now and over many subjects: those of the calibration, or, without one, all since the model was opened. An answer about one subject also uses only a few experts; that is no cause for alarm.</source>
        <translation>Ein Router ist kollabiert, wenn dieselben wenigen Experten fast jedes Token bedienen, jetzt und über viele Themen hinweg: die der Kalibrierung oder, ohne Kalibrierung, alle seit dem Öffnen des Modells. Auch eine Antwort zu einem einzigen Thema nutzt nur wenige Experten; das ist kein Grund zur Sorge.</translation>
    </message>
    <message>
        <source>Switch to a fixed mix</source>
        <translation>Zu einer festen Mischung wechseln</translation>
    </message>
    <message>
        <source>Switch</source>
        <translation>Wechseln</translation>
    </message>
    <message>
        <source>All layers</source>
        <translation>Alle Schichten</translation>
    </message>
    <message>
        <source>Back to the map</source>
        <translation>Zurück zur Karte</translation>
    </message>
    <message>
        <source>Memory, traffic, routers and the time line</source>
        <translation>Speicher, Datenverkehr, Router und Zeitleiste</translation>
    </message>
    <message>
        <source>A fixed mix would keep more here.</source>
        <translation>Eine feste Mischung würde hier mehr bewahren.</translation>
    </message>
    <message>
        <source>Switch…</source>
        <translation>Wechseln …</translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s) of %1 experts</source>
        <translation>
            <numerusform>%n Schicht mit %1 Experten</numerusform>
            <numerusform>%n Schichten mit je %1 Experten</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, by their numbers</source>
        <translation>%1, nach ihren Nummern</translation>
    </message>
    <message>
        <source>Change the memory…</source>
        <translation>Speicher ändern …</translation>
    </message>
    <message>
        <source>How much memory the model may take, and how experts are kept in it</source>
        <translation>Wie viel Speicher das Modell belegen darf und wie die Experten darin liegen</translation>
    </message>
    <message>
        <source>Keep a fixed mix…</source>
        <translation>Eine feste Mischung behalten …</translation>
    </message>
    <message>
        <source>Follow the conversation…</source>
        <translation>Dem Gespräch folgen …</translation>
    </message>
    <message>
        <source>Layer %1</source>
        <translation>Schicht %1</translation>
    </message>
    <message numerus="yes">
        <source>Layer %1, %n expert(s)</source>
        <translation>
            <numerusform>Schicht %1, %n Experte</numerusform>
            <numerusform>Schicht %1, %n Experten</numerusform>
        </translation>
    </message>
    <message>
        <source>One expert (E)</source>
        <translation>Ein Experte (E)</translation>
    </message>
    <message>
        <source>Back to more of the map (Esc)</source>
        <translation>Zurück zu einem größeren Teil der Karte (Esc)</translation>
    </message>
    <message>
        <source>Follow the conversation</source>
        <translation>Dem Gespräch folgen</translation>
    </message>
    <message>
        <source>Take the tour</source>
        <translation>Führung starten</translation>
    </message>
    <message>
        <source>Three questions, and what the experts do; about two minutes</source>
        <translation>Drei Fragen, und was die Experten dabei tun; etwa zwei Minuten</translation>
    </message>
    <message>
        <source>Fixed and adaptive side by side…</source>
        <translation>Fest und adaptiv nebeneinander …</translation>
    </message>
    <message>
        <source>Look inside the answers</source>
        <translation>In die Antworten hineinsehen</translation>
    </message>
    <message>
        <source>All experts, used or not, have %1 bits on average</source>
        <translation>Alle Experten, ob genutzt oder nicht, haben im Mittel %1 Bit</translation>
    </message>
    <message>
        <source>Uses that met %1: %2</source>
        <translation>Nutzungen mit %1: %2</translation>
    </message>
    <message>
        <source>Freeze</source>
        <translation>Einfrieren</translation>
    </message>
    <message>
        <source>Hatched</source>
        <translation>Schraffiert</translation>
    </message>
    <message>
        <source>each token uses a few of them</source>
        <translation>jedes Token nutzt ein paar davon</translation>
    </message>
    <message>
        <source>The experts keep their precision here.</source>
        <translation>Die Experten behalten hier ihre Genauigkeit.</translation>
    </message>
    <message>
        <source>%1, hottest first</source>
        <translation>%1, gefragteste zuerst</translation>
    </message>
    <message>
        <source>%1 tokens a second</source>
        <translation>%1 Token pro Sekunde</translation>
    </message>
    <message>
        <source>Replay a recording…</source>
        <translation>Aufzeichnung wiedergeben …</translation>
    </message>
</context>
<context>
    <name>fovea::ui::MachinePage</name>
    <message>
        <source>Measuring how fast memory and disk are read. This takes a few seconds.</source>
        <translation>Es wird gemessen, wie schnell Speicher und Laufwerk gelesen werden. Das dauert einige Sekunden.</translation>
    </message>
    <message>
        <source>Measuring</source>
        <translation>Messung</translation>
    </message>
    <message>
        <source>&amp;Run models on</source>
        <translation>Mode&amp;lle ausführen auf</translation>
    </message>
</context>
<context>
    <name>fovea::ui::MemoryPage</name>
    <message>
        <source>From exact to fast</source>
        <translation>Von genau bis schnell</translation>
    </message>
    <message>
        <source>exact</source>
        <translation>genau</translation>
    </message>
    <message>
        <source>fast</source>
        <translation>schnell</translation>
    </message>
    <message>
        <source>Pre&amp;fer</source>
        <translation>&amp;Bevorzugt</translation>
    </message>
    <message>
        <source>How much of a conversation the model sees at once. A token is about three quarters of a word; each one takes memory.</source>
        <translation>Wie viel von einem Gespräch das Modell auf einmal sieht. Ein Token ist etwa drei Viertel eines Wortes; jedes braucht Speicher.</translation>
    </message>
    <message>
        <source>&amp;Context</source>
        <translation>&amp;Kontext</translation>
    </message>
    <message>
        <source>&amp;Remembered as</source>
        <translation>Ge&amp;sprächsgedächtnis</translation>
    </message>
    <message>
        <source>&amp;Precision</source>
        <translation>&amp;Genauigkeit</translation>
    </message>
    <message>
        <source>Bud&amp;get</source>
        <translation>Bu&amp;dget</translation>
    </message>
    <message>
        <source>%1 tokens (trained for %2)</source>
        <translation>%1 Token (trainiert für %2)</translation>
    </message>
    <message>
        <source>To read this much at once, the model stretches its positions (with YaRN or a similar method); its answers may be worse than within the length it was trained for.</source>
        <translation>Um so viel auf einmal zu lesen, streckt das Modell seine Positionen (mit YaRN oder Ähnlichem); seine Antworten können schlechter sein als innerhalb der Länge, für die es trainiert wurde.</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>These numbers</source>
        <translation>Diese Zahlen</translation>
    </message>
    <message>
        <source>Budget</source>
        <translation>Budget</translation>
    </message>
</context>
<context>
    <name>fovea::ui::MessageLayout</name>
    <message>
        <source>Thinking…</source>
        <translation>Denkt nach …</translation>
    </message>
    <message>
        <source>Call to %1</source>
        <translation>Aufruf von %1</translation>
    </message>
    <message>
        <source>Calling %1…</source>
        <translation>%1 wird aufgerufen …</translation>
    </message>
    <message>
        <source>Call to %1, unfinished</source>
        <translation>Aufruf von %1, unvollständig</translation>
    </message>
    <message>
        <source>Thoughts, unfinished</source>
        <translation>Gedanken, unvollständig</translation>
    </message>
    <message>
        <source>Thoughts</source>
        <translation>Gedanken</translation>
    </message>
    <message>
        <source>Thought for less than a second</source>
        <translation>Weniger als eine Sekunde nachgedacht</translation>
    </message>
    <message>
        <source>Thought for %1 s</source>
        <translation>%1 s nachgedacht</translation>
    </message>
    <message>
        <source>Thought for %1 min %2 s</source>
        <translation>%1 min %2 s nachgedacht</translation>
    </message>
    <message>
        <source>You</source>
        <translation>Sie</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>Antwort</translation>
    </message>
    <message>
        <source>Copy message</source>
        <translation>Nachricht kopieren</translation>
    </message>
    <message>
        <source>Edit message</source>
        <translation>Nachricht bearbeiten</translation>
    </message>
    <message>
        <source>Answer again</source>
        <translation>Noch einmal antworten</translation>
    </message>
    <message>
        <source>Continue the answer</source>
        <translation>Antwort fortsetzen</translation>
    </message>
    <message>
        <source>Delete message</source>
        <translation>Nachricht löschen</translation>
    </message>
    <message>
        <source>Show or hide the thoughts</source>
        <translation>Gedanken ein- oder ausblenden</translation>
    </message>
    <message>
        <source>Copy this code</source>
        <translation>Diesen Code kopieren</translation>
    </message>
    <message>
        <source>Previous version (%1)</source>
        <translation>Vorige Fassung (%1)</translation>
    </message>
    <message>
        <source>Next version (%1)</source>
        <translation>Nächste Fassung (%1)</translation>
    </message>
    <message>
        <source>How this answer came about</source>
        <translation>Wie diese Antwort entstanden ist</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
</context>
<context>
    <name>fovea::ui::MessageLine</name>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>fovea::ui::ModelCard</name>
    <message>
        <source>Download</source>
        <translation>Herunterladen</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Already open</source>
        <translation>Bereits geöffnet</translation>
    </message>
</context>
<context>
    <name>fovea::ui::ModelDetails</name>
    <message>
        <source>Architecture</source>
        <translation>Architektur</translation>
    </message>
    <message>
        <source>The family of models whose design this one has</source>
        <translation>Die Modellfamilie, deren Architektur dieses Modell hat</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>How many weights it has, and how many of them a token uses</source>
        <translation>Wie viele Gewichte es hat und wie viele davon ein Token braucht</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>Format</translation>
    </message>
    <message>
        <source>The formats in which most of its weights are stored</source>
        <translation>Die Formate, in denen die meisten seiner Gewichte abgelegt sind</translation>
    </message>
    <message>
        <source>Experts</source>
        <translation>Experten</translation>
    </message>
    <message>
        <source>Experts used by each token, out of those in each layer</source>
        <translation>Wie viele Experten jedes Token nutzt, von denen in jeder Schicht</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <source>The longest conversation that it was trained for</source>
        <translation>Das längste Gespräch, für das es trainiert wurde</translation>
    </message>
    <message>
        <source>Prepared</source>
        <translation>Vorbereitet</translation>
    </message>
    <message>
        <source>Files with its experts at several precisions, so that they can change during a conversation</source>
        <translation>Dateien mit seinen Experten in mehreren Genauigkeiten, zwischen denen sie im Lauf eines Gesprächs wechseln können</translation>
    </message>
    <message numerus="yes">
        <source>%1, %n layer(s)</source>
        <translation>
            <numerusform>%1, eine Schicht</numerusform>
            <numerusform>%1, %n Schichten</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, %2 for each token</source>
        <translation>%1, %2 für jedes Token</translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation>%1 (%2)</translation>
    </message>
    <message>
        <source>%1 of %2 for each token</source>
        <translation>%1 von %2 für jedes Token</translation>
    </message>
    <message>
        <source>none: all weights are used for each token</source>
        <translation>keine: für jedes Token werden alle Gewichte gebraucht</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>not yet; opening it with a budget prepares it</source>
        <translation>noch nicht; geschieht beim Öffnen mit einem Budget</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>Where it is on the disk</source>
        <translation>Wo sie auf dem Laufwerk liegt</translation>
    </message>
</context>
<context>
    <name>fovea::ui::ModelNumbers</name>
    <message>
        <source>%1 M</source>
        <translation>%1 Mio.</translation>
    </message>
    <message>
        <source>%1 B</source>
        <translation>%1 Mrd.</translation>
    </message>
</context>
<context>
    <name>fovea::ui::ModelsPage</name>
    <message>
        <source>Planning the models</source>
        <translation>Modelle werden geplant</translation>
    </message>
    <message>
        <source>Models, best first</source>
        <translation>Modelle, das beste zuerst</translation>
    </message>
</context>
<context>
    <name>fovea::ui::ModelsView</name>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
</context>
<context>
    <name>fovea::ui::Page</name>
    <message>
        <source>Back to the conversation</source>
        <translation>Zurück zum Gespräch</translation>
    </message>
    <message>
        <source>Back to the conversation (Esc)</source>
        <translation>Zurück zum Gespräch (Esc)</translation>
    </message>
</context>
<context>
    <name>fovea::ui::PoolsView</name>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>Hot experts (%1)</source>
        <translation>Gefragte Experten (%1)</translation>
    </message>
    <message>
        <source>Cold experts (%1)</source>
        <translation>Wenig gefragte Experten (%1)</translation>
    </message>
    <message>
        <source>Warm experts (%1)</source>
        <translation>Mäßig gefragte Experten (%1)</translation>
    </message>
    <message>
        <source>In flight</source>
        <translation>Unterwegs</translation>
    </message>
    <message>
        <source>Free for experts</source>
        <translation>Frei für Experten</translation>
    </message>
    <message>
        <source>Kept free</source>
        <translation>Freigehalten</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>%1 of %2 in use</source>
        <translation>%1 von %2 in Gebrauch</translation>
    </message>
    <message>
        <source>%1 · %2</source>
        <translation>%1 · %2</translation>
    </message>
    <message>
        <source>Pool of %1 blocks (%2)</source>
        <translation>Vorrat an Blöcken zu %1 (%2)</translation>
    </message>
    <message>
        <source>Pool of %1 blocks</source>
        <translation>Vorrat an Blöcken zu %1</translation>
    </message>
    <message>
        <source>The planner divided the budget before the model was loaded. Experts change their tier within their part; the line is the budget, which is never exceeded.</source>
        <translation>Der Planer hat das Budget aufgeteilt, bevor das Modell geladen wurde. Experten wechseln ihre Stufe innerhalb ihres Teils; die Linie ist das Budget, das nie überschritten wird.</translation>
    </message>
    <message>
        <source>Experts (%1)</source>
        <translation>Experten (%1)</translation>
    </message>
    <message>
        <source>The model&apos;s memory</source>
        <translation>Speicher des Modells</translation>
    </message>
    <message>
        <source>What the model takes at its file&apos;s precision; no budget was set.</source>
        <translation>Was das Modell mit Dateigenauigkeit belegt; ein Budget ist nicht gesetzt.</translation>
    </message>
    <message>
        <source>Used by all programs</source>
        <translation>Von allen Programmen belegt</translation>
    </message>
    <message>
        <source>Main memory (processor)</source>
        <translation>Arbeitsspeicher (Prozessor)</translation>
    </message>
    <message>
        <source>%1 of the %2 allowed</source>
        <translation>%1 von erlaubten %2</translation>
    </message>
    <message>
        <source>everything else %3, conversation %2, experts %1</source>
        <translation>alles andere %3, Gespräch %2, Experten %1</translation>
    </message>
    <message>
        <source>Shared weights</source>
        <translation>Gemeinsame Gewichte</translation>
    </message>
    <message>
        <source>Conversation</source>
        <translation>Gespräch</translation>
    </message>
    <message>
        <source>Working memory</source>
        <translation>Rechenpuffer</translation>
    </message>
    <message>
        <source>Budget</source>
        <translation>Budget</translation>
    </message>
    <message>
        <source>Free</source>
        <translation>Frei</translation>
    </message>
    <message>
        <source>%1, used by all programs</source>
        <translation>%1, von allen Programmen belegt</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>Each card has its own part of the model&apos;s layers, and of the conversation. The line is what was free there for a model when it was opened.</source>
        <translation>Jede Karte hat ihren eigenen Teil der Schichten des Modells und des Gesprächs. Die Linie ist, was dort für ein Modell frei war, als es geöffnet wurde.</translation>
    </message>
</context>
<context>
    <name>fovea::ui::PrepareDialog</name>
    <message>
        <source>Measure what each precision costs (takes a few minutes longer)</source>
        <translation>Messen, was jede Genauigkeit kostet (dauert einige Minuten länger)</translation>
    </message>
    <message>
        <source>Measure what each precision costs (takes hours)</source>
        <translation>Messen, was jede Genauigkeit kostet (dauert Stunden)</translation>
    </message>
    <message>
        <source>How far the model&apos;s answers move when experts are less precise. Knowing this, Fovea puts precision where it matters most, and speed can be weighed against quality.</source>
        <translation>Wie stark sich die Antworten des Modells ändern, wenn Experten weniger genau sind. Damit setzt Fovea Genauigkeit dort ein, wo sie am meisten zählt, und Tempo lässt sich gegen Qualität abwägen.</translation>
    </message>
    <message>
        <source>Prepare a model</source>
        <translation>Modell vorbereiten</translation>
    </message>
    <message>
        <source>%1 is written to the disk at each of these precisions. During a conversation, the parts that it uses most can then be precise and the others small. This takes minutes, or hours for a large model, and can be stopped and continued.</source>
        <translation>%1 wird in jeder dieser Genauigkeiten auf das Laufwerk geschrieben. Im Lauf eines Gesprächs können dann die Teile, die es am meisten nutzt, genau sein und die anderen klein. Das dauert Minuten, bei einem großen Modell Stunden; es lässt sich anhalten und später fortsetzen.</translation>
    </message>
    <message>
        <source>Prepare</source>
        <translation>Vorbereiten</translation>
    </message>
    <message>
        <source>Working out what it takes…</source>
        <translation>Bedarf wird berechnet …</translation>
    </message>
    <message>
        <source>Text that the model reads first</source>
        <translation>Text, den das Modell zuerst liest</translation>
    </message>
    <message>
        <source>It shows which weights matter, so that low precisions keep more of the model. A text like those you work with is best. Preparing takes longer with a text, and what was prepared at these precisions without one is prepared again.</source>
        <translation>Er zeigt, auf welche Gewichte es ankommt, sodass niedrige Genauigkeiten mehr vom Modell bewahren. Am besten ist ein Text wie die, mit denen Sie arbeiten. Das Vorbereiten dauert mit einem Text länger, und was in diesen Genauigkeiten ohne Text vorbereitet wurde, wird neu vorbereitet.</translation>
    </message>
    <message>
        <source>Fovea&apos;s own short text: conversation, prose, code, mathematics</source>
        <translation>Ein kurzer eigener Text von Fovea: Gespräch, Prosa, Code, Mathematik</translation>
    </message>
    <message>
        <source>A text file:</source>
        <translation>Eine Textdatei:</translation>
    </message>
    <message>
        <source>Text file</source>
        <translation>Textdatei</translation>
    </message>
    <message>
        <source>a few thousand words</source>
        <translation>einige tausend Wörter</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Wählen …</translation>
    </message>
    <message>
        <source>None: quick, from the weights alone</source>
        <translation>Keiner: schnell, allein aus den Gewichten</translation>
    </message>
    <message>
        <source>Choose a text for the model to read first</source>
        <translation>Text wählen, den das Modell zuerst liest</translation>
    </message>
</context>
<context>
    <name>fovea::ui::PresetsDialog</name>
    <message>
        <source>Temperature %1</source>
        <translation>Temperatur %1</translation>
    </message>
    <message>
        <source>Without instructions</source>
        <translation>Ohne Anweisungen</translation>
    </message>
    <message>
        <source>%1 (copy)</source>
        <translation>%1 (Kopie)</translation>
    </message>
    <message>
        <source>Presets</source>
        <translation>Vorlagen</translation>
    </message>
    <message>
        <source>Use in this chat</source>
        <translation>In diesem Chat verwenden</translation>
    </message>
    <message>
        <source>Prompts</source>
        <translation>Prompts</translation>
    </message>
    <message>
        <source>Insert</source>
        <translation>Einfügen</translation>
    </message>
    <message>
        <source>Presets and prompts</source>
        <translation>Vorlagen und Prompts</translation>
    </message>
    <message>
        <source>Delete the preset “%1”? Chats that use it stay as they are.</source>
        <translation>Die Vorlage „%1“ löschen? Chats, die sie verwenden, bleiben, wie sie sind.</translation>
    </message>
    <message>
        <source>Delete the prompt “%1”?</source>
        <translation>Den Prompt „%1“ löschen?</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
</context>
<context>
    <name>fovea::ui::PromptDialog</name>
    <message>
        <source>New prompt</source>
        <translation>Neuer Prompt</translation>
    </message>
    <message>
        <source>Edit the prompt</source>
        <translation>Prompt bearbeiten</translation>
    </message>
    <message>
        <source>The text that is inserted where you type; you can continue writing after it.</source>
        <translation>Der Text, der dort eingefügt wird, wo Sie schreiben; dahinter können Sie weiterschreiben.</translation>
    </message>
    <message>
        <source>&amp;Name</source>
        <translation>&amp;Name</translation>
    </message>
    <message>
        <source>&amp;Text</source>
        <translation>&amp;Text</translation>
    </message>
</context>
<context>
    <name>fovea::ui::PromptPicker</name>
    <message>
        <source>Prompts</source>
        <translation>Prompts</translation>
    </message>
</context>
<context>
    <name>fovea::ui::QualityLineView</name>
    <message>
        <source>fixed %1</source>
        <translation>fest %1</translation>
    </message>
    <message>
        <source>all low %1</source>
        <translation>alles niedrig %1</translation>
    </message>
    <message>
        <source>tokens →</source>
        <translation>Token →</translation>
    </message>
    <message>
        <source>adaptive %1</source>
        <translation>adaptiv %1</translation>
    </message>
    <message>
        <source>The session&apos;s tokens from left to right; at the top nothing is lost. &quot;Fixed&quot; is a mix with as many experts at each precision that never changes: chosen by the session&apos;s first 2,048 tokens or, until there are that many, by the calibration. The marks below are your questions.</source>
        <translation>Die Token der Sitzung von links nach rechts; oben geht nichts verloren. „Fest“ ist eine Mischung mit ebenso vielen Experten in jeder Genauigkeit, die sich nie ändert: gewählt nach den ersten 2.048 Token der Sitzung oder, solange es noch nicht so viele sind, nach der Kalibrierung. Die Marken darunter sind Ihre Fragen.</translation>
    </message>
    <message>
        <source>Asked: %1</source>
        <translation>Gefragt: %1</translation>
    </message>
    <message>
        <source>Asked here: “%1”</source>
        <translation>Hier gefragt: „%1“</translation>
    </message>
    <message>
        <source>▴ your questions   tokens →</source>
        <translation>▴ Ihre Fragen   Token →</translation>
    </message>
    <message>
        <source>▴ questions</source>
        <translation>▴ Fragen</translation>
    </message>
    <message>
        <source>fixed</source>
        <translation>fest</translation>
    </message>
</context>
<context>
    <name>fovea::ui::RepositoryTable</name>
    <message>
        <source>%1 M</source>
        <translation>%1 Mio.</translation>
    </message>
    <message>
        <source>%1 k</source>
        <translation>%1 Tsd.</translation>
    </message>
    <message>
        <source>%1 (terms)</source>
        <translation>%1 (Bedingungen)</translation>
    </message>
    <message>
        <source>%1
Its terms must be accepted on the hub&apos;s page first, and a token is needed.</source>
        <translation>%1
Seine Bedingungen müssen zuerst auf der Seite des Hubs angenommen werden, und ein Zugangstoken ist nötig.</translation>
    </message>
    <message>
        <source>%1 downloads</source>
        <translation>%1 Downloads</translation>
    </message>
    <message>
        <source>%1 likes</source>
        <translation>%1 Likes</translation>
    </message>
    <message>
        <source>%1, terms must be accepted</source>
        <translation>%1, Bedingungen müssen angenommen werden</translation>
    </message>
    <message>
        <source>Repository</source>
        <translation>Repository</translation>
    </message>
    <message>
        <source>Downloads</source>
        <translation>Downloads</translation>
    </message>
    <message>
        <source>Likes</source>
        <translation>Likes</translation>
    </message>
</context>
<context>
    <name>fovea::ui::RouterView</name>
    <message>
        <source>Routers</source>
        <translation>Router</translation>
    </message>
    <message>
        <source>Nothing has been routed yet.</source>
        <translation>Noch wurde nichts verteilt.</translation>
    </message>
    <message>
        <source>Mean evenness %1; collapsed layers: %2.</source>
        <translation>Mittlere Gleichmäßigkeit %1; kollabierte Schichten: %2.</translation>
    </message>
    <message>
        <source>Layer %1: not used yet</source>
        <translation>Schicht %1: noch nicht gebraucht</translation>
    </message>
    <message>
        <source>Conversations: none has used the experts yet</source>
        <translation>Gespräche: noch keines hat die Experten gebraucht</translation>
    </message>
    <message>
        <source>Conversations and the experts they used</source>
        <translation>Gespräche und die Experten, die sie genutzt haben</translation>
    </message>
    <message>
        <source>%1 experts</source>
        <translation>%1 Experten</translation>
    </message>
    <message>
        <source>%1 experts · %2 in common</source>
        <translation>%1 Experten · %2 gemeinsam</translation>
    </message>
    <message>
        <source>Evenness of the load, by layer</source>
        <translation>Gleichmäßigkeit der Last, je Schicht</translation>
    </message>
    <message>
        <source>mean %1</source>
        <translation>im Mittel %1</translation>
    </message>
    <message>
        <source>at most %1</source>
        <translation>höchstens %1</translation>
    </message>
    <message>
        <source>layer %1</source>
        <translation>Schicht %1</translation>
    </message>
    <message>
        <source>the busiest tenth gets %1</source>
        <translation>das meistgenutzte Zehntel bekommt %1</translation>
    </message>
    <message>
        <source>Choose a conversation to see its busiest experts on the map. &quot;In common&quot; is the share of them that the current one also uses most.</source>
        <translation>Wählen Sie ein Gespräch, um seine meistgenutzten Experten auf der Karte zu sehen. „Gemeinsam“ ist der Anteil davon, den auch das jetzige Gespräch am meisten nutzt.</translation>
    </message>
    <message>
        <source>Load of the busiest experts</source>
        <translation>Last der meistgenutzten Experten</translation>
    </message>
    <message numerus="yes">
        <source>One subject in %n layer(s).</source>
        <translation>
            <numerusform>Ein Thema in einer Schicht.</numerusform>
            <numerusform>Ein Thema in %n Schichten.</numerusform>
        </translation>
    </message>
    <message>
        <source>Collapsed: the same few experts take nearly all, whatever the subject.</source>
        <translation>Kollabiert: Bei jedem Thema übernehmen dieselben wenigen Experten fast alles.</translation>
    </message>
    <message>
        <source>One subject: over the many subjects of the calibration, other experts worked here as well.</source>
        <translation>Ein Thema: Bei den vielen Themen der Kalibrierung haben hier auch andere Experten gearbeitet.</translation>
    </message>
    <message>
        <source>one subject · %1</source>
        <translation>ein Thema · %1</translation>
    </message>
    <message>
        <source>Busiest expert: up to %1 × its even share</source>
        <translation>Meistgenutzter Experte: bis zum %1-Fachen seines gleichen Anteils</translation>
    </message>
    <message>
        <source>%1 of uses go to other experts than in the calibration</source>
        <translation>%1 der Nutzungen gehen an andere Experten als in der Kalibrierung</translation>
    </message>
    <message>
        <source>%1 of the choices are the same as with “%2”</source>
        <translation>%1 der Entscheidungen sind dieselben wie bei „%2“</translation>
    </message>
    <message>
        <source>Layer %1: evenness %2. The busiest tenth got %5 of the uses, the %6 busiest %7, expert %3 %4.</source>
        <translation>Schicht %1: Gleichmäßigkeit %2. Das meistgenutzte Zehntel bekam %5 der Nutzungen, die %6 meistgenutzten %7, Experte %3 %4.</translation>
    </message>
    <message>
        <source>That is %1 × its even share.</source>
        <translation>Das ist das %1-Fache seines gleichen Anteils.</translation>
    </message>
</context>
<context>
    <name>fovea::ui::SavedList</name>
    <message>
        <source>Built in</source>
        <translation>Mitgeliefert</translation>
    </message>
    <message>
        <source>New…</source>
        <translation>Neu …</translation>
    </message>
    <message>
        <source>Edit…</source>
        <translation>Bearbeiten …</translation>
    </message>
    <message>
        <source>Duplicate</source>
        <translation>Duplizieren</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Search: %1</source>
        <translation>Suchen: %1</translation>
    </message>
    <message>
        <source>Nothing was found.</source>
        <translation>Nichts gefunden.</translation>
    </message>
    <message>
        <source>%1, built in</source>
        <translation>%1, mitgeliefert</translation>
    </message>
    <message>
        <source>Edit a copy…</source>
        <translation>Kopie bearbeiten …</translation>
    </message>
</context>
<context>
    <name>fovea::ui::ServerPage</name>
    <message>
        <source>Answer &amp;other programs</source>
        <translation>&amp;Anderen Programmen antworten</translation>
    </message>
    <message>
        <source>Editors, agents and scripts can use the model that is open here as they use OpenAI, Anthropic, Ollama or llama.cpp. Another model in the library is loaded when a program names it and there is memory for it beside yours; yours is never unloaded for another.</source>
        <translation>Editoren, Agenten und Skripte können das hier geöffnete Modell nutzen wie OpenAI, Anthropic, Ollama oder llama.cpp. Ein anderes Modell der Bibliothek wird geladen, wenn ein Programm es nennt und neben Ihrem genug Speicher frei ist; Ihres wird nie für ein anderes entladen.</translation>
    </message>
    <message>
        <source>The offline switch concerns connections that Fovea makes, and the server makes none: the two are independent.</source>
        <translation>Der Offline-Schalter betrifft Verbindungen, die Fovea herstellt, und der Server stellt keine her: Beide sind voneinander unabhängig.</translation>
    </message>
    <message>
        <source>&amp;Try again</source>
        <translation>&amp;Noch einmal versuchen</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>Adresse</translation>
    </message>
    <message>
        <source>Cop&amp;y</source>
        <translation>&amp;Kopieren</translation>
    </message>
    <message>
        <source>any free port</source>
        <translation>ein freier Port</translation>
    </message>
    <message>
        <source>&amp;Port</source>
        <translation>&amp;Port</translation>
    </message>
    <message>
        <source>Also from other co&amp;mputers, with a key</source>
        <translation>Auch von anderen Re&amp;chnern, mit einem Schlüssel</translation>
    </message>
    <message>
        <source>Anyone who can reach this computer and has the key can use the models. Questions and answers cross the network unencrypted.</source>
        <translation>Wer diesen Rechner erreicht und den Schlüssel hat, kann die Modelle benutzen. Fragen und Antworten gehen unverschlüsselt über das Netz.</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>&amp;Show</source>
        <translation>&amp;Zeigen</translation>
    </message>
    <message>
        <source>&amp;New key</source>
        <translation>Ne&amp;uer Schlüssel</translation>
    </message>
    <message>
        <source>Programs with the current key will no longer be let in</source>
        <translation>Programme mit dem jetzigen Schlüssel haben dann keinen Zugang mehr</translation>
    </message>
    <message>
        <source>Copy &amp;key</source>
        <translation>Schlüssel k&amp;opieren</translation>
    </message>
    <message>
        <source>No request is in progress.</source>
        <translation>Es ist keine Anfrage in Arbeit.</translation>
    </message>
    <message numerus="yes">
        <source>%n request(s) in progress</source>
        <translation>
            <numerusform>%n Anfrage in Arbeit</numerusform>
            <numerusform>%n Anfragen in Arbeit</numerusform>
        </translation>
    </message>
    <message>
        <source>Requests &amp;at once</source>
        <translation>&amp;Gleichzeitige Anfragen</translation>
    </message>
    <message>
        <source>This many are answered in the same passes as your conversation and share one context&apos;s memory with it; others wait.</source>
        <translation>So viele werden in denselben Durchläufen wie Ihr Gespräch beantwortet und teilen sich mit ihm den Speicher eines Kontexts; weitere warten.</translation>
    </message>
    <message>
        <source>No other program is answered.</source>
        <translation>Andere Programme erhalten keine Antworten.</translation>
    </message>
</context>
<context>
    <name>fovea::ui::SettingsPage</name>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>Darstellung</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Privacy and files</source>
        <translation>Datenschutz und Dateien</translation>
    </message>
    <message>
        <source>Server</source>
        <translation>Server</translation>
    </message>
    <message>
        <source>The language changes when Fovea is restarted.</source>
        <translation>Die Sprache ändert sich, wenn Fovea neu gestartet wird.</translation>
    </message>
    <message>
        <source>Same as the desktop</source>
        <translation>Wie der Desktop</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <source>&amp;Colours</source>
        <translation>&amp;Farben</translation>
    </message>
    <message>
        <source>Takes effect the next time Fovea starts</source>
        <translation>Gilt ab dem nächsten Start von Fovea</translation>
    </message>
    <message>
        <source>&amp;Language</source>
        <translation>&amp;Sprache</translation>
    </message>
    <message>
        <source> %</source>
        <translation> %</translation>
    </message>
    <message>
        <source>Te&amp;xt size</source>
        <translation>Te&amp;xtgröße</translation>
    </message>
    <message>
        <source>Enter sends, Shift+Enter starts a new line</source>
        <translation>Eingabetaste sendet, Umschalt+Eingabetaste beginnt eine neue Zeile</translation>
    </message>
    <message>
        <source>Ctrl+Enter sends, Enter starts a new line</source>
        <translation>Strg+Eingabetaste sendet, Eingabetaste beginnt eine neue Zeile</translation>
    </message>
    <message>
        <source>&amp;Sending</source>
        <translation>S&amp;enden</translation>
    </message>
    <message>
        <source>&amp;Less motion</source>
        <translation>&amp;Weniger Bewegung</translation>
    </message>
    <message>
        <source>Things move to their new place without animation; this is also so where the desktop asks for it</source>
        <translation>Elemente wechseln ohne Animation an ihren neuen Platz; das gilt auch, wenn der Desktop es so vorgibt</translation>
    </message>
    <message>
        <source>Fovea looks for models in its own folder and in these:</source>
        <translation>Fovea sucht Modelle in seinem eigenen Ordner und in diesen:</translation>
    </message>
    <message>
        <source>Model folders</source>
        <translation>Modellordner</translation>
    </message>
    <message>
        <source>&amp;Add a folder…</source>
        <translation>Ordner &amp;hinzufügen …</translation>
    </message>
    <message>
        <source>&amp;Remove</source>
        <translation>&amp;Entfernen</translation>
    </message>
    <message>
        <source>R&amp;un on</source>
        <translation>A&amp;usführen auf</translation>
    </message>
    <message>
        <source>automatic: the model&apos;s, at most 8,192</source>
        <translation>automatisch: wie das Modell, höchstens 8.192</translation>
    </message>
    <message>
        <source> tokens</source>
        <translation> Token</translation>
    </message>
    <message>
        <source>&amp;Context</source>
        <translation>&amp;Kontext</translation>
    </message>
    <message>
        <source>How much of a conversation the model sees at once. A longer context takes more memory; a model made for less gets what it was made for. This applies to the next model that is opened.</source>
        <translation>Wie viel von einem Gespräch das Modell auf einmal sieht. Ein längerer Kontext braucht mehr Speicher; ein Modell, das für weniger gemacht ist, bekommt so viel, wie es fasst. Das gilt für das nächste Modell, das geöffnet wird.</translation>
    </message>
    <message>
        <source>&amp;Find a model that fits…</source>
        <translation>Passendes &amp;Modell finden …</translation>
    </message>
    <message>
        <source>&amp;Offline: Fovea makes no connection at all</source>
        <translation>&amp;Offline: Fovea stellt überhaupt keine Verbindung her</translation>
    </message>
    <message>
        <source>Fovea sends nothing of its own accord: no telemetry, no update checks. It uses the network only for the searches and downloads that you ask for. Programs that use Fovea are a separate matter, with their own switch on the Server page.</source>
        <translation>Fovea sendet von sich aus nichts: keine Telemetrie, keine Suche nach Updates. Es benutzt das Netz nur für Suchen und Downloads, die Sie veranlassen. Programme, die Fovea nutzen, sind eine andere Sache; für sie gibt es einen eigenen Schalter auf der Seite „Server“.</translation>
    </message>
    <message>
        <source>Where your files are</source>
        <translation>Wo Ihre Dateien sind</translation>
    </message>
    <message>
        <source>Conversations and models</source>
        <translation>Gespräche und Modelle</translation>
    </message>
    <message>
        <source>What can be recreated</source>
        <translation>Was neu erzeugt werden kann</translation>
    </message>
    <message>
        <source>Access token of the model hub</source>
        <translation>Zugangstoken des Modell-Hubs</translation>
    </message>
    <message>
        <source>Some models are available only to people who have accepted their terms on the hub&apos;s page. The token proves that it is you. It is kept in the system&apos;s keyring, never in a file or a log.</source>
        <translation>Manche Modelle bekommt nur, wer ihre Bedingungen auf der Seite des Hubs angenommen hat. Das Zugangstoken weist Sie aus. Es liegt im Schlüsselbund des Systems, nie in einer Datei oder einem Protokoll.</translation>
    </message>
    <message>
        <source>Access token</source>
        <translation>Zugangstoken</translation>
    </message>
    <message>
        <source>&amp;Save</source>
        <translation>&amp;Speichern</translation>
    </message>
    <message>
        <source>&amp;Forget the stored one</source>
        <translation>Gespeichertes Token &amp;vergessen</translation>
    </message>
    <message>
        <source>A folder with models</source>
        <translation>Ordner mit Modellen</translation>
    </message>
</context>
<context>
    <name>fovea::ui::ShortcutsDialog</name>
    <message>
        <source>Keyboard</source>
        <translation>Tastatur</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>Tasten</translation>
    </message>
    <message>
        <source>Everywhere</source>
        <translation>Überall</translation>
    </message>
    <message>
        <source>To the next part, to the one before</source>
        <translation>Zum nächsten Teil, zum vorigen</translation>
    </message>
    <message>
        <source>A menu: Alt with its underlined letter</source>
        <translation>Ein Menü: Alt mit seinem unterstrichenen Buchstaben</translation>
    </message>
    <message>
        <source>In the conversation</source>
        <translation>Im Gespräch</translation>
    </message>
    <message>
        <source>From message to message</source>
        <translation>Von Nachricht zu Nachricht</translation>
    </message>
    <message>
        <source>A message&apos;s buttons and links</source>
        <translation>Schaltflächen und Links einer Nachricht</translation>
    </message>
    <message>
        <source>A message&apos;s other branches</source>
        <translation>Andere Zweige einer Nachricht</translation>
    </message>
    <message>
        <source>A message&apos;s menu</source>
        <translation>Menü einer Nachricht</translation>
    </message>
    <message>
        <source>To the beginning, to the newest text</source>
        <translation>Zum Anfang, zum neuesten Text</translation>
    </message>
    <message>
        <source>Select text</source>
        <translation>Text markieren</translation>
    </message>
    <message>
        <source>Copy, copy as Markdown</source>
        <translation>Kopieren, als Markdown kopieren</translation>
    </message>
    <message>
        <source>In the list of conversations</source>
        <translation>In der Liste der Gespräche</translation>
    </message>
    <message>
        <source>Open, rename, delete</source>
        <translation>Öffnen, umbenennen, löschen</translation>
    </message>
    <message>
        <source>Pin, export: the conversation&apos;s menu</source>
        <translation>Anheften, exportieren: das Menü des Gesprächs</translation>
    </message>
    <message>
        <source>Where you type</source>
        <translation>Wo Sie schreiben</translation>
    </message>
    <message>
        <source>On the map of experts</source>
        <translation>Auf der Expertenkarte</translation>
    </message>
    <message>
        <source>From expert to expert</source>
        <translation>Von Experte zu Experte</translation>
    </message>
    <message>
        <source>Follow an expert, or stop following it</source>
        <translation>Einen Experten verfolgen oder nicht mehr verfolgen</translation>
    </message>
    <message>
        <source>Zoom in, zoom out, the whole map</source>
        <translation>Vergrößern, verkleinern, ganze Karte</translation>
    </message>
    <message>
        <source>Bring back what was deleted</source>
        <translation>Gelöschtes zurückholen</translation>
    </message>
    <message>
        <source>Discard changes to a message</source>
        <translation>Änderungen an einer Nachricht verwerfen</translation>
    </message>
    <message>
        <source>One layer or all, one expert</source>
        <translation>Eine Schicht oder alle, ein Experte</translation>
    </message>
    <message>
        <source>Looking inside: from token to token, other words, leave</source>
        <translation>Beim Hineinsehen: von Token zu Token, andere Wörter, beenden</translation>
    </message>
    <message>
        <source>Open a folder, close it</source>
        <translation>Einen Ordner auf- und zuklappen</translation>
    </message>
    <message>
        <source>Move a folder up, down</source>
        <translation>Einen Ordner nach oben, nach unten verschieben</translation>
    </message>
    <message>
        <source>A prompt that you have saved</source>
        <translation>Ein gespeicherter Prompt</translation>
    </message>
</context>
<context>
    <name>fovea::ui::Sidebar</name>
    <message>
        <source>Conversations</source>
        <translation>Gespräche</translation>
    </message>
    <message>
        <source>Search conversations</source>
        <translation>Gespräche durchsuchen</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>Neuer Chat</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Deleted “%1”</source>
        <translation>„%1“ gelöscht</translation>
    </message>
    <message>
        <source>Your conversations will be listed here.</source>
        <translation>Hier erscheinen Ihre Gespräche.</translation>
    </message>
    <message>
        <source>Nothing was found.</source>
        <translation>Nichts gefunden.</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>Umbenennen</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>Lösen</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>Anheften</translation>
    </message>
    <message>
        <source>Export as Markdown…</source>
        <translation>Als Markdown exportieren …</translation>
    </message>
    <message>
        <source>Export as JSON…</source>
        <translation>Als JSON exportieren …</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Bring the conversation back (Ctrl+Z in the list)</source>
        <translation>Gespräch zurückholen (Strg+Z in der Liste)</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>New folder</source>
        <translation>Neuer Ordner</translation>
    </message>
    <message>
        <source>Move to folder</source>
        <translation>In Ordner verschieben</translation>
    </message>
    <message>
        <source>No folder</source>
        <translation>Kein Ordner</translation>
    </message>
    <message>
        <source>New chat in this folder</source>
        <translation>Neuer Chat in diesem Ordner</translation>
    </message>
    <message>
        <source>What new chats start with…</source>
        <translation>Womit neue Chats beginnen …</translation>
    </message>
    <message>
        <source>Move up</source>
        <translation>Nach oben</translation>
    </message>
    <message>
        <source>Move down</source>
        <translation>Nach unten</translation>
    </message>
    <message>
        <source>Delete the folder</source>
        <translation>Ordner löschen</translation>
    </message>
    <message>
        <source>Delete the folder “%1”?</source>
        <translation>Den Ordner „%1“ löschen?</translation>
    </message>
    <message numerus="yes">
        <source>%n conversation(s) in it are kept, in no folder.</source>
        <translation>
            <numerusform>Das Gespräch darin bleibt erhalten, ohne Ordner.</numerusform>
            <numerusform>Die %n Gespräche darin bleiben erhalten, ohne Ordner.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>fovea::ui::SizeBox</name>
    <message>
        <source>“%1” is not a size. Write, for example, 8 GB, 7.5 GiB or 500 MB.</source>
        <translation>„%1“ ist keine Größe. Schreiben Sie zum Beispiel 8 GB, 7,5 GiB oder 500 MB.</translation>
    </message>
    <message>
        <source>There are %1 in all.</source>
        <translation>Insgesamt gibt es nur %1.</translation>
    </message>
</context>
<context>
    <name>fovea::ui::StartPage</name>
    <message>
        <source>&amp;Download</source>
        <translation>&amp;Herunterladen</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>Fortschritt</translation>
    </message>
    <message>
        <source>S&amp;top</source>
        <translation>&amp;Anhalten</translation>
    </message>
</context>
<context>
    <name>fovea::ui::StarterView</name>
    <message>
        <source>What shall we look at?</source>
        <translation>Was sehen wir uns an?</translation>
    </message>
</context>
<context>
    <name>fovea::ui::StatusStrip</name>
    <message>
        <source>Status</source>
        <translation>Status</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>Tokens of the answer per second. A token is about three quarters of an English word.</source>
        <translation>Token der Antwort pro Sekunde. Ein Token ist etwa drei Viertel eines englischen Wortes.</translation>
    </message>
    <message>
        <source>%1 tokens a second</source>
        <translation>%1 Token pro Sekunde</translation>
    </message>
    <message>
        <source>How many tokens of the context this conversation fills. When it is full, the oldest messages must be left out.</source>
        <translation>Wie viele Token des Kontexts dieses Gespräch füllt. Ist er voll, müssen die ältesten Nachrichten weggelassen werden.</translation>
    </message>
</context>
<context>
    <name>fovea::ui::StepRail</name>
    <message>
        <source>Steps</source>
        <translation>Schritte</translation>
    </message>
    <message>
        <source>Step %1 of %2: %3</source>
        <translation>Schritt %1 von %2: %3</translation>
    </message>
</context>
<context>
    <name>fovea::ui::StoryView</name>
    <message>
        <source>no token of the answer waited.</source>
        <translation>kein Token der Antwort hat gewartet.</translation>
    </message>
    <message numerus="yes">
        <source>%Ln use(s) of experts waited for the disk.</source>
        <translation>
            <numerusform>%Ln Nutzung eines Experten wartete auf das Laufwerk.</numerusform>
            <numerusform>%Ln Nutzungen von Experten warteten auf das Laufwerk.</numerusform>
        </translation>
    </message>
    <message>
        <source>What happened</source>
        <translation>Was geschah</translation>
    </message>
    <message>
        <source>For “%1”, </source>
        <translation>Für „%1“ </translation>
    </message>
    <message>
        <source>no expert changed its precision</source>
        <translation>hat kein Experte seine Genauigkeit geändert</translation>
    </message>
    <message>
        <source>no expert has changed its precision yet</source>
        <translation>hat noch kein Experte seine Genauigkeit geändert</translation>
    </message>
    <message numerus="yes">
        <source>%Ln expert(s) rose to more bits</source>
        <translation>
            <numerusform>bekam %Ln Experte mehr Bit</numerusform>
            <numerusform>bekamen %Ln Experten mehr Bit</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln fell to fewer to make room</source>
        <translation>
            <numerusform>%Ln bekam weniger, um Platz zu machen</numerusform>
            <numerusform>%Ln bekamen weniger, um Platz zu machen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln expert(s) fell to fewer bits</source>
        <translation>
            <numerusform>bekam %Ln Experte weniger Bit</numerusform>
            <numerusform>bekamen %Ln Experten weniger Bit</numerusform>
        </translation>
    </message>
    <message>
        <source>Experts that the question uses become more precise; others take less room instead. Click to read what happened before.</source>
        <translation>Experten, die die Frage nutzt, werden genauer; andere brauchen dafür weniger Platz. Klicken Sie, um zu lesen, was vorher geschah.</translation>
    </message>
</context>
<context>
    <name>fovea::ui::TokenCard</name>
    <message>
        <source>%1 bits of entropy</source>
        <translation>%1 Bit Entropie</translation>
    </message>
    <message>
        <source>The model was nearly certain (%1)</source>
        <translation>Das Modell war sich fast sicher (%1)</translation>
    </message>
    <message>
        <source>The model was fairly sure (%1)</source>
        <translation>Das Modell war sich ziemlich sicher (%1)</translation>
    </message>
    <message>
        <source>The model wavered between a few (%1)</source>
        <translation>Das Modell schwankte zwischen einigen (%1)</translation>
    </message>
    <message>
        <source>The model saw many possibilities (%1)</source>
        <translation>Das Modell hielt vieles für möglich (%1)</translation>
    </message>
    <message numerus="yes">
        <source>%n expert(s) worked on it.</source>
        <translation>
            <numerusform>%n Experte hat daran gearbeitet.</numerusform>
            <numerusform>%n Experten haben daran gearbeitet.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>All of its %n expert(s) were at %1 bits</source>
        <translation>
            <numerusform>Der %n Experte hatte %1 Bit</numerusform>
            <numerusform>Alle %n Experten hatten %1 Bit</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 of its %n expert(s) were below %2 bits</source>
        <translation>
            <numerusform>%1 von %n Experten hatte weniger als %2 Bit</numerusform>
            <numerusform>%1 von %n Experten hatten weniger als %2 Bit</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, %2, the one in the answer</source>
        <translation>%1, %2, steht in der Antwort</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>Continue from here with “%1”, as another version of the answer</source>
        <translation>Ab hier mit „%1“ weiterschreiben, als weitere Fassung der Antwort</translation>
    </message>
    <message>
        <source>Nothing is kept for this token</source>
        <translation>Zu diesem Token ist nichts mehr gespeichert</translation>
    </message>
    <message>
        <source>Only the last %1 tokens that were written since the program was started are kept.</source>
        <translation>Behalten werden nur die letzten %1 Token, die seit dem Start des Programms geschrieben wurden.</translation>
    </message>
</context>
<context>
    <name>fovea::ui::TourView</name>
    <message>
        <source>Tour</source>
        <translation>Führung</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Skip</source>
        <translation>Überspringen</translation>
    </message>
    <message>
        <source>Keep this conversation</source>
        <translation>Gespräch behalten</translation>
    </message>
    <message>
        <source>Delete it</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>End the tour</source>
        <translation>Führung beenden</translation>
    </message>
    <message>
        <source>Tour · %1 of %2</source>
        <translation>Führung · %1 von %2</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>fovea::ui::TrafficView</name>
    <message>
        <source>Traffic</source>
        <translation>Datenverkehr</translation>
    </message>
    <message>
        <source>%1, %2 of the link</source>
        <translation>%1, %2 der Verbindung</translation>
    </message>
    <message>
        <source> · %1 stalls, %2</source>
        <translation> · %1 Stockungen, %2</translation>
    </message>
    <message>
        <source>Tier changes</source>
        <translation>Stufenwechsel</translation>
    </message>
    <message>
        <source>%1 ▲  %2 ▼ a second, at most %3</source>
        <translation>%1 ▲  %2 ▼ pro Sekunde, höchstens %3</translation>
    </message>
    <message>
        <source>Experts that became more precise (up) and less precise (down). The last number is the largest burst of both in this minute.</source>
        <translation>Experten, die genauer wurden (oben) und ungenauer (unten). Die letzte Zahl ist der größte Schub von beidem in dieser Minute.</translation>
    </message>
    <message>
        <source>Read for swaps</source>
        <translation>Für Wechsel gelesen</translation>
    </message>
    <message>
        <source>Bytes of new versions that were read from the prepared files. The dashed line is the measured read speed of this computer.</source>
        <translation>Bytes neuer Fassungen, die aus den vorbereiteten Dateien gelesen wurden. Die gestrichelte Linie ist das gemessene Lesetempo dieses Rechners.</translation>
    </message>
    <message>
        <source>Below the highest tier</source>
        <translation>Unter der höchsten Stufe</translation>
    </message>
    <message>
        <source>Share of the uses of experts that were not served at the highest tier. A stall is a use of an expert that was only on the disk: the token waited for it.</source>
        <translation>Anteil der Nutzungen von Experten, die nicht in der höchsten Stufe bedient wurden. Eine Stockung ist die Nutzung eines Experten, der nur auf dem Laufwerk lag: Das Token wartete darauf.</translation>
    </message>
    <message>
        <source>Swaps under way</source>
        <translation>Laufende Wechsel</translation>
    </message>
    <message>
        <source>%1 queued · %2 reading · %3 ready</source>
        <translation>%1 warten · %2 werden gelesen · %3 bereit</translation>
    </message>
    <message>
        <source>Swaps that have been decided but not yet published.</source>
        <translation>Wechsel, die beschlossen, aber noch nicht wirksam sind.</translation>
    </message>
    <message>
        <source>Tokens a second</source>
        <translation>Token pro Sekunde</translation>
    </message>
    <message>
        <source>%1 written · %2 read</source>
        <translation>%1 geschrieben · %2 gelesen</translation>
    </message>
    <message>
        <source>Tokens that went through the model. The numbers are the speeds of writing an answer and of reading a prompt, when it last did so.</source>
        <translation>Token, die durch das Modell gingen. Die Zahlen sind die Geschwindigkeiten beim Schreiben einer Antwort und beim Lesen eines Prompts, als das Modell das zuletzt tat.</translation>
    </message>
    <message>
        <source>60 s ago</source>
        <translation>vor 60 s</translation>
    </message>
    <message>
        <source>30 s</source>
        <translation>30 s</translation>
    </message>
    <message>
        <source>now</source>
        <translation>jetzt</translation>
    </message>
    <message>
        <source>Between tokens</source>
        <translation>Zwischen Token</translation>
    </message>
    <message>
        <source>no answer yet</source>
        <translation>noch keine Antwort</translation>
    </message>
    <message>
        <source>Half of the last answer&apos;s tokens came within p50, 95 of 100 within p95.</source>
        <translation>Die Hälfte der Token der letzten Antwort kam innerhalb von p50, 95 von 100 innerhalb von p95.</translation>
    </message>
    <message>
        <source>p50 %1 · p95 %2 · p99 %3 ms</source>
        <translation>p50 %1 · p95 %2 · p99 %3 ms</translation>
    </message>
</context>
<context>
    <name>fovea::ui::TranscriptView</name>
    <message>
        <source>%1, version %2 of %3</source>
        <translation>%1, Fassung %2 von %3</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Copy as Markdown</source>
        <translation>Als Markdown kopieren</translation>
    </message>
    <message>
        <source>Copy the link&apos;s address</source>
        <translation>Adresse des Links kopieren</translation>
    </message>
    <message>
        <source>Select all</source>
        <translation>Alles markieren</translation>
    </message>
    <message>
        <source>Find…</source>
        <translation>Suchen …</translation>
    </message>
    <message>
        <source>Conversation</source>
        <translation>Gespräch</translation>
    </message>
    <message>
        <source>Go to the newest text and follow it (End)</source>
        <translation>Zum neuesten Text gehen und ihm folgen (Ende)</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>Newest</source>
        <translation>Neuestes</translation>
    </message>
</context>
<context>
    <name>fovea::ui::VersionTable</name>
    <message>
        <source>A part is missing on the hub</source>
        <translation>Auf dem Hub fehlt ein Teil</translation>
    </message>
    <message numerus="yes">
        <source>%1, %n file(s)</source>
        <translation>
            <numerusform>%1, eine Datei</numerusform>
            <numerusform>%1, %n Dateien</numerusform>
        </translation>
    </message>
    <message>
        <source>How the weights are stored: fewer bits take less room and are less exact</source>
        <translation>Wie die Gewichte abgelegt sind: weniger Bit brauchen weniger Platz und sind ungenauer</translation>
    </message>
    <message>
        <source>Version</source>
        <translation>Fassung</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Fit</source>
        <translation>Passt es?</translation>
    </message>
</context>
<context>
    <name>fovea::ui::WelcomeView</name>
    <message>
        <source>Find a model that fits…</source>
        <translation>Passendes Modell finden …</translation>
    </message>
    <message>
        <source>Large models, sharp where it matters</source>
        <translation>Große Modelle, scharf, wo es zählt</translation>
    </message>
    <message>
        <source>Fovea runs models that do not fit in your memory by keeping precise what your conversation uses.</source>
        <translation>Fovea führt auch Modelle aus, die nicht in Ihren Speicher passen: Genau bleibt, was Ihr Gespräch nutzt.</translation>
    </message>
    <message>
        <source>Looking for the model that suits this computer best…</source>
        <translation>Das Modell, das am besten zu diesem Rechner passt, wird gesucht …</translation>
    </message>
    <message>
        <source>Chat with the small demo now</source>
        <translation>Jetzt mit der kleinen Demo chatten</translation>
    </message>
    <message>
        <source>Nothing you write leaves this computer.</source>
        <translation>Nichts, was Sie schreiben, verlässt diesen Rechner.</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Why this one?</source>
        <translation>Warum dieses?</translation>
    </message>
    <message>
        <source>Other models</source>
        <translation>Andere Modelle</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>Fortschritt</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pausieren</translation>
    </message>
    <message>
        <source>Models on this computer</source>
        <translation>Modelle auf diesem Rechner</translation>
    </message>
    <message>
        <source>Step by step</source>
        <translation>Schritt für Schritt</translation>
    </message>
    <message>
        <source>Open a file…</source>
        <translation>Datei öffnen …</translation>
    </message>
    <message>
        <source>or</source>
        <comment>two ways to begin</comment>
        <translation>oder</translation>
    </message>
</context>
<context>
    <name>fovea::ui::WishPage</name>
    <message>
        <source>&amp;Quality</source>
        <translation>&amp;Qualität</translation>
    </message>
    <message>
        <source>The most capable model that this computer can hold, even if it writes slowly.</source>
        <translation>Das leistungsfähigste Modell, das auf diesen Rechner passt, auch wenn es langsam schreibt.</translation>
    </message>
    <message>
        <source>S&amp;peed</source>
        <translation>&amp;Tempo</translation>
    </message>
    <message>
        <source>Answers at least as fast as you read. Among models that are fast enough, the most capable one.</source>
        <translation>Antworten mindestens so schnell, wie Sie lesen. Von den Modellen, die schnell genug sind, das leistungsfähigste.</translation>
    </message>
    <message>
        <source>&amp;Long context</source>
        <translation>&amp;Langer Kontext</translation>
    </message>
    <message>
        <source>Whole books or code bases in one conversation: models that keep the most tokens in this memory.</source>
        <translation>Ganze Bücher oder Codebasen in einem Gespräch: Modelle, die in diesem Speicher die meisten Token behalten.</translation>
    </message>
</context>
<context>
    <name>fovea::ui::WizardDialog</name>
    <message>
        <source>This computer</source>
        <translation>Dieser Rechner</translation>
    </message>
    <message>
        <source>What matters</source>
        <translation>Was zählt</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Measure</source>
        <translation>Messen</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Leave everything as it was</source>
        <translation>Alles bleibt, wie es vorher war</translation>
    </message>
    <message>
        <source>&amp;Back</source>
        <translation>&amp;Zurück</translation>
    </message>
    <message>
        <source>&amp;Skip</source>
        <translation>Über&amp;springen</translation>
    </message>
    <message>
        <source>&amp;Next</source>
        <translation>&amp;Weiter</translation>
    </message>
    <message>
        <source>What this computer has</source>
        <translation>Was dieser Rechner hat</translation>
    </message>
    <message>
        <source>Fovea looks at it to find models that fit. Nothing leaves this computer.</source>
        <translation>Fovea untersucht ihn, um passende Modelle zu finden. Nichts verlässt diesen Rechner.</translation>
    </message>
    <message>
        <source>What matters to you?</source>
        <translation>Was ist Ihnen wichtig?</translation>
    </message>
    <message>
        <source>Your choice decides the order of the models. You can come back and change it.</source>
        <translation>Ihre Wahl bestimmt die Reihenfolge der Modelle. Sie können zurückkommen und sie ändern.</translation>
    </message>
    <message>
        <source>Models for this computer</source>
        <translation>Modelle für diesen Rechner</translation>
    </message>
    <message>
        <source>Best first for what matters to you.</source>
        <translation>Das beste zuerst für das, was Ihnen wichtig ist.</translation>
    </message>
    <message>
        <source>What the memory will hold</source>
        <translation>Was im Speicher liegen wird</translation>
    </message>
    <message>
        <source>Change something, and the bar shows at once what it takes.</source>
        <translation>Ändern Sie etwas, und der Balken zeigt sofort, was es braucht.</translation>
    </message>
    <message>
        <source>Open the model</source>
        <translation>Modell öffnen</translation>
    </message>
    <message>
        <source>Nothing is saved until you finish.</source>
        <translation>Nichts wird gespeichert, bevor Sie fertig sind.</translation>
    </message>
    <message>
        <source>Prediction and reality</source>
        <translation>Vorhersage und Wirklichkeit</translation>
    </message>
    <message>
        <source>The model works for up to half a minute.</source>
        <translation>Das Modell arbeitet bis zu einer halben Minute lang.</translation>
    </message>
    <message>
        <source>Find a model that fits</source>
        <translation>Passendes Modell finden</translation>
    </message>
</context>
</TS>
