#include "app/library/comparison_text.h"

namespace fovea::app {

std::string_view comparison_text() {
  return R"text(Question: How can I keep my houseplants alive while I am away for three weeks?

Answer: Move them out of the sun first: a plant in the shade drinks about half as much. Water them well on the last evening and let the pots drain. For those that dry out quickly, put one end of a cotton string into a jar of water and the other end into the soil; the string carries what the soil loses. Group the pots together, since they keep the air between them moist. Cactuses need nothing at all. If a neighbour offers to help, leave a short note at each pot, because most plants that die in a holiday die of too much water.

The boat came back without the old man. Ines saw it from the kitchen, turning slowly in the bay with its sail down, and she knew before she had put on her shoes. Nobody spoke on the jetty. Her brother caught the rope and tied it, three turns and a hitch as their father had taught them, and then they both looked at the bench where the nets lay folded. There was bread in the box, still soft, and a flask of coffee that was warm to the hand. It was Tomas who began to laugh. On the far side of the harbour, wet to the chest and carrying a lobster by the tail, their father was walking home along the road.

"You could have shouted," said Ines when he had come up.

"I was holding my breath," he said. "Do you know what one of these costs in town?"

#include <stdbool.h>
#include <stddef.h>

/* Returns true when the text reads the same from both ends. */
bool is_palindrome(const char *text, size_t length) {
  for (size_t i = 0; i < length / 2; ++i)
    if (text[i] != text[length - 1 - i]) return false;
  return true;
}

class Account:
    def __init__(self, owner, balance=0):
        self.owner = owner
        self.balance = balance

    def withdraw(self, amount):
        if amount > self.balance:
            raise ValueError("not enough money")
        self.balance -= amount
        return self.balance

const total = items
  .filter((item) => item.inStock)
  .map((item) => item.price * item.count)
  .reduce((sum, price) => sum + price, 0);

A rectangle is twice as long as it is wide, and its perimeter is 36 cm. Let w be the width. Then 2(w + 2w) = 36, so 6w = 36 and w = 6. The length is 12 cm and the area is 6 · 12 = 72 square centimetres.

The sum of the first n odd numbers is n squared. For n = 1 this is true, since 1 = 1. Suppose that it holds for n. The next odd number is 2n + 1, and n^2 + 2n + 1 = (n + 1)^2, so that it holds for n + 1 as well. By induction it holds for all n.

A bag holds 5 red and 3 blue marbles. Two are drawn, one after the other, and not put back. The probability that both are red is 5/8 times 4/7, which is 20/56 or about 36 percent.

The moon has no light of its own. What we see is sunlight that its surface reflects, and the shape of the bright part depends on where the moon stands between us and the sun. A full moon rises when the sun sets; a new moon is up all day and cannot be seen. The tides follow it, because the moon pulls the water on the near side of the earth more strongly than the earth itself, and the earth more strongly than the water on the far side. Twice in a month sun and moon pull along one line, and the tides are at their highest.

Glass was made in Egypt and Mesopotamia long before anybody blew it. For two thousand years craftsmen wound hot glass around a core of clay and broke the core out when it had cooled. Then, in the first century before our era, somewhere on the coast of Syria, a worker took a lump of it on the end of a pipe and breathed into it. Within two generations a drinking cup cost less than a loaf of bread.

Once upon a time there was a little girl named Mia. She had a red ball that she loved very much. One day the ball rolled down the hill and fell into a pond. Mia began to cry. A big green frog heard her and asked, "Why are you sad?" Mia told him about the ball. The frog jumped into the water, pushed the ball with his nose, and brought it back. Mia was so happy that she hugged the frog, and from that day on they played together every afternoon.

User: I have an interview tomorrow and I am nervous. What should I do tonight?
Assistant: Choose your clothes, check the way and the time, and then stop preparing. Read the advertisement once more and write down three things that you have done which fit it, with one example for each. Think of two questions that you would like to ask. After that, eat something, go for a walk, and go to bed early. Being a little nervous helps: it shows that you care.
User: What if they ask about my weaknesses?
Assistant: Name a real one that does not stand in the way of the work, and say what you do about it. "I used to take on too much. Now I write down what I have promised, and I ask which of it is urgent."

Frage: Was ist der Unterschied zwischen Wetter und Klima?
Antwort: Das Wetter ist der Zustand der Luft an einem Ort zu einer bestimmten Zeit: Regen am Dienstag, Wind in der Nacht. Das Klima ist, was man über viele Jahre hinweg erwarten kann. Ein einzelner kalter Winter sagt deshalb wenig über das Klima aus, dreißig milde hintereinander sagen viel.

Pour faire une bonne soupe, il faut du temps plutôt que de l'argent. On coupe les oignons, on les laisse fondre doucement dans un peu de beurre, puis on ajoute l'eau, les pommes de terre et une feuille de laurier. Une heure plus tard, toute la maison sait ce qu'il y aura pour le dîner.

Mi abuela guardaba las llaves en un cajón de la cocina, debajo de las servilletas. Decía que ningún ladrón tendría la paciencia de doblarlas otra vez.

To whom it may concern: the lift in house B has been out of order since Monday. The company that looks after it is waiting for a part, which should arrive on Thursday. Please use the stairs or the lift in house A until then. If you need help with carrying, call the caretaker between eight and four.

1. Switch the machine off and pull out the plug.
2. Open the cover at the back with a screwdriver.
3. Take out the filter and wash it under warm water.
4. Let it dry for a day before you put it back.

The committee published its report on Friday. It finds that the bridge was built as planned, that the plans were sound when they were drawn, and that nobody had asked since then how much heavier the lorries had become. The repair will take two years. Until it is finished, one lane stays closed, and the ferry, which was to be sold this summer, will run again.

Which weighs more, a pound of feathers or a pound of iron? Neither: both weigh a pound, but you would rather drop the feathers on your foot.
)text";
}

}  // namespace fovea::app
