/**
 * The words of a command, written as in a shell: words`transfer show ${flow} --json`. Blanks and line breaks separate words.
 * A value is a word, or a part of one, whatever is in it. A list of values is as many words.
 */
export function words(texts: TemplateStringsArray, ...values: (string | readonly string[])[]): string[] {
  const all: string[] = [];
  let word: string | undefined;
  const end = () => {
    if (word !== undefined) all.push(word);
    word = undefined;
  };
  texts.forEach((text, at) => {
    const [first = '', ...others] = text.split(/\s+/);
    if (first !== '') word = (word ?? '') + first;
    for (const other of others) {
      end();
      if (other !== '') word = other;
    }
    const value = values[at];
    if (typeof value === 'string') word = (word ?? '') + value;
    else if (value) all.push(...value);
  });
  end();
  return all;
}
