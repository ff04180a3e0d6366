#include "ui/mathematics/tex_symbols.h"

#include <QHash>

namespace fovea::ui {
namespace {

struct Group {
  TexClass kind;
  const char* entries;  // "name text name text …"
};

constexpr Group kGroups[] = {
    {TexClass::ordinary,
     "alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ "
     "lambda λ mu μ nu ν xi ξ omicron ο pi π varpi ϖ rho ρ varrho ϱ sigma σ varsigma ς tau τ upsilon υ phi ϕ "
     "varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ "
     "Omega Ω infty ∞ partial ∂ nabla ∇ emptyset ∅ varnothing ∅ forall ∀ exists ∃ nexists ∄ neg ¬ lnot ¬ "
     "hbar ℏ ell ℓ Re ℜ Im ℑ aleph ℵ wp ℘ imath ı jmath ȷ angle ∠ triangle △ square □ blacksquare ■ qed ∎ "
     "top ⊤ bot ⊥ prime ′ degree ° ldots … dots … dotsc … cdots ⋯ dotsb ⋯ vdots ⋮ ddots ⋱ checkmark ✓ dagger "
     "† "
     "ddagger ‡ clubsuit ♣ diamondsuit ♢ heartsuit ♡ spadesuit ♠ flat ♭ sharp ♯ natural ♮ therefore ∴ "
     "because ∵ S § P ¶ copyright © pounds £ euro € backslash \\ # # % % $ $ & & _ _ { { } } | ‖ Vert ‖ vert "
     "| "
     "surd √ complement ∁ eth ð mho ℧ O Ø AA Å varkappa ϰ digamma ϝ beth ℶ gimel ℷ daleth ℸ hslash ℏ Box □ "
     "lozenge ◊ bigstar ★ triangledown ▽ blacktriangle ▲ measuredangle ∡ sphericalangle ∢ backprime ‵ dotsm "
     "⋯ "
     "dotsi ⋯ dotso … infin ∞ R ℝ N ℕ Z ℤ Q ℚ C ℂ ss ß ae æ oe œ AE Æ aa å o ø i ı yen ¥ Diamond ◊ "
     "textdollar $ textbackslash \\ textunderscore _ textbar | lq ‘ rq ’ Alpha Α Beta Β Epsilon Ε Zeta Ζ Eta "
     "Η "
     "Iota Ι Kappa Κ Mu Μ Nu Ν Omicron Ο Rho Ρ Tau Τ Chi Χ varGamma Γ varDelta Δ varOmega Ω varnothing ∅"},
    {TexClass::binary,
     "pm ± mp ∓ times × div ÷ cdot · ast ∗ star ⋆ circ ∘ bullet • cap ∩ cup ∪ uplus ⊎ sqcap ⊓ sqcup ⊔ vee ∨ "
     "lor ∨ wedge ∧ land ∧ setminus ∖ smallsetminus ∖ oplus ⊕ ominus ⊖ otimes ⊗ oslash ⊘ odot ⊙ wr ≀ amalg ⨿ "
     "diamond ⋄ triangleleft ◁ triangleright ▷ bmod mod ltimes ⋉ rtimes ⋊ veebar ⊻ boxplus ⊞ boxminus ⊟ "
     "boxtimes ⊠ boxdot ⊡ dotplus ∔ barwedge ⊼ circledast ⊛ circledcirc ⊚ circleddash ⊝ bigtriangleup △ "
     "bigtriangledown ▽ bigcirc ◯ Cap ⋒ Cup ⋓ lhd ⊲ rhd ⊳ intercal ⊺ centerdot ⋅ rightthreetimes ⋌ curlyvee "
     "⋎ "
     "curlywedge ⋏ divideontimes ⋇"},
    {TexClass::relation,
     "le ≤ leq ≤ leqslant ⩽ ge ≥ geq ≥ geqslant ⩾ ne ≠ neq ≠ ll ≪ gg ≫ equiv ≡ sim ∼ simeq ≃ approx ≈ cong ≅ "
     "propto ∝ doteq ≐ prec ≺ succ ≻ preceq ⪯ succeq ⪰ subset ⊂ supset ⊃ subseteq ⊆ supseteq ⊇ subsetneq ⊊ "
     "supsetneq ⊋ in ∈ ni ∋ notin ∉ mid | parallel ∥ nmid ∤ perp ⟂ vdash ⊢ dashv ⊣ models ⊨ vDash ⊨ asymp ≍ "
     "bowtie ⋈ to → rightarrow → leftarrow ← gets ← leftrightarrow ↔ Rightarrow ⇒ Leftarrow ⇐ Leftrightarrow "
     "⇔ "
     "implies ⟹ impliedby ⟸ iff ⟺ mapsto ↦ longmapsto ⟼ longrightarrow ⟶ longleftarrow ⟵ longleftrightarrow "
     "⟷ "
     "Longrightarrow ⟹ Longleftarrow ⟸ Longleftrightarrow ⟺ hookrightarrow ↪ hookleftarrow ↩ uparrow ↑ "
     "downarrow "
     "↓ updownarrow ↕ Uparrow ⇑ Downarrow ⇓ rightharpoonup ⇀ leftharpoonup ↼ rightleftharpoons ⇌ leadsto ⇝ "
     "nearrow ↗ searrow ↘ swarrow ↙ nwarrow ↖ coloneqq ≔ triangleq ≜ lesssim ≲ gtrsim ≳ trianglelefteq ⊴ "
     "colon : lt < gt > owns ∋ leqq ≦ geqq ≧ nleq ≰ ngeq ≱ nless ≮ ngtr ≯ lneq ⪇ gneq ⪈ lll ⋘ ggg ⋙ lessgtr "
     "≶ "
     "gtrless ≷ nsim ≁ ncong ≇ nparallel ∦ nsubseteq ⊈ nsupseteq ⊉ subsetneqq ⫋ subseteqq ⫅ sqsubset ⊏ "
     "sqsupset "
     "⊐ sqsubseteq ⊑ sqsupseteq ⊒ trianglerighteq ⊵ vartriangleleft ⊲ vartriangleright ⊳ ntriangleleft ⋪ "
     "Vdash ⊩ "
     "Vvdash ⊪ nvdash ⊬ nvDash ⊭ smile ⌣ frown ⌢ precsim ≾ succsim ≿ preccurlyeq ≼ succcurlyeq ≽ eqsim ≂ "
     "approxeq ≊ thickapprox ≈ thicksim ∼ backsim ∽ backsimeq ⋍ varpropto ∝ between ≬ pitchfork ⋔ "
     "coloneq ≔ colonequals ≔ eqqcolon ≕ vcentcolon : doteqdot ≑ eqcirc ≖ circeq ≗ "
     "rightleftarrows ⇄ leftrightarrows ⇆ rightrightarrows ⇉ upuparrows ⇈ twoheadrightarrow ↠ "
     "twoheadleftarrow ↞ rightarrowtail ↣ nrightarrow ↛ nleftarrow ↚ nRightarrow ⇏ nLeftarrow ⇍ "
     "nLeftrightarrow ⇎ rightharpoondown ⇁ leftharpoondown ↽ leftrightharpoons ⇋ Updownarrow ⇕ "
     "curvearrowright ↷ curvearrowleft ↶ circlearrowright ↻ circlearrowleft ↺ rightsquigarrow ⇝ "
     "upharpoonright ↾ restriction ↾ multimap ⊸ Lsh ↰ Rsh ↱ shortmid ∣ shortparallel ∥ Rrightarrow ⇛"},
    {TexClass::opening,
     "langle ⟨ lang ⟨ lparen ( lgroup ( ulcorner ⌜ llcorner ⌞ lfloor ⌊ lceil ⌈ lbrace { lbrack [ lvert | "
     "lVert ‖ llbracket ⟦"},
    {TexClass::closing,
     "rangle ⟩ rang ⟩ rparen ) rgroup ) urcorner ⌝ lrcorner ⌟ rfloor ⌋ rceil ⌉ rbrace } rbrack ] rvert | "
     "rVert ‖ rrbracket ⟧"},
    {TexClass::function,
     "sin sin cos cos tan tan cot cot sec sec csc csc arcsin arcsin arccos arccos arctan arctan sinh sinh "
     "cosh "
     "cosh tanh tanh coth coth log log ln ln lg lg exp exp det det dim dim ker ker hom hom arg arg deg deg "
     "gcd gcd Pr Pr sech sech csch csch arccot arccot"},
    {TexClass::large,
     "sum ∑ prod ∏ coprod ∐ int ∫ iint ∬ iiint ∭ oint ∮ bigcup ⋃ bigcap ⋂ bigvee ⋁ bigwedge ⋀ bigoplus ⨁ "
     "bigotimes ⨂ bigodot ⨀ lim lim limsup lim\u00a0sup liminf lim\u00a0inf max max min min sup sup inf inf "
     "oiint ∯ bigsqcup ⨆ biguplus ⨄ injlim inj\u00a0lim projlim proj\u00a0lim "
     "argmax arg\u00a0max argmin arg\u00a0min"},
};

const QHash<QString, TexSymbol>& symbols() {
  static const QHash<QString, TexSymbol> table = [] {
    QHash<QString, TexSymbol> made;
    for (const Group& group : kGroups) {
      const QStringList words = QString::fromUtf8(group.entries).split(QLatin1Char(' '), Qt::SkipEmptyParts);
      for (qsizetype i = 0; i + 1 < words.size(); i += 2) made.insert(words[i], {words[i + 1], group.kind});
    }
    const auto space = [&made](const char* name, const char16_t* text) {
      made.insert(QString::fromLatin1(name), {QString::fromUtf16(text), TexClass::space});
    };
    space(",", u"\u2009");
    space(":", u"\u2005");
    space(">", u"\u2005");
    space(";", u"\u2004");
    space(" ", u" ");
    space("!", u"");
    space("quad", u"\u2003");
    space("qquad", u"\u2003\u2003");
    return made;
  }();
  return table;
}

struct Mapping {
  QString from, to;
};

// Superscript and subscript forms, character by character.
const Mapping kRaised{
    QStringLiteral("0123456789+−-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWαβγδεθιφχ′∗*"),
    QStringLiteral("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵅᵝᵞᵟᵋᶿᶥᵠᵡ′**")};
const Mapping kLowered{QStringLiteral("0123456789+−-=()aehijklmnoprstuvxβγρφχ"),
                       QStringLiteral("₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ")};

QString mapped(QStringView text, const Mapping& mapping) {
  QString out;
  for (const QChar c : text) {
    if (c == QLatin1Char(' ')) continue;
    const qsizetype at = mapping.from.indexOf(c);
    if (at < 0) return {};
    out += mapping.to[at];
  }
  return out;
}

}  // namespace

const TexSymbol* tex_symbol(QStringView name) {
  const auto found = symbols().constFind(name.toString());
  return found == symbols().cend() ? nullptr : &*found;
}

QChar tex_accent(QStringView name) {
  static const QHash<QString, QChar> marks = {
      {QStringLiteral("hat"), QChar(0x0302)},       {QStringLiteral("widehat"), QChar(0x0302)},
      {QStringLiteral("bar"), QChar(0x0304)},       {QStringLiteral("overline"), QChar(0x0305)},
      {QStringLiteral("vec"), QChar(0x20d7)},       {QStringLiteral("dot"), QChar(0x0307)},
      {QStringLiteral("ddot"), QChar(0x0308)},      {QStringLiteral("tilde"), QChar(0x0303)},
      {QStringLiteral("widetilde"), QChar(0x0303)}, {QStringLiteral("check"), QChar(0x030c)},
      {QStringLiteral("breve"), QChar(0x0306)},     {QStringLiteral("acute"), QChar(0x0301)},
      {QStringLiteral("grave"), QChar(0x0300)},     {QStringLiteral("underline"), QChar(0x0332)},
      {QStringLiteral("mathring"), QChar(0x030a)}};
  return marks.value(name.toString());
}

QString tex_alphabet(QStringView macro, QChar letter) {
  // Letters whose styled form was in Unicode before the mathematical alphabets, which have a gap there.
  static const QHash<QString, QString> early = {
      {QStringLiteral("mathbb"), QStringLiteral("CℂHℍNℕPℙQℚRℝZℤ")},
      {QStringLiteral("mathcal"), QStringLiteral("BℬEℰFℱHℋIℐLℒMℳRℛeℯgℊoℴ")},
      {QStringLiteral("mathfrak"), QStringLiteral("CℭHℌIℑRℜZℨ")}};
  static const QHash<QString, char32_t> first = {{QStringLiteral("mathbb"), 0x1d538},
                                                 {QStringLiteral("mathcal"), 0x1d49c},
                                                 {QStringLiteral("mathfrak"), 0x1d504}};
  const QString name = macro == QLatin1String("mathscr") ? QStringLiteral("mathcal") : macro.toString();
  const QString pairs = early.value(name);
  for (qsizetype i = 0; i + 1 < pairs.size(); i += 2) {
    if (pairs[i] == letter) return pairs.mid(i + 1, 1);
  }
  const char16_t code = letter.unicode();
  const bool upper = code >= 'A' && code <= 'Z';
  const bool lower = code >= 'a' && code <= 'z';
  if (!first.contains(name) || !(upper || lower)) return {};
  const char32_t styled = first.value(name) + (upper ? code - 'A' : 26 + code - 'a');
  return QString::fromUcs4(&styled, 1);
}

QString superscript(QStringView text) {
  return mapped(text, kRaised);
}

QString subscript(QStringView text) {
  return mapped(text, kLowered);
}

}  // namespace fovea::ui
