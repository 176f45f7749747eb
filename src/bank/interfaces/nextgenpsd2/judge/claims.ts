import { plain } from './texts.ts';

// What a text says of the fields that it names.

/** A field is missing: in English, and the usual words of other languages. "At least" and "between" are said of an emptied field, too. */
const MISSING = new RegExp(
  [
    '\\b(missing|misses|miss|requir|mandator|null|empt(y|ied)|blank|not present|not found|given|provid|specified|nothing|at least|between|greater than)',
    '\\b(absent|omit|lack|undefined|unset|not (set|sent|supplied|filled|there)|suppl(y|ied)|no value|there is no|has no|have no|needs?\\b|needed|minimum|too short|shorter|positive)',
    '\\b(does not (contain|have)|(is|are|has|have|was) (less|fewer) than|(longer|more|larger|bigger) than (0|zero))',
    '\\b(fehlt|fehlen|pflicht|leer|erforderlich|angegeben|manquant|obligat|vide\\b|mancant|vuot|vacio|falta|verplicht|ontbreek|leeg|mangler|pakraevet|lipse|privalom|truksta)',
  ].join('|'),
);

const FORM =
  /\btoo long\b|\bmore than\b|\bmaximum\b|\bformat|\bpattern|\bmatch|\bmismatch|\bmalformed|\bwell[ -]?formed|\b(no|not|non|in)[ -]?(an? )?valid|\bwrong|\bcheck digits?\b|\bsigns?\b|\bletters?\b|\bcharacters?\b|\bdigits?\b|\bis no\b|\bmust be an? |\b(does|do) not exist\b|\bunknown\b|\b(not |un)supported\b|\bfits?\b|\bconform|\blonger than\b|\b(in|not )correct\b|\bexceed\w* .*\blength\b|\blength\b.* exceed/;

/** Sentences about the whole request, which name no form of a field, although they have such a word. */
const GENERAL = [
  /\bformat[ -]errors?\b/g,
  /\b(invalid|wrong|malformed|not (a )?valid|no valid|unknown|unsupported|incorrect) (request|body|message|input|payload|content|json|xml|error|reason|problem|cause|data)\b/g,
  /\b(request|body|message|input|payload|content|json|xml|data)( (is|was|are|has))?( an?)? (not valid|no valid|invalid|malformed|wrong|incorrect)( format)?/g,
  /[^.]*\b(some|certain|one or more|any)\b[^.]*\bfields?\b[^.]*/g,
];

/** "More than" and "maximum" are about an amount, and not about its form, unless one of these is beside them. */
const ABOUT_MONEY = /\bmore than\b|\bmaximum\b|\blonger than\b/g;
const ABOUT_SIGNS = /\b(signs?|letters?|characters?|digits?|decimals?|places?|fractions?|length)\b/;

/** Whether a decoded text says that what it names is missing. @param names of the fields that it names */
export function saysMissing(text: string, names: readonly string[] = []): boolean {
  const words = plain(text);
  return (
    MISSING.test(words) ||
    names.some((name) => new RegExp(`(?<!\\bis )\\bno ['"]?${escaped(plain(name))}\\b`).test(words))
  );
}

/** Whether a decoded text says something of the form of what it names, in English. @param isAmount it names an amount */
export function saysForm(text: string, isAmount: boolean): boolean {
  const words = GENERAL.reduce((rest, general) => rest.replace(general, ' '), plain(text));
  return FORM.test(isAmount && !ABOUT_SIGNS.test(words) ? words.replace(ABOUT_MONEY, ' ') : words);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
