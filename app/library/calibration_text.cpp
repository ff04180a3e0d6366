#include "app/library/calibration_text.h"

namespace fovea::app {

std::string_view calibration_text() {
  return R"text(Question: My bread comes out dense every time. What am I doing wrong?

Answer: Dense bread usually means that the dough did not rise for long enough, or that it was too dry. Try three things, one at a time:

1. Weigh the flour instead of using a cup. A packed cup can hold a third more than a loose one.
2. Let the dough stand until it has doubled, whatever the clock says. In a cold kitchen that can take three hours.
3. Bake in a hot oven, at 230 °C, with a bowl of water on the lowest shelf for the first ten minutes.

If the crumb is still tight after that, your yeast may be old. Stir a spoonful into warm water with a pinch of sugar; if nothing foams within a quarter of an hour, buy fresh yeast.

The lighthouse had been dark for eleven years when Marta bought it. People in the village told her that the stairs were rotten and that the wind would drive her out before Christmas. She listened, thanked them, and carried her books up one box at a time. By March she knew every sound that the tower made: the long note of the gallery rail in a westerly, the tick of the lamp room as it warmed, the slow breath of the sea in the cellar. What she had not expected was the light itself. On clear evenings the sun came level through the old lens and broke into colours that wandered over the walls, and she found that she had stopped reading to watch them go.

def merge(left, right):
    """Merge two sorted lists into one."""
    result, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            result.append(left[i])
            i += 1
        else:
            result.append(right[j])
            j += 1
    return result + left[i:] + right[j:]

def merge_sort(values):
    if len(values) < 2:
        return values
    middle = len(values) // 2
    return merge(merge_sort(values[:middle]), merge_sort(values[middle:]))

Sorting by merging takes O(n log n) comparisons: the list is halved log2(n) times, and each level looks at every element once.

#include <map>
#include <string>
#include <vector>

std::map<std::string, int> count_words(const std::vector<std::string>& words) {
  std::map<std::string, int> counts;
  for (const std::string& word : words) ++counts[word];
  return counts;
}

SELECT customer.name, SUM(orders.total) AS spent
FROM customer JOIN orders ON orders.customer_id = customer.id
WHERE orders.placed >= '2024-01-01'
GROUP BY customer.name HAVING SUM(orders.total) > 500 ORDER BY spent DESC;

{"name": "sensor-7", "unit": "celsius", "values": [20.5, 21.0, 21.25], "ok": true, "note": null}

Let f(x) = x^3 - 6x^2 + 9x + 1. Its derivative is f'(x) = 3x^2 - 12x + 9 = 3(x - 1)(x - 3), which is zero at x = 1 and x = 3. The second derivative f''(x) = 6x - 12 is negative at 1 and positive at 3, so that f has a local maximum f(1) = 5 and a local minimum f(3) = 1.

A train leaves at 9:15 and travels 240 km at 80 km/h. A second train leaves at 10:00 on the same line at 120 km/h. When does the second catch the first? After 45 minutes the first train is 60 km ahead. The gap closes by 40 km in every hour, so that it takes 60 / 40 = 1.5 hours: they meet at 11:30, 180 km from the start.

To show that the square root of 2 is irrational, suppose that it equals p/q in lowest terms. Then p^2 = 2q^2, hence p is even, say p = 2r. It follows that 4r^2 = 2q^2, so q^2 = 2r^2 and q is even as well, which contradicts the choice of p/q.

Photosynthesis turns light into chemical energy. In the thylakoid membranes, chlorophyll absorbs photons and splits water; oxygen leaves, and the electrons drive protons across the membrane. The gradient makes ATP, and in the stroma the Calvin cycle uses it to bind carbon dioxide into sugar. Under strong light the slow step is usually the enzyme that binds the carbon dioxide.

In 1854 a physician in London marked the deaths of a cholera outbreak on a map and saw that they gathered around one water pump. The handle was taken off. It was one of the first times that a disease was traced by where people lived rather than by who they were, long before anybody had seen the bacterium.

Frage: Warum ist der Himmel blau, und weshalb wird er abends rot?
Antwort: Das Sonnenlicht wird an den Molekülen der Luft gestreut, kurze Wellenlängen viel stärker als lange. Tagsüber erreicht uns deshalb aus allen Richtungen blaues Licht. Am Abend ist der Weg durch die Atmosphäre länger; das Blau ist unterwegs verloren gegangen, und übrig bleiben Gelb und Rot.

Le marché ouvre à sept heures. On y trouve des légumes, du pain, quelques fromages de la région et, le samedi, un homme qui répare les parapluies. Quand il pleut, c'est lui qui fait les meilleures affaires.

La biblioteca cierra los lunes. Si necesita devolver un libro ese día, puede dejarlo en el buzón que está junto a la entrada; no se cobra multa.

今天的天气很好，我们打算下午去公园散步。你要不要一起来？图书馆旁边新开了一家茶馆，听说那里的绿茶不错。

Dear Ms Okafor,
Thank you for your letter of 3 May. We have found the parcel: it was held at the border because the invoice was missing. I have sent the papers today, and the carrier expects to deliver on Thursday. I am sorry for the delay, and we will not charge for the shipping.
Kind regards,
Jonas Lindqvist

User: Summarise this in one sentence: "The council voted seven to four to keep the swimming pool open through the winter, provided that the heating is paid for by a rise of the entrance fee."
Assistant: The council will keep the pool open in winter if a higher entrance fee pays for the heating.
User: Now make it sound excited.
Assistant: Great news: our pool stays open all winter, and a slightly higher ticket keeps the water warm!

| planet | radius (km) | day |
|---|---|---|
| Mercury | 2,440 | 176 d |
| Venus | 6,052 | 117 d |
| Earth | 6,371 | 24 h |
| Mars | 3,390 | 24 h 37 min |

The court held that the contract was void, because one party had been misled about a fact on which its consent depended. Whether damages were due was left to the lower court, which had not heard evidence on that point.

Take the A minor chord, move the lowest note down by a semitone, and you hear why the next bar must follow: the ear takes the new bass for a leading tone and waits for it to rise.

Why did the scarecrow win a prize? He was outstanding in his field.
)text";
}

}  // namespace fovea::app
